// SPDX-License-Identifier: BSD-3-Clause
// ClosingSocket.
#include "provider_softnet/tcp/closing_socket.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {

namespace {

// After this many looks in a row that find the window closed, the peer counts as one that does not
// read. The time is longer than the thread of a busy peer waits for a processor.
constexpr int kClosedLooks = 5;

}  // namespace

ClosingSocket::ClosingSocket(EventLoop* loop, uint64_t id, UniqueFd fd, std::function<void()> done)
    : id_(id),
      fd_(std::move(fd)),
      done_(std::move(done)),
      watch_(loop, [this](int) { OnReady(); }),
      timer_(loop, [this] { OnTimer(); }) {}

ClosingSocket::~ClosingSocket() {
  watch_.Stop();
  // The adapter closes before the time is up. The peer has the FIN, so it gets its reset now.
  if (fd_.valid() && abrupt_ && FinAcknowledged()) ResetOnClose(fd_.get());
}

bool ClosingSocket::Start(std::chrono::milliseconds limit, bool abrupt, std::vector<uint8_t> rest,
                          SocketWatch* watch) {
  rest_ = std::move(rest);
  if (watch != nullptr) watch_.TakeOver(watch);
  if (!SendRest() || Drain()) return false;
  if (watch_.active()) {
    watch_.Update(Wanted());
  } else if (!watch_.Start(fd_.get(), Wanted()).ok()) {
    return false;
  }
  deadline_ = LoopClock::now() + limit;
  abrupt_ = abrupt;
  timer_.Start(abrupt ? std::min(limit, kLook) : limit);
  return true;
}

bool ClosingSocket::SendRest() {
  while (rest_sent_ < rest_.size()) {
    const iovec iov{rest_.data() + rest_sent_, rest_.size() - rest_sent_};
    const ssize_t n = SendNow(fd_.get(), &iov, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
    rest_sent_ += static_cast<size_t>(n);
    if (rest_sent_ == rest_.size()) break;
  }
  return shutdown(fd_.get(), SHUT_WR) == 0;
}

int ClosingSocket::Wanted() const {
  return rest_sent_ < rest_.size() ? kReadable | kWritable : kReadable;
}

void ClosingSocket::Hurry() {
  if (abrupt_ || !fd_.valid()) return;
  abrupt_ = true;
  if (FinAcknowledged()) return Close(true);
  timer_.Start(kLook);
}

void ClosingSocket::OnReady() {
  if (rest_sent_ < rest_.size()) {
    if (!SendRest()) return Close(false);
    watch_.Update(Wanted());
  }
  if (Drain()) return Close(false);
  if (abrupt_ && FinAcknowledged()) Close(true);
}

void ClosingSocket::OnTimer() {
  if (!abrupt_) return Close(false);
  if (FinAcknowledged() || WindowClosed() || LoopClock::now() >= deadline_) return Close(true);
  timer_.Start(kLook);
}

bool ClosingSocket::Look() {
  bool over = Drain();
  if (!over && rest_sent_ < rest_.size()) over = !SendRest();
  if (!over) {
    if (!FinAcknowledged() && !WindowClosed()) return true;
    ResetOnClose(fd_.get());
  }
  watch_.Stop();
  fd_.Close();
  return false;
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

// Returns true when bytes wait and none is under way, because the peer's window lets none out.
bool ClosingSocket::WindowClosed() {
  tcp_info info{};
  socklen_t size = sizeof(info);
  int queued = 0;
  const bool closed = ioctl(fd_.get(), SIOCOUTQ, &queued) == 0 && queued > 0 &&
                      getsockopt(fd_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
                      info.tcpi_unacked == 0;
  closed_looks_ = closed && queued == queued_ ? closed_looks_ + 1 : 0;
  queued_ = queued;
  return closed_looks_ >= kClosedLooks;
}

bool ClosingSocket::Drain() {
  uint8_t buffer[16 * 1024];
  const iovec iov{buffer, sizeof(buffer)};
  // The number of reads is bounded, because a peer that sends without end must not hold the loop.
  for (int i = 0; i < 16; ++i) {
    const ssize_t n = ReceiveNow(fd_.get(), &iov, 1);
    if (n == 0) return true;
    if (n < 0 && errno != EINTR) return errno != EAGAIN;
  }
  return false;
}

}  // namespace softdat::softnet
