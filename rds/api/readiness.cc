// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/readiness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "rds/api/kernel_calls.h"

namespace softdat::rds {
namespace {

// More than a quarter of the least send buffer that Linux has. With that much in it, a unix socket
// cannot be written.
constexpr int kFill = 1024;

// What both ends send and receive needs no wait, and cannot fail but by the program's own doing: it
// has the descriptor.
void SendByte(int own) {
  const char byte = 0;
  [[maybe_unused]] const ssize_t sent = send(own, &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// For the moment that Show() needs. Its thread may have a lower priority, so that to yield would
// not be enough. `fd`: ends it when it can be read.
void WaitAMoment(int fd) {
  pollfd readable{fd, POLLIN, 0};
  poll(&readable, 1, 1);
}

}  // namespace

void Readiness::Close() {
  // Show() is not to send to whatever has the number next.
  if (!Moves(Reading::kDue, Reading::kHidden)) {
    while (reading_ == Reading::kShowing || reading_ == Reading::kTaken) WaitAMoment(-1);
  }
  if (own_ >= 0) close(own_);
  own_ = -1;
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

void Readiness::SetReadable(bool readable) {
  if (!readable) return Hide();
  // kDue and kShowing will be as wanted.
  const Reading now = reading_;
  if (now != Reading::kHidden && now != Reading::kTaken) return;
  SendByte(own_);
  reading_ = Reading::kShown;
}

bool Readiness::TakeBack() {
  char byte = 0;
  return kernel::Receive(program_, &byte, 1, MSG_DONTWAIT) == 1;
}

void Readiness::Hide() {
  if (Moves(Reading::kDue, Reading::kHidden)) return;
  while (reading_ == Reading::kShowing) {
    if (!TakeBack()) {
      WaitAMoment(program_);
      continue;
    }
    if (!Moves(Reading::kShowing, Reading::kTaken)) reading_ = Reading::kHidden;
    return;
  }
  if (reading_ != Reading::kShown) return;
  TakeBack();
  reading_ = Reading::kHidden;
}

bool Readiness::WillBeReadable() { return Moves(Reading::kHidden, Reading::kDue); }

void Readiness::Show() {
  if (!Moves(Reading::kDue, Reading::kShowing)) return;
  SendByte(own_);
  if (!Moves(Reading::kShowing, Reading::kShown)) Moves(Reading::kTaken, Reading::kHidden);
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
