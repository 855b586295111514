// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/readiness.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "rds/api/kernel_calls.h"

namespace softdat::rds {
namespace {

// More than a quarter of the least send buffer that Linux has. With that much in it, a unix socket
// cannot be written.
constexpr int kFill = 1024;

}  // namespace

Readiness::~Readiness() {
  if (own_ >= 0) close(own_);
}

int Readiness::Open(int flags) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  const int least = 1;
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof least);
  if ((flags & SOCK_CLOEXEC) == 0) fcntl(ends[0], F_SETFD, 0);
  if ((flags & SOCK_NONBLOCK) != 0) fcntl(ends[0], F_SETFL, O_RDWR | O_NONBLOCK);
  program_ = ends[0];
  own_ = ends[1];
  return 0;
}

// Neither call waits, and neither can fail but by the program's own doing: it has the descriptor.
void Readiness::SetReadable(bool readable) {
  if (readable == readable_) return;
  readable_ = readable;
  char byte = 0;
  [[maybe_unused]] const ssize_t moved = readable
                                             ? send(own_, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL)
                                             : kernel::Receive(program_, &byte, 1, MSG_DONTWAIT);
}

void Readiness::SetWritable(bool writable) {
  if (writable == writable_) return;
  writable_ = writable;
  char bytes[kFill] = {};
  [[maybe_unused]] const ssize_t moved =
      writable ? recv(own_, bytes, sizeof bytes, MSG_DONTWAIT)
               : kernel::Send(program_, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace softdat::rds
