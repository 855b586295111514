// SPDX-License-Identifier: BSD-3-Clause
// Loops over RDS sockets of librds.so. These are no floor: they show what RDS adds to the IA that
// carries it, which SOFTDAT_RDS_IA names. Both ends have the IA's address.
#include <fmt/format.h>
#include <linux/rds.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dat/client/ia.h"
#include "tools/raw/patience.h"
#include "tools/raw/socket_io.h"
#include "tools/raw/transfer.h"
#include "tools/rds/calls.h"

namespace softdat::tools {
namespace {

constexpr char kAdapterVariable[] = "SOFTDAT_RDS_IA";
constexpr uint32_t kLooks = 256;
// When it is full, a message asks for an acknowledgement. So a small one would have many frames
// that bring nothing else.
constexpr uint64_t kLeastSendBuffer = 256 << 10;
// Messages that came and are not received yet. Beyond that the port is congested.
constexpr int kReceiveBuffer = 8 << 20;
// Statuses of operations that one call tells.
constexpr size_t kStatuses = 16;

struct RdsOffer {
  sockaddr_in6 name{};  // large enough for both families
  rds_rdma_cookie_t cookie = 0;
};
static_assert(sizeof(RdsOffer) <= sizeof(RawOffer));

// The address of the IA that carries the messages.
Outcome FindAddress(sockaddr_storage* address) {
  const char* const name = std::getenv(kAdapterVariable);
  if (name == nullptr)
    return Outcome::Fail(fmt::format("rds: {} does not name an IA", kAdapterVariable));
  client::Ia ia;
  if (const client::Result opened = ia.Open(name); !opened.ok())
    return Outcome::Fail(fmt::format("rds: {}: {}", name, opened.Describe()));
  const sockaddr* const found = ia.address();
  std::memcpy(address, found,
              found->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
  SetPort(address, 0);
  return {};
}

class RdsTransfer : public RawTransfer {
 public:
  using RawTransfer::RawTransfer;

  Outcome Prepare(RawOffer* offer) override {
    sockaddr_storage own{};
    SOFTDAT_TRY(FindAddress(&own));
    SOFTDAT_TRY(socket_.Open(calls_, own, 0));
    const uint64_t window = uint64_t{job_.window} * job_.size;
    SOFTDAT_TRY(SetBuffer(SO_SNDBUF, static_cast<int>(std::max(window, kLeastSendBuffer))));
    SOFTDAT_TRY(SetBuffer(SO_RCVBUF, kReceiveBuffer));
    buffer_.resize(job_.size);
    RdsOffer mine;
    socklen_t length = sizeof mine.name;
    if (calls_.getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&mine.name), &length) != 0)
      return RdsFailure(calls_, "getsockname", errno);
    if (is_server_ && IsRdma()) SOFTDAT_TRY(OpenMemory(&mine.cookie));
    std::memcpy(offer->data(), &mine, sizeof mine);
    return {};
  }

  // A message there and back, so that each end has found the other one, and they are connected.
  Outcome Meet(const RawOffer& offer) override {
    std::memcpy(&theirs_, offer.data(), sizeof theirs_);
    return is_server_ ? Answer(1) : Ask(1);
  }

  Outcome Run() override {
    if (job_.shape == Shape::kLatency) return PingPong();
    if (is_server_) {
      for (uint64_t i = 0; !IsRdma() && i < job_.iterations; ++i) SOFTDAT_TRY(Receive());
      return Answer(1);
    }
    SOFTDAT_TRY(IsRdma() ? Carry() : StreamOut());
    return Ask(1);
  }

 private:
  // Then the program of the server has no part in it.
  bool IsRdma() const { return job_.operation != Operation::kSend; }

  Outcome SetBuffer(int name, int bytes) const {
    if (calls_.setsockopt(socket_.fd(), SOL_SOCKET, name, &bytes, sizeof bytes) == 0) return {};
    return RdsFailure(calls_, "setsockopt", errno);
  }

  Outcome OpenMemory(rds_rdma_cookie_t* cookie) {
    rds_get_mr_args args{};
    args.vec = {reinterpret_cast<uint64_t>(buffer_.data()), buffer_.size()};
    args.cookie_addr = reinterpret_cast<uint64_t>(cookie);
    args.flags = RDS_RDMA_READWRITE;
    if (calls_.setsockopt(socket_.fd(), SOL_RDS, RDS_GET_MR, &args, sizeof args) == 0) return {};
    return RdsFailure(calls_, "setsockopt(RDS_GET_MR)", errno);
  }

  // ---- one message ----

  Outcome Ask(size_t bytes) {
    SOFTDAT_TRY(Send(bytes, nullptr));
    return Receive();
  }
  Outcome Answer(size_t bytes) {
    SOFTDAT_TRY(Receive());
    return Send(bytes, nullptr);
  }

  Outcome PingPong() {
    for (uint64_t i = 0; i < job_.iterations; ++i)
      SOFTDAT_TRY(is_server_ ? Answer(job_.size) : Ask(job_.size));
    return {};
  }

  Outcome StreamOut() {
    for (uint64_t i = 0; i < job_.iterations; ++i) SOFTDAT_TRY(Send(job_.size, nullptr));
    return {};
  }

  Outcome Send(size_t bytes, const rds_rdma_args* operation) {
    iovec part{buffer_.data(), bytes};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof *operation)] = {};
    msghdr message{};
    message.msg_name = &theirs_.name;
    message.msg_namelen =
        theirs_.name.sin6_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (operation != nullptr) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* const header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_RDS;
      header->cmsg_type = RDS_CMSG_RDMA_ARGS;
      header->cmsg_len = CMSG_LEN(sizeof *operation);
      std::memcpy(CMSG_DATA(header), operation, sizeof *operation);
    }
    Patience patience(kLooks);
    while (calls_.sendmsg(socket_.fd(), &message, Flags()) < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != ENOBUFS) return RdsFailure(calls_, "sendmsg", errno);
      SOFTDAT_TRY(Wait(POLLOUT, &patience));
    }
    return {};
  }

  Outcome Receive() {
    msghdr message{};
    iovec part{buffer_.data(), buffer_.size()};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    return Receive(&message);
  }

  Outcome Receive(msghdr* message) {
    Patience patience(kLooks);
    while (calls_.recvmsg(socket_.fd(), message, Flags()) < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return RdsFailure(calls_, "recvmsg", errno);
      SOFTDAT_TRY(Wait(POLLIN, &patience));
    }
    return {};
  }

  int Flags() const { return job_.wait == WaitMode::kWait ? 0 : MSG_DONTWAIT; }

  Outcome Wait(short events, Patience* patience) {
    if (job_.wait == WaitMode::kPoll) {
      // Who looks for what has come also takes the acknowledgements that make room.
      if (events == POLLOUT) SOFTDAT_TRY(Look());
      return patience->Pause() && patience->IsOver()
                 ? Outcome::Fail("rds: nothing has come for 5 s")
                 : Outcome();
    }
    pollfd ready{socket_.fd(), events, 0};
    return poll(&ready, 1, -1) < 0 && errno != EINTR ? RawErrno("poll") : Outcome();
  }

  // A stream goes one way, so there is nothing for this end to receive.
  Outcome Look() {
    uint8_t none = 0;
    iovec part{&none, 0};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const ssize_t got = calls_.recvmsg(socket_.fd(), &message, MSG_DONTWAIT | MSG_PEEK);
    if (got >= 0) return Outcome::Fail("rds: a message has come that nobody has sent");
    return errno == EAGAIN || errno == EINTR ? Outcome() : RdsFailure(calls_, "recvmsg", errno);
  }

  // ---- RDMA by cookie ----

  // Keeps `window` operations under way. No message travels with them.
  Outcome Carry() {
    rds_iovec local{reinterpret_cast<uint64_t>(buffer_.data()), buffer_.size()};
    rds_rdma_args args{};
    args.cookie = theirs_.cookie;
    args.remote_vec = {0, buffer_.size()};
    args.local_vec_addr = reinterpret_cast<uint64_t>(&local);
    args.nr_local = 1;
    args.flags = RDS_RDMA_NOTIFY_ME | RDS_RDMA_SILENT |
                 (job_.operation == Operation::kWrite ? RDS_RDMA_READWRITE : 0);
    uint64_t begun = 0;
    for (uint64_t ended = 0; ended < job_.iterations;) {
      if (begun < job_.iterations && begun - ended < job_.window) {
        args.user_token = begun++;
        SOFTDAT_TRY(Send(0, &args));
      } else {
        SOFTDAT_TRY(TakeStatuses(&ended));
      }
    }
    return {};
  }

  Outcome TakeStatuses(uint64_t* ended) {
    alignas(cmsghdr) char control[kStatuses * CMSG_SPACE(sizeof(rds_rdma_notify))];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    SOFTDAT_TRY(Receive(&message));
    for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
      if (at->cmsg_level != SOL_RDS || at->cmsg_type != RDS_CMSG_RDMA_STATUS) continue;
      rds_rdma_notify status{};
      std::memcpy(&status, CMSG_DATA(at), sizeof status);
      if (status.status != RDS_RDMA_SUCCESS)
        return Outcome::Fail(
            fmt::format("rds: an RDMA operation ended with status {}", status.status));
      ++*ended;
    }
    return {};
  }

  const RdsCalls& calls_ = LibraryCalls();
  std::vector<uint8_t> buffer_;
  RdsOffer theirs_;
  RdsSocket socket_;  // the last, so that it is closed before its memory goes
};

}  // namespace

std::unique_ptr<RawTransfer> MakeRdsTransfer(const RawJob& job, bool is_server) {
  return std::make_unique<RdsTransfer>(job, is_server);
}

}  // namespace softdat::tools
