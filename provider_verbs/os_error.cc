// SPDX-License-Identifier: BSD-3-Clause
// Converts errno to Status.
#include "provider_verbs/os_error.h"

#include <errno.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/resource.h>

namespace softdat::verbs {
namespace {

Code CodeOf(int error) {
  switch (error) {
    case ENOMEM:
    case EAGAIN:
      return Code::kNoMemory;
    case EMFILE:
    case ENFILE:
    case ENOSPC:
    case EBUSY:
      return Code::kNoResources;
    case EADDRINUSE:
      return Code::kInUse;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case ENETDOWN:
      return Code::kUnreachable;
    case EADDRNOTAVAIL:
    case EAFNOSUPPORT:
      return Code::kAddressUnsupported;
    case EOPNOTSUPP:
    case ENOSYS:
      return Code::kNotSupported;
    case ENODEV:
    case ENOENT:
    case ENXIO:
      return Code::kNotFound;
    case EINVAL:
    case EFAULT:
      return Code::kInvalidArgument;
    default:
      return Code::kInternal;
  }
}

// Verbs pin memory, so the limit on locked memory is the most frequent cause of failures.
std::string MemlockAdvice(int error) {
  if (error != ENOMEM && error != EAGAIN && error != EPERM) return "";
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format(
      " (locked memory is limited to {} KiB; raise it with `ulimit -l unlimited`, LimitMEMLOCK= of "
      "a systemd unit, or a memlock line in /etc/security/limits.conf)",
      static_cast<uint64_t>(limit.rlim_cur / 1024));
}

}  // namespace

std::string OsText(int error) {
  char buffer[128];
  return strerror_r(error < 0 ? -error : error, buffer, sizeof buffer);
}

Status OsStatus(int error, const std::string& what) {
  const int positive = error < 0 ? -error : error;
  return Status(CodeOf(positive), what + ": " + OsText(positive) + MemlockAdvice(positive));
}

Status ExhaustionStatus(int error, const std::string& what) {
  const int positive = error < 0 ? -error : error;
  if (positive != EINVAL && positive != 0) return OsStatus(error, what);
  const std::string why = positive == 0 ? "no reason given" : OsText(error);
  return Status(Code::kNoResources,
                what + ": " + why + ", although the device allows that: it has none left");
}

}  // namespace softdat::verbs
