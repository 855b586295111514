// SPDX-License-Identifier: BSD-3-Clause
// Loops over datagrams on the loopback interface. A stream goes in rounds for which the server's
// socket has room. The server answers each round with a datagram of one byte.
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "tools/common/unique_fd.h"
#include "tools/raw/patience.h"
#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"
#include "wire/crc32.h"

namespace softdat::tools {
namespace {

constexpr uint32_t kLooks = 256;
constexpr uint32_t kRoundBytes = 64 * 1024;
// Two rounds are fewer datagrams than loopback's queue holds (net.core.netdev_max_backlog, 1000).
constexpr uint64_t kMostOfARound = 400;
constexpr int kReceiveBuffer = 4 << 20;
// The largest message that the kernel cuts into datagrams at once.
constexpr uint32_t kMostSegments = 64;
constexpr uint32_t kMostSegmentBytes = 65507;

struct UdpOffer {
  uint16_t port = 0;
  uint32_t round = 0;      // in messages; the server's value counts
  uint32_t under_way = 0;  // rounds at once
};

Outcome Lost() {
  return Outcome::Fail(
      "raw: no datagram has come for 5 s: one was lost, or the other side has stopped (where "
      "sysctl net.core.rmem_max is small, a larger one helps)");
}

// The number of messages that a socket holds. Each takes up to twice its bytes, and the kernel's
// own data. The kernel gives back the room of received messages late, but at most a quarter of it.
uint64_t MessagesHeld(int fd, uint32_t size) {
  int room = kReceiveBuffer;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room) != 0)
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  socklen_t length = sizeof room;
  if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, &length) != 0) return 0;
  constexpr uint64_t kOverhead = 1536;
  return static_cast<uint64_t>(room) * 3 / 4 / (uint64_t{size} * 2 + kOverhead);
}

class UdpTransfer : public RawTransfer {
 public:
  using RawTransfer::RawTransfer;

  Outcome Prepare(RawOffer* offer) override {
    UdpOffer mine;
    SOFTDAT_TRY(Open(&mine.port));
    if (is_server_) {
      const int on = 1;
      gathers_ = IsCut() && setsockopt(fd_.get(), SOL_UDP, UDP_GRO, &on, sizeof on) == 0;
      const uint64_t held = MessagesHeld(fd_.get(), job_.size);
      const uint64_t wanted = std::min<uint64_t>(job_.window, kRoundBytes / job_.size);
      round_ =
          static_cast<uint32_t>(std::clamp<uint64_t>(std::min(wanted, held), 1, kMostOfARound));
      under_way_ = 2 * uint64_t{round_} <= held ? 2 : 1;
      mine.round = round_;
      mine.under_way = under_way_;
    }
    static_assert(sizeof mine <= sizeof *offer);
    std::memcpy(offer->data(), &mine, sizeof mine);
    return {};
  }

  Outcome Meet(const RawOffer& offer) override {
    UdpOffer theirs;
    std::memcpy(&theirs, offer.data(), sizeof theirs);
    if (!is_server_) {
      round_ = theirs.round;
      under_way_ = theirs.under_way;
    }
    const sockaddr_in address = Loopback(theirs.port);
    if (connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
      return RawErrno("connect");
    buffer_.resize(std::max(round_ * job_.size, kRoundBytes));
    pieces_.resize(round_);
    messages_.resize(round_);
    for (uint32_t i = 0; i < round_; ++i) {
      pieces_[i] = {buffer_.data() + i * job_.size, job_.size};
      messages_[i].msg_hdr.msg_iov = &pieces_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
    return {};
  }

  Outcome Run() override {
    if (job_.shape == Shape::kLatency) return PingPong();
    return is_server_ ? StreamIn() : StreamOut();
  }

 private:
  Outcome Open(uint16_t* port) {
    fd_ = UniqueFd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = Loopback(0);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    if (!fd_ || bind(fd_.get(), any, length) != 0 || getsockname(fd_.get(), any, &length) != 0)
      return RawErrno("cannot open a UDP socket");
    *port = ntohs(address.sin_port);
    return {};
  }

  Outcome PingPong() {
    for (uint64_t i = 0; i < job_.iterations; ++i) {
      if (!is_server_) SOFTDAT_TRY(Send(job_.size));
      SOFTDAT_TRY(Receive());
      if (is_server_) SOFTDAT_TRY(Send(job_.size));
    }
    return {};
  }

  Outcome StreamOut() {
    const uint64_t rounds = (job_.iterations + round_ - 1) / round_;
    uint64_t answered = 0;
    for (uint64_t i = 0; i < rounds; ++i) {
      if (i - answered == under_way_) {
        SOFTDAT_TRY(Receive());
        ++answered;
      }
      const uint64_t left = job_.iterations - i * round_;
      const auto count = static_cast<uint32_t>(std::min<uint64_t>(left, round_));
      SOFTDAT_TRY(IsCut() ? SendCut(count) : SendMany(count));
    }
    for (; answered < rounds; ++answered) SOFTDAT_TRY(Receive());
    return {};
  }

  Outcome StreamIn() {
    uint64_t taken = 0;
    for (uint64_t end = 0; end < job_.iterations;) {
      end = std::min(end + round_, job_.iterations);
      // The beginning of the next round may be here already.
      while (taken < end) {
        uint64_t count = 0;
        SOFTDAT_TRY(gathers_ ? ReceiveUncut(&count) : ReceiveMany(&count));
        Sum(count);
        taken += count;
      }
      SOFTDAT_TRY(Send(1));
    }
    return {};
  }

  Outcome Send(size_t bytes) {
    return send(fd_.get(), buffer_.data(), bytes, 0) < 0 ? RawErrno("send") : Outcome();
  }

  bool IsCut() const { return job_.kind == RawKind::kUdpGso || job_.kind == RawKind::kUdpGsoCrc; }

  // What a protocol with a CRC does with the messages at the beginning of the buffer.
  void Sum(uint64_t count) {
    if (job_.kind != RawKind::kUdpGsoCrc) return;
    for (uint64_t i = 0; i < count; ++i)
      sum_ = Crc32Extend(sum_, buffer_.data() + i * job_.size, job_.size);
  }

  // Sends all messages by one call, if the kernel takes them.
  Outcome SendMany(uint32_t count) {
    for (uint32_t sent = 0; sent < count;) {
      const int more = sendmmsg(fd_.get(), messages_.data() + sent, count - sent, 0);
      if (more < 0 && errno != EINTR) return RawErrno("sendmmsg");
      if (more > 0) sent += static_cast<uint32_t>(more);
    }
    return {};
  }

  // Sends as many messages by one call as the kernel cuts at once.
  Outcome SendCut(uint32_t count) {
    const uint32_t most = std::clamp(kMostSegmentBytes / job_.size, 1u, kMostSegments);
    const auto segment = static_cast<uint16_t>(job_.size);
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof segment)] = {};
    iovec piece{buffer_.data(), 0};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof segment);
    std::memcpy(CMSG_DATA(header), &segment, sizeof segment);
    while (count > 0) {
      const uint32_t now = std::min(count, most);
      Sum(now);
      piece.iov_len = size_t{now} * job_.size;
      if (sendmsg(fd_.get(), &message, 0) >= 0) {
        count -= now;
      } else if (errno != EINTR) {
        return RawErrno("sendmsg with UDP_SEGMENT");
      }
    }
    return {};
  }

  // Spins until `receive` has got something, and returns its length in *got.
  template <typename Receiver>
  Outcome Await(Receiver receive, uint64_t* got) {
    Patience patience(kLooks);
    while (true) {
      if (const ssize_t now = receive(); now >= 0) {
        *got = static_cast<uint64_t>(now);
        return {};
      }
      if (errno != EAGAIN && errno != EINTR) return RawErrno("recv");
      if (patience.Pause() && patience.IsOver()) return Lost();
    }
  }

  Outcome Receive() {
    uint64_t count = 0;
    return ReceiveUncut(&count);
  }

  Outcome ReceiveMany(uint64_t* count) {
    return Await(
        [this] { return recvmmsg(fd_.get(), messages_.data(), round_, MSG_DONTWAIT, nullptr); },
        count);
  }

  // Receives a datagram. If the socket gathers, these are all datagrams that one call sent.
  Outcome ReceiveUncut(uint64_t* count) {
    SOFTDAT_TRY(Await(
        [this] { return recv(fd_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT); }, count));
    *count /= job_.size;
    return {};
  }

  UniqueFd fd_;
  bool gathers_ = false;
  uint32_t sum_ = kCrc32Init;
  uint32_t round_ = 1;
  uint32_t under_way_ = 1;
  std::vector<uint8_t> buffer_;
  std::vector<iovec> pieces_;
  std::vector<mmsghdr> messages_;
};

}  // namespace

std::unique_ptr<RawTransfer> MakeUdpTransfer(const RawJob& job, bool is_server) {
  return std::make_unique<UdpTransfer>(job, is_server);
}

}  // namespace softdat::tools
