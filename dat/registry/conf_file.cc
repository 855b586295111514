// SPDX-License-Identifier: BSD-3-Clause
// Finding and reading dat.conf.
#include "dat/registry/conf_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "dat/base/log.h"
#include "dat/base/setting_values.h"

namespace softdat::registry {
namespace {

constexpr size_t kMaxFileBytes = size_t{16} << 20;

// Whether this is /dev/null, by whatever name. It is the usual way to say "no configuration".
bool IsNullDevice(const struct stat& info) {
  struct stat null {};
  return S_ISCHR(info.st_mode) && stat("/dev/null", &null) == 0 && S_ISCHR(null.st_mode) &&
         info.st_rdev == null.st_rdev;
}

std::string ErrnoText(int error) {
  char buffer[128];
  return strerror_r(error, buffer, sizeof buffer);
}

Status CannotRead(const std::string& path, const std::string& why) {
  return Status(Code::kNotFound, fmt::format("cannot read {}: {}", Printable(path), why));
}

}  // namespace

Result<std::string> ReadConfFile(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return CannotRead(path, ErrnoText(errno));
  struct stat info {};
  std::string text;
  Status problem;
  if (fstat(fd, &info) != 0) {
    problem = CannotRead(path, ErrnoText(errno));
  } else if (!S_ISREG(info.st_mode) && !S_ISFIFO(info.st_mode) && !IsNullDevice(info)) {
    problem = CannotRead(path, "not a regular file");
  }
  char buffer[16384];
  while (problem.ok()) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      problem = CannotRead(path, ErrnoText(errno));
    } else if (text.size() + static_cast<size_t>(got) > kMaxFileBytes) {
      problem = CannotRead(path, "larger than 16 MiB");
    } else {
      text.append(buffer, static_cast<size_t>(got));
    }
  }
  close(fd);
  if (!problem.ok()) return problem;
  return text;
}

LoadedConf LoadConf(const ConfSource& source) {
  LoadedConf loaded;
  loaded.path = source.has_override ? source.override_path : source.default_path;
  Result<std::string> text = ReadConfFile(loaded.path);
  if (!text.ok()) {
    if (source.has_override) {
      loaded.problem = Status(Code::kNotFound, fmt::format("DAT_OVERRIDE is set: {}, and no other "
                                                           "file is tried",
                                                           text.status().reason()));
      SOFTDAT_LOG_AREA(Error, StaticRegistry, "{}", loaded.problem.reason());
    } else {
      SOFTDAT_LOG_AREA(Debug, StaticRegistry, "{}", text.status().reason());
    }
    return loaded;
  }
  loaded.parsed = ParseDatConf(text.value());
  for (const auto& diagnostic : loaded.parsed.diagnostics) {
    SOFTDAT_LOG_AREA(Error, StaticRegistry, "{}; the line is ignored",
                     DescribeDiagnostic(Printable(loaded.path), diagnostic));
  }
  SOFTDAT_LOG_AREA(Debug, StaticRegistry, "{}: {} entries, {} bad lines", Printable(loaded.path),
                   loaded.parsed.entries.size(), loaded.parsed.diagnostics.size());
  return loaded;
}

}  // namespace softdat::registry
