// SPDX-License-Identifier: BSD-3-Clause
// AllowBusyPolling.
#include "provider_softnet/driver/busy_polling.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include <atomic>

#include "dat/base/log.h"
#include "dat/base/settings.h"

namespace softdat::softnet {
namespace {

bool SetOption(int fd, int option, int value) {
  return setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value)) == 0;
}

}  // namespace

void AllowBusyPolling(int fd) {
  const auto limit_us = static_cast<int>(GetSettings().busy_poll_us);
  if (limit_us == 0) return;
  // The second option only keeps interrupts away that polls have made needless. Kernels before 5.11
  // do not have it.
  const bool done = SetOption(fd, SO_BUSY_POLL, limit_us) &&
                    (SetOption(fd, SO_PREFER_BUSY_POLL, 1) || errno == ENOPROTOOPT);
  static std::atomic<bool> told{false};
  const int error = errno;
  if (done || told.exchange(true, std::memory_order_relaxed)) return;
  SOFTDAT_LOG(
      Warning,
      "SOFTDAT_BUSY_POLL_US={} is not in force: {}. The program needs CAP_NET_ADMIN for it, "
      "or the system's sysctl net.core.busy_read sets it for all sockets",
      limit_us, strerror(error));
}

}  // namespace softdat::softnet
