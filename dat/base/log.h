// SPDX-License-Identifier: BSD-3-Clause
// The log. It is off by default: the library prints nothing unless SOFTDAT_LOG, DAT_DBG_TYPE or
// DAT_DBG_DEST asks for it, and never prints to standard output. A line that is off costs one
// relaxed load.
//
//   SOFTDAT_LOG(Warning, "port {} is taken by {}", port, name);
//   SOFTDAT_LOG_AREA(Debug, StaticRegistry, "{} entries in {}", count, path);
//
// A line is written when its level is enabled, or when the OFA debug class of its area is
// (DAT_DBG_TYPE). It is thread-safe without a lock, because each line is one write(2).
#ifndef SOFTDAT_DAT_BASE_LOG_H_
#define SOFTDAT_DAT_BASE_LOG_H_

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "dat/base/settings.h"
#include "dat/base/status.h"

namespace softdat {

// Debug classes: bits 0..5 are those of DAT_DBG_TYPE in OFA uDAPL (semantics 2.3), 16..19 the
// levels.
enum LogBits : uint32_t {
  kLogAreaNone = 0,
  kLogAreaGeneric = 0x02,
  kLogAreaStaticRegistry = 0x04,
  kLogAreaDynamicRegistry = 0x08,
  kLogAreaProviderApi = 0x10,
  kLogAreaConsumerApi = 0x20,
  kLogLevelError = 1u << 16,
  kLogLevelWarning = 1u << 17,
  kLogLevelInfo = 1u << 18,
  kLogLevelDebug = 1u << 19,
};

// Which lines are written, and where they go. Made from the settings, or by a test.
struct LogConfig {
  uint32_t enabled = 0;  // LogBits
  bool to_stderr = false;
  bool to_syslog = false;
  std::string file;  // "" for none
};

// What the settings ask for. `dbg_explicit` says whether DAT_DBG_TYPE or DAT_DBG_DEST is set.
LogConfig MakeLogConfig(const Settings& settings, bool dbg_explicit);

// Reads the settings, opens the log, and reports what is wrong with the settings. Only the first
// call does anything. Each library calls it when it is first entered, and so does the first log
// line.
void StartLog();

// What is wrong with the log that SOFTDAT_LOG asks for, as one sentence. "" when nothing is wrong.
std::string LogProblem();

// Whether the SOFTDAT_ variables say what this library understands and can do. If not, the status
// is kInvalidArgument with everything that is wrong, and no IA is opened: nobody would notice a
// wrong setting whose only sign is that it has no effect.
Status CheckSettings();

// Replaces the configuration at run time (for tests and tools). A file that cannot be opened means
// no file. Other threads may write lines meanwhile, so the previous file stays open for the life of
// the process.
void ConfigureLog(const LogConfig& config);

// Writes one line to the destinations. Use the macros.
void WriteLog(uint32_t bits, std::string_view message);

// All ones until StartLog(), so that the first line starts the log.
extern std::atomic<uint32_t> g_log_enabled;

inline bool LogEnabled(uint32_t bits) {
  return (g_log_enabled.load(std::memory_order_relaxed) & bits) != 0;
}

}  // namespace softdat

#define SOFTDAT_LOG_AREA(level, area, ...)                                                         \
  do {                                                                                             \
    constexpr uint32_t softdat_log_bits = ::softdat::kLogLevel##level | ::softdat::kLogArea##area; \
    if (::softdat::LogEnabled(softdat_log_bits)) {                                                 \
      ::softdat::WriteLog(softdat_log_bits, ::fmt::format(__VA_ARGS__));                           \
    }                                                                                              \
  } while (false)

#define SOFTDAT_LOG(level, ...) SOFTDAT_LOG_AREA(level, None, __VA_ARGS__)

#endif  // SOFTDAT_DAT_BASE_LOG_H_
