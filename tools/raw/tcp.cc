// SPDX-License-Identifier: BSD-3-Clause
// Loops over a plain TCP connection.
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "tools/common/unique_fd.h"
#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"

namespace softdat::tools {
namespace {

class TcpTransfer : public RawTransfer {
 public:
  TcpTransfer(const RawJob& job, bool is_server, int fd)
      : RawTransfer(job, is_server), fd_(fd), buffer_(job.size) {}

  Outcome Prepare(RawOffer* /*offer*/) override {
    if (job_.kind != RawKind::kTcpEpoll) return {};
    epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN;
    if (!epoll_ || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd_, &event) != 0)
      return RawErrno("epoll");
    return {};
  }

  Outcome Run() override {
    if (job_.shape == Shape::kLatency) return PingPong();
    if (!is_server_) {
      SOFTDAT_TRY(job_.kind == RawKind::kTcpGather ? GatherOut() : StreamOut());
      uint8_t done = 0;
      return ReceiveAll(fd_, &done, 1);
    }
    SOFTDAT_TRY(job_.kind == RawKind::kTcpGather ? GatherIn() : StreamIn());
    const uint8_t done = 1;
    return SendAll(fd_, &done, 1);
  }

 private:
  Outcome PingPong() {
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      if (!is_server_) SOFTDAT_TRY(SendAll(fd_, buffer_.data(), job_.size));
      SOFTDAT_TRY(Receive());
      if (is_server_) SOFTDAT_TRY(SendAll(fd_, buffer_.data(), job_.size));
    }
    return {};
  }

  Outcome StreamOut() {
    for (uint64_t i = 0; i < job_.iterations; ++i)
      SOFTDAT_TRY(SendAll(fd_, buffer_.data(), job_.size));
    return {};
  }

  Outcome StreamIn() {
    for (uint64_t i = 0; i < job_.iterations; ++i) SOFTDAT_TRY(Receive());
    return {};
  }

  // Receives one message, and waits as the kind of job says.
  Outcome Receive() {
    for (size_t done = 0; done < job_.size;) {
      if (job_.kind == RawKind::kTcpEpoll) {
        epoll_event event{};
        if (epoll_wait(epoll_.get(), &event, 1, -1) < 0 && errno != EINTR)
          return RawErrno("epoll_wait");
      }
      const int flags = job_.kind == RawKind::kTcpBlock ? 0 : MSG_DONTWAIT;
      const ssize_t got = recv(fd_, buffer_.data() + done, job_.size - done, flags);
      if (got > 0) {
        done += static_cast<size_t>(got);
      } else if (got == 0) {
        return RawClosed();
      } else if (errno != EAGAIN && errno != EINTR) {
        return RawErrno("recv");
      }
    }
    return {};
  }

  Outcome GatherOut() {
    std::vector<iovec> pieces(job_.window);
    uint64_t left = job_.iterations * job_.size;
    size_t ahead = 0;  // bytes of the next message that were already sent
    while (left > 0) {
      // All messages have the same bytes, so the rest is always a tail of one message, and then
      // whole messages.
      const uint64_t messages = (left + job_.size - 1) / job_.size;
      const size_t count = std::min<uint64_t>(messages, job_.window);
      for (size_t i = 0; i < count; ++i) pieces[i] = {buffer_.data(), job_.size};
      pieces[0] = {buffer_.data() + ahead, job_.size - ahead};
      msghdr message{};
      message.msg_iov = pieces.data();
      message.msg_iovlen = count;
      const ssize_t sent = sendmsg(fd_, &message, MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno == EINTR) continue;
        return RawErrno("sendmsg");
      }
      left -= static_cast<uint64_t>(sent);
      ahead = (ahead + static_cast<size_t>(sent)) % job_.size;
    }
    return {};
  }

  Outcome GatherIn() {
    constexpr size_t kRoom = 256 * 1024;
    buffer_.resize(std::max(buffer_.size(), kRoom));
    for (uint64_t left = job_.iterations * job_.size; left > 0;) {
      const ssize_t got = recv(fd_, buffer_.data(), std::min<uint64_t>(left, buffer_.size()), 0);
      if (got == 0) return RawClosed();
      if (got < 0 && errno != EINTR) return RawErrno("recv");
      if (got > 0) left -= static_cast<uint64_t>(got);
    }
    return {};
  }

  const int fd_;
  UniqueFd epoll_;
  std::vector<uint8_t> buffer_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeTcpTransfer(const RawJob& job, bool is_server, int fd) {
  return std::make_unique<TcpTransfer>(job, is_server, fd);
}

}  // namespace softdat::tools
