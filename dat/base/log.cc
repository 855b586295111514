// SPDX-License-Identifier: BSD-3-Clause
// Where the log goes. There is no lock: the destination is two atomics, and a line is one write.
#include "dat/base/log.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "dat/base/cancel.h"
#include "dat/base/descriptor.h"
#include "dat/base/fork_safe_once.h"
#include "dat/base/setting_values.h"

namespace softdat {

std::atomic<uint32_t> g_log_enabled{~0u};

namespace {

constexpr size_t kMaxLine = 4000;  // below PIPE_BUF, so that lines of several threads do not mix

std::atomic<int> g_fd{-1};         // stderr (2), a log file, or -1
std::atomic<int> g_second_fd{-1};  // the file when stderr is asked for too
std::atomic<bool> g_syslog{false};
std::atomic<int> g_file_error{0};  // errno of the log file that StartLog() could not open
constinit ForkSafeOnce g_once;

std::string_view LevelName(uint32_t bits) {
  if (bits & kLogLevelError) return "error";
  if (bits & kLogLevelWarning) return "warning";
  if (bits & kLogLevelInfo) return "info";
  return "debug";
}

int SyslogPriority(uint32_t bits) {
  if (bits & kLogLevelError) return LOG_USER | LOG_ERR;
  if (bits & kLogLevelWarning) return LOG_USER | LOG_WARNING;
  if (bits & kLogLevelInfo) return LOG_USER | LOG_INFO;
  return LOG_USER | LOG_DEBUG;
}

int OpenLogFile(const std::string& path) {
  return AboveStandard(
      open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644));
}

// Several libraries of one process carry a copy of this code. Only one of them reports unknown
// settings: the registry library when it is loaded (it exports softdat_version), else this one.
bool ThisCopyReportsProblems() {
  void* registry = dlsym(RTLD_DEFAULT, "softdat_version");
  if (registry == nullptr) return true;
  Dl_info theirs{};
  Dl_info ours{};
  if (dladdr(registry, &theirs) == 0 || dladdr(&g_fd, &ours) == 0) return true;
  return theirs.dli_fbase == ours.dli_fbase;
}

void WriteLine(int fd, std::string_view line) {
  if (fd < 0) return;
  const int saved_errno = errno;
  // A log that cannot be written must not disturb the program: a short or failed write is dropped.
  ssize_t written = write(fd, line.data(), line.size());
  static_cast<void>(written);
  errno = saved_errno;
}

}  // namespace

LogConfig MakeLogConfig(const Settings& settings, bool dbg_explicit) {
  LogConfig config;
  const bool ours = settings.log != "off" && !settings.log.empty();
  if (ours) {
    for (int level = 0; level <= static_cast<int>(settings.log_level); ++level) {
      config.enabled |= kLogLevelError << level;
    }
    if (settings.log == "stderr") {
      config.to_stderr = true;
    } else if (settings.log == "syslog") {
      config.to_syslog = true;
    } else {
      config.file = settings.log;
    }
  }
  if (dbg_explicit) {
    const auto type = static_cast<uint32_t>(settings.dat_dbg_type);
    // Class 1 is errors (semantics 2.3), and warnings belong to it. The other classes are areas.
    if (type & 1) config.enabled |= kLogLevelError | kLogLevelWarning;
    if (type & kLogAreaGeneric) config.enabled |= kLogLevelInfo;
    config.enabled |= type & 0xFE;
    if (!ours) {
      config.to_stderr = (settings.dat_dbg_dest & 1) != 0;
      config.to_syslog = (settings.dat_dbg_dest & 2) != 0;
    }
  }
  return config;
}

void ConfigureLog(const LogConfig& config) {
  int file = config.file.empty() ? -1 : OpenLogFile(config.file);
  g_fd.store(config.to_stderr ? STDERR_FILENO : file, std::memory_order_relaxed);
  g_second_fd.store(config.to_stderr ? file : -1, std::memory_order_relaxed);
  g_syslog.store(config.to_syslog, std::memory_order_relaxed);
  const bool anywhere = config.to_stderr || config.to_syslog || file >= 0;
  g_log_enabled.store(anywhere ? config.enabled : 0, std::memory_order_release);
}

void StartLog() {
  g_once.Call([] {
    const ParsedSettings& parsed = GetParsedSettings();
    bool dbg_explicit = false;
    for (const auto& row : parsed.rows) {
      if (row.name == "DAT_DBG_TYPE" || row.name == "DAT_DBG_DEST") {
        dbg_explicit = dbg_explicit || row.from_environment;
      }
    }
    const LogConfig config = MakeLogConfig(parsed.values, dbg_explicit);
    errno = 0;
    ConfigureLog(config);
    if (!config.file.empty() && g_fd.load() < 0) g_file_error.store(errno);
    if (!LogEnabled(kLogLevelWarning) || !ThisCopyReportsProblems()) return;
    for (const auto& problem : parsed.problems) WriteLog(kLogLevelWarning, problem);
  });
}

std::string LogProblem() {
  StartLog();
  const int error = g_file_error.load();
  if (error == 0) return "";
  return fmt::format("SOFTDAT_LOG={}: the file cannot be opened: {}", Printable(GetSettings().log),
                     strerrordesc_np(error));
}

Status CheckSettings() {
  std::vector<std::string> wrong = GetParsedSettings().refused;
  if (std::string log = LogProblem(); !log.empty()) wrong.push_back(std::move(log));
  if (wrong.empty()) return Status::Ok();
  return Status(Code::kInvalidArgument, fmt::format("{}", fmt::join(wrong, "; ")));
}

void WriteLog(uint32_t bits, std::string_view message) {
  if (g_log_enabled.load(std::memory_order_acquire) == ~0u) StartLog();
  if (!LogEnabled(bits)) return;
  const CancelOff no_cancellation;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  // UTC, computed by hand: localtime_r takes a lock that a forked child may find taken.
  const long second = now.tv_sec % 86400;
  std::string line =
      fmt::format("{:02}:{:02}:{:02}.{:06}Z softdat[{}:{}] {}: ", second / 3600, second / 60 % 60,
                  second % 60, now.tv_nsec / 1000, getpid(), syscall(SYS_gettid), LevelName(bits));
  const size_t text_at = line.size();
  for (char c : message) {
    if (line.size() + 2 >= kMaxLine) break;
    if (c == '\n') {
      line += "; ";  // a newline separates the reasons of a chain
    } else {
      // The message may quote what a peer or a file sent, and that must not steer a terminal.
      line += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    }
  }
  if (g_syslog.load(std::memory_order_relaxed)) {
    const StandardDescriptorsTaken
        taken;  // because the C library connects to syslog when it writes
    syslog(SyslogPriority(bits), "softdat %s", line.c_str() + text_at);
  }
  line += '\n';
  WriteLine(g_fd.load(std::memory_order_relaxed), line);
  WriteLine(g_second_fd.load(std::memory_order_relaxed), line);
}

}  // namespace softdat
