// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_task.h"

#include <fmt/format.h>
#include <linux/rds.h>
#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tools/common/address.h"
#include "tools/rds/stress_exchange.h"
#include "tools/rds/stress_rdma.h"

namespace softdat::tools {
namespace {

constexpr int64_t kSecond = 1000000000;
// A congested port is tried again after so long without news.
constexpr int64_t kCongestionPatience = kSecond;
// RDMA_MAP is refused with EAGAIN for so long at most. The kernel refuses it until it is connected.
constexpr int64_t kMapPatience = 30 * kSecond;
// How long a blocking receive keeps a task from a look at the gates.
constexpr timeval kBlockFor = {0, 100000};
// So many messages, or turns of spinning, are between two looks at the gates.
constexpr uint32_t kGateEvery = 256;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

template <typename T>
bool ReadControl(const cmsghdr* header, T* value) {
  if (header->cmsg_len < CMSG_LEN(sizeof *value)) return false;
  std::memcpy(value, CMSG_DATA(header), sizeof *value);
  return true;
}

class Task {
 public:
  explicit Task(const StressTaskSetup& setup)
      : setup_(setup),
        options_(*setup.options),
        job_(setup.job),
        calls_(options_.kernel ? KernelCalls() : LibraryCalls()),
        exchange_(job_, options_.active() || !job_.one_way, setup.task, PortOf(setup.peer)),
        rdma_(job_, &exchange_, setup.counts),
        request_(job_.request_bytes),
        ack_(job_.ack_bytes),
        incoming_(std::max(job_.request_bytes, job_.ack_bytes) + 1) {}

  Outcome Run() {
    SOFTDAT_TRY(Open());
    SOFTDAT_TRY(Tell("ready"));
    pollfd gate = {setup_.gates.run, POLLIN, 0};
    while (poll(&gate, 1, -1) < 0 && errno == EINTR) continue;
    SOFTDAT_TRY(SendAll());
    while (true) {
      bool got = false;
      SOFTDAT_TRY(Receive(&got));
      if (!got) SOFTDAT_TRY(Wait());
      if (++turns_ % kGateEvery == 0) SOFTDAT_TRY(LookAtGates());
      if (ended_) return {};
      SOFTDAT_TRY(SendAll());
      if (draining_ && !told_ && exchange_.Idle()) {
        told_ = true;
        SOFTDAT_TRY(Tell("drained"));
      }
    }
  }

 private:
  // ---- set-up ----

  Outcome Open() {
    sockaddr_storage own = setup_.own;
    SetPort(&own, static_cast<uint16_t>(PortOf(own) + setup_.task));
    SOFTDAT_TRY(socket_.Open(calls_, own, 0));
    SOFTDAT_TRY(SetBuffer(SO_SNDBUF, "SO_SNDBUF"));
    SOFTDAT_TRY(SetBuffer(SO_RCVBUF, "SO_RCVBUF"));
    SOFTDAT_TRY(socket_.SetTypeOfService(static_cast<uint8_t>(job_.tos)));
    if (options_.wait == RdsWait::kBlock)
      SOFTDAT_TRY(Set(SOL_SOCKET, SO_RCVTIMEO, kBlockFor, "SO_RCVTIMEO"));
    if (job_.monitor) SOFTDAT_TRY(Set(SOL_RDS, RDS_CONG_MONITOR, int{1}, "RDS_CONG_MONITOR"));
    return rdma_.Open(socket_);
  }

  template <typename T>
  Outcome Set(int level, int name, const T& value, const char* text) {
    if (calls_.setsockopt(socket_.fd(), level, name, &value, sizeof value) == 0) return {};
    return RdsFailure(calls_, fmt::format("setsockopt({})", text), errno);
  }

  Outcome SetBuffer(int name, const char* text) {
    const auto wanted = static_cast<int>(job_.BufferBytes());
    SOFTDAT_TRY(Set(SOL_SOCKET, name, wanted, text));
    int has = 0;
    socklen_t length = sizeof has;
    if (calls_.getsockopt(socket_.fd(), SOL_SOCKET, name, &has, &length) != 0)
      return RdsFailure(calls_, fmt::format("getsockopt({})", text), errno);
    // Linux stores the double.
    if (setup_.task == 0 && has / 2 < wanted) {
      fmt::print(stderr,
                 "rds-softstress: {} has {} bytes instead of {}, so that sending may have to wait\n"
                 "  a higher net.core.{} lets it have more\n",
                 text, has / 2, wanted, name == SO_SNDBUF ? "wmem_max" : "rmem_max");
    }
    return {};
  }

  Outcome Tell(const char* line) const {
    const std::string text = std::string(line) + "\n";
    if (write(setup_.report, text.data(), text.size()) == static_cast<ssize_t>(text.size()))
      return {};
    return Outcome::Fail("the process that reports has ended");
  }

  sockaddr_storage PeerAddress(uint32_t peer) const {
    sockaddr_storage address = setup_.peer;
    SetPort(&address, static_cast<uint16_t>(PortOf(address) + peer));
    return address;
  }

  // ---- out ----

  // Sends what can be sent now.
  Outcome SendAll() {
    full_ = false;
    while (!full_) {
      const auto next = exchange_.Next();
      if (!next) return {};
      SOFTDAT_TRY(Send(*next));
    }
    return {};
  }

  Outcome Send(const StressExchange::Outgoing& out) {
    std::vector<uint8_t>& buffer = out.message.ack ? ack_ : request_;
    WriteMessage(out.message, job_.verify, buffer);
    sockaddr_storage to = PeerAddress(out.peer);
    iovec part = {buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_name = &to;
    message.msg_namelen = AddressLength(to);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    RdmaControl control;
    SOFTDAT_TRY(rdma_.Ask(out, &control, &message));
    const int64_t before = NowNs();
    const ssize_t size = calls_.sendmsg(socket_.fd(), &message, MSG_DONTWAIT);
    const int error = errno;
    const int64_t now = NowNs();
    if (size < 0) return Refused(out, error, now);
    if (size != static_cast<ssize_t>(buffer.size()))
      return Outcome::Fail(kExitBadData, fmt::format("sendmsg has sent {} bytes instead of {}",
                                                     size, buffer.size()));
    map_refused_since_ = 0;
    if (options_.trace) Trace("sent", out.peer, out.message);
    setup_.counts->Add(kSendCalls, 1);
    setup_.counts->Add(kSendNs, static_cast<uint64_t>(now - before));
    setup_.counts->Add(kBytesSent, buffer.size());
    if (!out.message.ack) setup_.counts->Add(kRequestsSent, 1);
    if (out.after_congestion) setup_.counts->Add(kCongestionUnannounced, 1);
    rdma_.Sent(out);
    exchange_.Sent(out, before);
    return {};
  }

  Outcome Refused(const StressExchange::Outgoing& out, int error, int64_t now) {
    if (error == ENOBUFS) {
      setup_.counts->Add(kCongestionMet, 1);
      exchange_.Congested(out, now);
      return {};
    }
    if (error == EAGAIN || error == EINTR) {
      full_ = true;
      setup_.counts->Add(kQueueFull, 1);
      const bool maps = !out.message.ack && out.message.way != RdmaWay::kNone && rdma_.UsesMap();
      if (!maps) return {};
      if (map_refused_since_ == 0) map_refused_since_ = now;
      if (now - map_refused_since_ < kMapPatience) return {};
      return Outcome::Fail(fmt::format(
          "sendmsg with RDMA_MAP was refused with EAGAIN for {} s: too much memory is open\n"
          "  fewer tasks (-t) or less depth (-d) need less",
          kMapPatience / kSecond));
    }
    return RdsFailure(
        calls_,
        fmt::format("sendmsg of {} {} to task {}", out.message.ack ? "ack" : "request",
                    out.message.sequence, out.peer),
        error);
  }

  // ---- in ----

  Outcome Receive(bool* got) {
    sockaddr_storage from{};
    iovec part = {incoming_.data(), incoming_.size()};
    alignas(cmsghdr) uint8_t control[256];
    msghdr message{};
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const bool sleeps = options_.wait == RdsWait::kBlock && !full_ && !congested_;
    const ssize_t size = calls_.recvmsg(socket_.fd(), &message, sleeps ? 0 : MSG_DONTWAIT);
    const int64_t now = NowNs();
    *got = size >= 0;
    if (size < 0) {
      if (errno == EAGAIN || errno == EINTR || errno == ETIMEDOUT) return {};
      return RdsFailure(calls_, "recvmsg", errno);
    }
    if ((message.msg_flags & MSG_CTRUNC) != 0)
      return Outcome::Fail(kExitBadData, "a control message was lost (MSG_CTRUNC)");
    bool is_message = true;
    rds_rdma_cookie_t cookie = 0;
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
         header = CMSG_NXTHDR(&message, header)) {
      SOFTDAT_TRY(OnControl(header, &is_message, &cookie));
    }
    if (!is_message) return {};
    return OnMessage(from, {incoming_.data(), static_cast<size_t>(size)}, cookie, now);
  }

  Outcome OnControl(const cmsghdr* header, bool* is_message, rds_rdma_cookie_t* cookie) {
    if (header->cmsg_level != SOL_RDS) return {};
    bool whole = true;
    if (header->cmsg_type == RDS_CMSG_RDMA_DEST) {
      whole = ReadControl(header, cookie);
    } else if (header->cmsg_type == RDS_CMSG_RDMA_STATUS) {
      *is_message = false;
      rds_rdma_notify status{};
      whole = ReadControl(header, &status);
      if (whole) return OnStatus(status);
    } else if (header->cmsg_type == RDS_CMSG_CONG_UPDATE) {
      *is_message = false;
      uint64_t groups = 0;
      whole = ReadControl(header, &groups);
      if (options_.trace) fmt::print(stderr, "{}: uncongested {:#x}\n", setup_.task, groups);
      exchange_.Freed(groups);
    }
    if (whole) return {};
    return Outcome::Fail(kExitBadData, fmt::format("control message {} has only {} bytes",
                                                   header->cmsg_type, header->cmsg_len));
  }

  Outcome OnStatus(const rds_rdma_notify& status) {
    const auto slot = static_cast<uint32_t>(status.user_token);
    if (!job_.cancel || !draining_) return rdma_.OnStatus(status);
    // It was cancelled, or has just escaped that.
    exchange_.RdmaDone(slot);
    return {};
  }

  Outcome OnMessage(const sockaddr_storage& from, std::span<const uint8_t> bytes,
                    rds_rdma_cookie_t cookie, int64_t now) {
    const uint32_t peer = PortOf(from) - uint32_t{PortOf(setup_.peer)};
    auto message = ReadMessage(bytes);
    if (!SameHost(from, setup_.peer) || peer >= job_.tasks || !message)
      return Outcome::Fail(
          kExitBadData,
          fmt::format("a message of {} bytes from {} port {} is none of this run", bytes.size(),
                      FormatAddress(reinterpret_cast<const sockaddr*>(&from)), PortOf(from)));
    const size_t wanted = message->ack ? job_.ack_bytes : job_.request_bytes;
    if (bytes.size() != wanted)
      return Outcome::Fail(kExitBadData, fmt::format("a message from task {} has {} bytes instead "
                                                     "of {}",
                                                     peer, bytes.size(), wanted));
    if (options_.trace) Trace("received", peer, *message);
    if (job_.verify) SOFTDAT_TRY(Verified(PatternProblem(*message, bytes), "in", *message));
    if (!message->ack) message->cookie = cookie;
    const auto incoming = exchange_.Received(peer, *message, now);
    if (!incoming.problem.empty())
      return Outcome::Fail(kExitBadData, fmt::format("from task {}: {}", peer, incoming.problem));
    setup_.counts->Add(kBytesReceived, bytes.size());
    if (!message->ack) {
      setup_.counts->Add(kRequestsReceived, 1);
      if (message->way != RdmaWay::kNone && cookie == 0)
        return Outcome::Fail(kExitBadData, fmt::format("request {} of task {} came without the "
                                                       "cookie of its memory (RDMA_DEST)",
                                                       message->sequence, peer));
      return {};
    }
    if (incoming.rtt_ns < 0) return {};
    setup_.counts->AddRtt(incoming.rtt_ns);
    if (options_.outliers_usec != 0 &&
        incoming.rtt_ns > static_cast<int64_t>(options_.outliers_usec) * 1000)
      fmt::print(stderr, "task {}: request {} to task {} took {:.1f} usec\n", setup_.task,
                 message->sequence, peer, static_cast<double>(incoming.rtt_ns) / 1e3);
    return message->way == RdmaWay::kNone ? Outcome() : rdma_.OnAck(*message, incoming.slot);
  }

  void Trace(const char* what, uint32_t peer, const StressMessage& message) const {
    fmt::print(stderr, "{}: {} {} {}{} {} task {}\n", setup_.task, what,
               message.ack ? "ack of" : "request", message.sequence, WayName(message.way),
               what[0] == 's' ? "to" : "from", peer);
  }

  // ---- waiting ----

  // Sleeps until something may have changed.
  Outcome Wait() {
    const int64_t now = NowNs();
    const auto retry = exchange_.Retry(now, kCongestionPatience);
    congested_ = retry.has_value();
    if (options_.wait == RdsWait::kSpin) {
      if (congested_ && !job_.monitor) exchange_.Freed(~uint64_t{0});
      return {};
    }
    if (options_.wait == RdsWait::kBlock && !full_ && !congested_) return LookAtGates();
    pollfd polled[2] = {{socket_.fd(), static_cast<short>(POLLIN | (full_ ? POLLOUT : 0)), 0},
                        {Gate(), POLLIN, 0}};
    const int64_t left = congested_ ? (*retry - now) / 1000000 + 1 : -1;
    if (poll(polled, 2, static_cast<int>(left)) < 0 && errno != EINTR)
      return RdsFailure(calls_, "poll", errno);
    // Without monitoring, a wake-up may mean that any port is free again.
    if (!job_.monitor) exchange_.Freed(~uint64_t{0});
    return polled[1].revents != 0 ? PassGate() : Outcome();
  }

  int Gate() const { return draining_ ? setup_.gates.end : setup_.gates.drain; }

  Outcome LookAtGates() {
    pollfd gate = {Gate(), POLLIN, 0};
    return poll(&gate, 1, 0) > 0 ? PassGate() : Outcome();
  }

  Outcome PassGate() {
    if (draining_) {
      ended_ = true;
      return {};
    }
    draining_ = true;
    exchange_.Stop();
    return job_.cancel ? CancelAll() : Outcome();
  }

  Outcome CancelAll() {
    for (uint32_t peer = 0; peer < job_.tasks; ++peer) {
      const sockaddr_storage to = PeerAddress(peer);
      const int64_t before = NowNs();
      if (calls_.setsockopt(socket_.fd(), SOL_RDS, RDS_CANCEL_SENT_TO, &to, AddressLength(to)) != 0)
        return RdsFailure(calls_, "setsockopt(RDS_CANCEL_SENT_TO)", errno);
      fmt::print(options_.json ? stderr : stdout,
                 "task {} (process {}): what was sent to {} port {} was cancelled in {:.1f} usec\n",
                 setup_.task, getpid(), FormatAddress(reinterpret_cast<const sockaddr*>(&to)),
                 PortOf(to), static_cast<double>(NowNs() - before) / 1e3);
    }
    setup_.counts->Add(kRequestsGivenUp, exchange_.GiveUp());
    return {};
  }

  const StressTaskSetup& setup_;
  const StressOptions& options_;
  const StressJob& job_;
  const RdsCalls& calls_;
  StressExchange exchange_;
  StressRdma rdma_;
  std::vector<uint8_t> request_, ack_, incoming_;
  bool full_ = false;       // the send buffer
  bool congested_ = false;  // a port
  bool draining_ = false;
  bool told_ = false;  // that it is drained
  bool ended_ = false;
  int64_t map_refused_since_ = 0;  // 0: it was not
  uint32_t turns_ = 0;
  RdsSocket socket_;  // the last, so that it is closed before its memory goes
};

}  // namespace

Outcome RunStressTask(const StressTaskSetup& setup) { return Task(setup).Run(); }

}  // namespace softdat::tools
