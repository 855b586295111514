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

// Returns why not, or 0.
int SetOption(int fd, int option, int value) {
  return setsockopt(fd, SOL_SOCKET, option, &value, sizeof(value)) == 0 ? 0 : errno;
}

bool First(std::atomic<bool>* told) { return !told->exchange(true, std::memory_order_relaxed); }

std::atomic<bool> g_told_of_polls{false}, g_told_of_interrupts{false};

}  // namespace

void AllowBusyPolling(int fd) {
  const auto limit_us = static_cast<int>(GetSettings().busy_poll_us);
  if (limit_us == 0) return;
  if (const int error = SetOption(fd, SO_BUSY_POLL, limit_us); error != 0) {
    if (First(&g_told_of_polls)) {
      SOFTDAT_LOG(
          Warning,
          "SOFTDAT_BUSY_POLL_US={} is not in force: {}. The program needs CAP_NET_ADMIN for "
          "it, or the system's sysctl net.core.busy_read sets it for all sockets",
          limit_us, strerror(error));
    }
    return;
  }
  if (const int error = SetOption(fd, SO_PREFER_BUSY_POLL, 1);
      error != 0 && First(&g_told_of_interrupts)) {
    SOFTDAT_LOG(Info,
                "SOFTDAT_BUSY_POLL_US={} is in force, but devices do not hold interrupts back for "
                "it: {}. That takes Linux 5.11 and CAP_NET_ADMIN",
                limit_us, strerror(error));
  }
}

}  // namespace softdat::softnet
