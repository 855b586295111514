// SPDX-License-Identifier: BSD-3-Clause
// RingBell, SilenceBell.
#include "provider_softnet/shm/bell.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

#include "provider_softnet/driver/wire_order.h"

namespace softdat::softnet {

// Raw system calls, because the C library's are cancellation points. A bell is rung behind bytes
// that are in the ring already, and a post that did not come back would send them twice.
void RingBell(int fd) {
  constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;
  const uint8_t bell = 1;
  BeforeSend();
  [[maybe_unused]] const long n = syscall(SYS_sendto, fd, &bell, sizeof(bell), kFlags, nullptr, 0);
}

bool SilenceBell(int fd) {
  // A peer that rings without end keeps nobody here.
  constexpr int kMost = 16;
  for (int i = 0; i < kMost; ++i) {
    uint8_t bells[8];
    const ssize_t n =
        syscall(SYS_recvfrom, fd, bells, sizeof(bells), MSG_DONTWAIT, nullptr, nullptr);
    AfterReceive();
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

}  // namespace softdat::softnet
