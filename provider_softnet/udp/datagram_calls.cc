// SPDX-License-Identifier: BSD-3-Clause
// sendmmsg and recvmmsg.
#include "provider_softnet/udp/datagram_calls.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "provider_softnet/driver/wire_order.h"

namespace softdat::softnet {

[[gnu::hot]] int SendMany(int fd, mmsghdr* messages, size_t count) {
  BeforeSend();
  long n;
  do {
    n = syscall(SYS_sendmmsg, fd, messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return static_cast<int>(n);
}

[[gnu::hot]] int ReceiveMany(int fd, mmsghdr* messages, size_t count) {
  long n;
  do {
    n = syscall(SYS_recvmmsg, fd, messages, count, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, nullptr);
  } while (n < 0 && errno == EINTR);
  AfterReceive();
  return static_cast<int>(n);
}

}  // namespace softdat::softnet
