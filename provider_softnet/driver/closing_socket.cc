// SPDX-License-Identifier: BSD-3-Clause
// ClosingSocket.
#include "provider_softnet/driver/closing_socket.h"

#include <errno.h>
#include <sys/socket.h>

#include "provider_softnet/driver/socket_util.h"

namespace softdat::softnet {

ClosingSocket::ClosingSocket(EventLoop* loop, UniqueFd fd, std::function<void()> done)
    : fd_(std::move(fd)),
      done_(std::move(done)),
      watch_(loop,
             [this](int) {
               if (Drain()) done_();
             }),
      timer_(loop, [this] { done_(); }) {}

ClosingSocket::~ClosingSocket() { watch_.Stop(); }

bool ClosingSocket::Start(std::chrono::milliseconds limit) {
  if (shutdown(fd_.get(), SHUT_WR) != 0 || Drain()) return false;
  if (!watch_.Start(fd_.get(), UV_READABLE).ok()) return false;
  timer_.Start(limit);
  return true;
}

bool ClosingSocket::Drain() {
  uint8_t buffer[16 * 1024];
  const iovec iov{buffer, sizeof(buffer)};
  // Bounded: a peer that sends without end must not hold the loop.
  for (int i = 0; i < 16; ++i) {
    const ssize_t n = ReceiveNow(fd_.get(), &iov, 1);
    if (n == 0) return true;
    if (n < 0 && errno != EINTR) return errno != EAGAIN;
  }
  return false;
}

}  // namespace softdat::softnet
