// SPDX-License-Identifier: BSD-3-Clause
// RingBell, SilenceBell.
#include "provider_softnet/shm/bell.h"

#include <errno.h>
#include <sys/socket.h>

#include <cstdint>

namespace softdat::softnet {

void RingBell(int fd) {
  const uint8_t bell = 1;
  [[maybe_unused]] const ssize_t n = send(fd, &bell, sizeof(bell), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool SilenceBell(int fd) {
  // A peer that rings without end keeps nobody here.
  constexpr int kMost = 16;
  for (int i = 0; i < kMost; ++i) {
    uint8_t bells[8];
    const ssize_t n = recv(fd, bells, sizeof(bells), MSG_DONTWAIT);
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

}  // namespace softdat::softnet
