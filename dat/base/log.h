// SPDX-License-Identifier: BSD-3-Clause
// The log. Off by default: the library prints nothing unless SOFTDAT_LOG, DAT_DBG_TYPE or
// DAT_DBG_DEST asks for it, and never to standard output. A line that is off costs one relaxed
// load.
//
//   SOFTDAT_LOG(Warning, "port {} is taken by {}", port, name);
//   SOFTDAT_LOG_AREA(Debug, StaticRegistry, "{} entries in {}", count, path);
//
// A line is written when its level is enabled, or when the OFA debug class of its area is
// (DAT_DBG_TYPE). Thread-safe without a lock: each line is one write(2).
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

// Debug classes: bits 0..5 as DAT_DBG_TYPE of OFA uDAPL (semantics 2.3), 16..19 the levels.
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

// Where lines go and which ones; made from the settings, or by a test.
struct LogConfig {
  uint32_t enabled = 0;  // LogBits
  bool to_stderr = false;
  bool to_syslog = false;
  std::string file;  // "" for none
};

// What the settings ask for. `dbg_explicit` says that DAT_DBG_TYPE or DAT_DBG_DEST is set.
LogConfig MakeLogConfig(const Settings& settings, bool dbg_explicit);

// Reads the settings, opens the log, and reports what is wrong with the settings; only the first
// call does anything. Each library calls it when it is first entered (a log line does, too).
void StartLog();

// What is wrong with the log that SOFTDAT_LOG asks for, one sentence; "" when nothing is.
std::string LogProblem();

// Whether the SOFTDAT_ variables say what this library understands and can do; kInvalidArgument
// with all that is wrong. An IA is not opened otherwise: a wrong setting that only had no effect
// would not be noticed.
Status CheckSettings();

// Replaces the configuration at run time (tests, tools). An unopenable file means: no file.
// Safe against concurrent lines; the previous file stays open for the life of the process.
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
