// SPDX-License-Identifier: BSD-3-Clause
// ClosingSocket.
#include "provider_softnet/driver/closing_socket.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

#include "provider_softnet/driver/socket_util.h"

namespace softdat::softnet {

namespace {

// How often to look whether the peer has our FIN: TCP makes no event of it. A peer of our own kind
// answers a FIN that it cannot read up to, so this is for others.
constexpr std::chrono::milliseconds kLook{10};

}  // namespace

ClosingSocket::ClosingSocket(EventLoop* loop, uint64_t id, UniqueFd fd, std::function<void()> done)
    : id_(id),
      fd_(std::move(fd)),
      done_(std::move(done)),
      watch_(loop, [this](int) { OnReadable(); }),
      timer_(loop, [this] { OnTimer(); }) {}

ClosingSocket::~ClosingSocket() {
  watch_.Stop();
  // The adapter closes before the time is up.
  if (fd_.valid() && abrupt_ && FinAcknowledged()) ResetOnClose(fd_.get());
}

bool ClosingSocket::Start(std::chrono::milliseconds limit, bool abrupt) {
  if (shutdown(fd_.get(), SHUT_WR) != 0 || Drain()) return false;
  if (!watch_.Start(fd_.get(), UV_READABLE).ok()) return false;
  deadline_ = LoopClock::now() + limit;
  abrupt_ = abrupt;
  timer_.Start(abrupt ? std::min(limit, kLook) : limit);
  return true;
}

void ClosingSocket::Hurry() {
  if (abrupt_ || !fd_.valid()) return;
  abrupt_ = true;
  if (FinAcknowledged()) return Close(true);
  timer_.Start(kLook);
}

void ClosingSocket::OnReadable() {
  if (Drain()) return Close(false);
  if (abrupt_ && FinAcknowledged()) Close(true);
}

void ClosingSocket::OnTimer() {
  if (!abrupt_) return Close(false);
  if (FinAcknowledged() || LoopClock::now() >= deadline_) return Close(true);
  timer_.Start(kLook);
}

void ClosingSocket::Close(bool reset) {
  watch_.Stop();
  timer_.Stop();
  if (reset) ResetOnClose(fd_.get());
  fd_.Close();
  done_();
}

bool ClosingSocket::FinAcknowledged() const {
  const int state = TcpStateOf(fd_.get());
  return state == TCP_FIN_WAIT2 || state == TCP_TIME_WAIT || state == TCP_CLOSE;
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
