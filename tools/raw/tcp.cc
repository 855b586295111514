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
      SOFTDAT_TRY(Out());
      uint8_t done = 0;
      return ReceiveAll(fd_, &done, 1);
    }
    SOFTDAT_TRY(In());
    const uint8_t done = 1;
    return SendAll(fd_, &done, 1);
  }

 private:
  // What the answer to an RDMA read of nothing takes on the wire.
  static constexpr size_t kAnswer = 20;
  static constexpr size_t kRoom = 256 * 1024;

  Outcome Out() {
    if (job_.kind == RawKind::kTcpConfirm) return ConfirmedOut();
    return job_.kind == RawKind::kTcpGather ? GatherOut() : StreamOut();
  }
  Outcome In() {
    if (job_.kind == RawKind::kTcpConfirm) return ConfirmedIn();
    return job_.kind == RawKind::kTcpGather ? GatherIn() : StreamIn();
  }

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
      const bool sleeps = job_.kind == RawKind::kTcpBlock || job_.kind == RawKind::kTcpHandshake;
      const int flags = sleeps ? 0 : MSG_DONTWAIT;
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
    for (uint64_t left = job_.iterations; left > 0;) {
      const uint64_t count = std::min<uint64_t>(left, job_.window);
      SOFTDAT_TRY(SendTogether(count));
      left -= count;
    }
    return {};
  }

  // All messages have the same bytes, so the rest after a short call is a tail of one message, and
  // then whole messages.
  Outcome SendTogether(uint64_t count) {
    pieces_.resize(count);
    for (uint64_t left = count * job_.size; left > 0;) {
      const size_t whole = left / job_.size, tail = left % job_.size;
      const size_t pieces = whole + (tail > 0 ? 1 : 0);
      std::fill_n(pieces_.begin(), pieces, iovec{buffer_.data(), job_.size});
      if (tail > 0) pieces_[0] = {buffer_.data() + job_.size - tail, tail};
      msghdr message{};
      message.msg_iov = pieces_.data();
      message.msg_iovlen = pieces;
      const ssize_t sent = sendmsg(fd_, &message, MSG_NOSIGNAL);
      if (sent >= 0) {
        left -= static_cast<uint64_t>(sent);
      } else if (errno != EINTR) {
        return RawErrno("sendmsg");
      }
    }
    return {};
  }

  Outcome GatherIn() {
    buffer_.resize(std::max(buffer_.size(), kRoom));
    for (uint64_t left = job_.iterations * job_.size; left > 0;) {
      const ssize_t got = recv(fd_, buffer_.data(), std::min<uint64_t>(left, buffer_.size()), 0);
      if (got == 0) return RawClosed();
      if (got < 0 && errno != EINTR) return RawErrno("recv");
      if (got > 0) left -= static_cast<uint64_t>(got);
    }
    return {};
  }

  // The messages that are confirmed together.
  uint64_t Half() const { return std::max<uint64_t>(job_.window / 2, 1); }

  // Half of the window is on its way while the other one is confirmed.
  Outcome ConfirmedOut() {
    const uint64_t most = job_.window > 1 ? 2 : 1;
    uint64_t halves_out = 0, answered = 0, answer_bytes = 0;
    for (uint64_t left = job_.iterations; left > 0 || answered < halves_out;) {
      if (left > 0 && halves_out - answered < most) {
        const uint64_t count = std::min(left, Half());
        SOFTDAT_TRY(SendTogether(count));
        left -= count;
        ++halves_out;
      }
      uint8_t answers[2 * kAnswer];
      const ssize_t got =
          recv(fd_, answers, (halves_out - answered) * kAnswer - answer_bytes, MSG_DONTWAIT);
      if (got == 0) return RawClosed();
      if (got < 0 && errno != EAGAIN && errno != EINTR) return RawErrno("recv");
      if (got < 0) continue;
      answer_bytes += static_cast<uint64_t>(got);
      answered += answer_bytes / kAnswer;
      answer_bytes %= kAnswer;
    }
    return {};
  }

  // Answers all halves that a call has brought to their end.
  Outcome ConfirmedIn() {
    const uint64_t all = job_.iterations * job_.size;
    const uint64_t half = Half() * job_.size;
    const uint8_t answers[2 * kAnswer] = {};  // no more than two halves are on their way
    buffer_.resize(std::max(buffer_.size(), kRoom));
    for (uint64_t taken = 0; taken < all;) {
      const ssize_t got =
          recv(fd_, buffer_.data(), std::min<uint64_t>(all - taken, buffer_.size()), MSG_DONTWAIT);
      if (got == 0) return RawClosed();
      if (got < 0 && errno != EAGAIN && errno != EINTR) return RawErrno("recv");
      if (got < 0) continue;
      const uint64_t before = taken / half;
      taken += static_cast<uint64_t>(got);
      const uint64_t ended = (taken == all ? (all + half - 1) / half : taken / half) - before;
      if (ended > 2) return Outcome::Fail("raw: more under way than a window");
      if (ended > 0) SOFTDAT_TRY(SendAll(fd_, answers, ended * kAnswer));
    }
    return {};
  }

  const int fd_;
  UniqueFd epoll_;
  std::vector<uint8_t> buffer_;
  std::vector<iovec> pieces_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeTcpTransfer(const RawJob& job, bool is_server, int fd) {
  return std::make_unique<TcpTransfer>(job, is_server, fd);
}

}  // namespace softdat::tools
