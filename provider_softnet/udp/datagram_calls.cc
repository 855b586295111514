// SPDX-License-Identifier: BSD-3-Clause
// sendmmsg and recvmmsg.
#include "provider_softnet/udp/datagram_calls.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace softdat::softnet {
namespace {

// What one end did before it sent happened before what the other end does after it received.
// ThreadSanitizer knows that of the C library's calls, not of bare system calls.
#ifdef __SANITIZE_THREAD__
char wire;
void BeforeSend() { __tsan_release(&wire); }
void AfterReceive() { __tsan_acquire(&wire); }
#else
void BeforeSend() {}
void AfterReceive() {}
#endif

}  // namespace

int SendMany(int fd, mmsghdr* messages, size_t count) {
  BeforeSend();
  long n;
  do {
    n = syscall(SYS_sendmmsg, fd, messages, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (n < 0 && errno == EINTR);
  return static_cast<int>(n);
}

int ReceiveMany(int fd, mmsghdr* messages, size_t count) {
  long n;
  do {
    n = syscall(SYS_recvmmsg, fd, messages, count, MSG_DONTWAIT | MSG_CMSG_CLOEXEC, nullptr);
  } while (n < 0 && errno == EINTR);
  AfterReceive();
  return static_cast<int>(n);
}

}  // namespace softdat::softnet
