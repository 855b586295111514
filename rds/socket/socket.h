// SPDX-License-Identifier: BSD-3-Clause
// One RDS socket: its name, its options, and what waits in it. It sends nothing itself; Node does.
#ifndef SOFTDAT_RDS_SOCKET_SOCKET_H_
#define SOFTDAT_RDS_SOCKET_SOCKET_H_

#include <sys/socket.h>
#include <sys/time.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "rds/protocol/message.h"
#include "rds/protocol/ring.h"
#include "rds/socket/address.h"
#include "rds/socket/link.h"
#include "rds/socket/time.h"

namespace softdat::rds {

// Never 0, never used again.
using SocketId = uint64_t;

// A message that has come.
struct Received {
  SocketName from;
  Message message;
  std::optional<timeval> arrival{};  // by the clock on the wall, for SO_TIMESTAMP
  Time began{}, ended{};             // when its first and its last fragment came
};

// How an operation ended: what becomes an RDS_CMSG_RDMA_STATUS.
struct Notification {
  uint64_t token = 0;
  int32_t status = 0;  // RDS_RDMA_*
};

// Memory that this socket has opened to peers.
struct OwnRegion {
  OpenRegion open;
  Area area;
  bool use_once = false;
};

class Socket {
 public:
  explicit Socket(SocketId id) : id_(id) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  SocketId id() const { return id_; }

  // ---- names ----
  bool bound() const { return bound_; }
  const SocketName& name() const { return name_; }
  void SetName(const SocketName& name) {
    name_ = name;
    bound_ = true;
  }
  // Where sends without an address go (connect).
  const std::optional<SocketName>& peer() const { return peer_; }
  void SetPeer(const SocketName& peer) { peer_ = peer; }

  // ---- options ----
  struct Options {
    // Octets of payload. Twice as much is what SO_SNDBUF and SO_RCVBUF say, as Linux has it.
    size_t send_limit = kDefaultLimit;
    size_t receive_limit = kDefaultLimit;
    bool errors = false;          // RDS_RECVERR
    bool monitor = false;         // RDS_CONG_MONITOR
    bool timestamps = false;      // SO_TIMESTAMP, of either number
    bool new_timestamps = false;  // they were asked for as SO_TIMESTAMP_NEW
    bool reuse_address = false;   // these two are stored and have no effect
    bool reuse_port = false;
    bool zero_copy = false;         // SO_ZEROCOPY
    bool transport_chosen = false;  // SO_RDS_TRANSPORT
    uint8_t type_of_service = 0;
    std::vector<uint8_t> traces;   // SO_RDS_MSG_RXPATH_LATENCY: which (rds_message_rxpath_latency)
    uint64_t send_timeout_us = 0;  // 0: none
    uint64_t receive_timeout_us = 0;
    linger lingering{};  // SO_LINGER: without effect
  };
  Options& options() { return options_; }
  const Options& options() const { return options_; }

  // ---- sending ----
  // A message may exceed the limit, but the next one has to wait then.
  bool HasRoom() const { return queued_ < options_.send_limit; }
  // Returns whether the message is to ask for an acknowledgement: when the next one has to wait
  // for one, and now and then before.
  bool Queued(size_t octets) {
    queued_ += octets;
    unasked_ += octets;
    const bool soon = 2 * queued_ >= options_.send_limit && 4 * unasked_ >= options_.send_limit;
    if (HasRoom() && !soon) return false;
    unasked_ = 0;
    return true;
  }
  void Unqueued(size_t octets) { queued_ -= octets; }
  size_t queued() const { return queued_; }
  // Something was sent, so that it is too late for some options.
  bool has_sent() const { return has_sent_; }
  void SetHasSent() { has_sent_ = true; }

  // Payloads that are the program's again, by the cookies that it has sent them with.
  std::deque<uint32_t>& returned_payloads() { return returned_payloads_; }

  // ---- receiving ----
  // Returns whether there is now more than the program wants to have waiting.
  bool Take(Received&& received) {
    waiting_ += received.message.payload.size();
    received_.push_back(std::move(received));
    return waiting_ > options_.receive_limit;
  }
  const Received* first() const { return received_.empty() ? nullptr : &received_.front(); }
  // Takes first() out, and its payload. Returns whether so little waits now that more may come.
  bool Pop(std::vector<uint8_t>* payload) {
    waiting_ -= received_.front().message.payload.size();
    payload->swap(received_.front().message.payload);
    received_.pop_front();
    return waiting_ < options_.receive_limit / 2;
  }
  size_t waiting() const { return waiting_; }
  const Ring<Received>& received() const { return received_; }

  void Notify(const Notification& notification) { notifications_.push_back(notification); }
  std::deque<Notification>& notifications() { return notifications_; }

  // ---- congestion ----
  // A send has failed because of this port, so its group is waited for.
  void MetCongestion(uint16_t port) {
    if (options_.monitor) awaited_ |= uint64_t{1} << port % 64;
  }
  // Returns whether that is news.
  bool Freed(uint64_t groups) {
    if (!options_.monitor || (awaited_ & groups) == 0) return false;
    freed_ |= awaited_ & groups;
    awaited_ &= ~groups;
    return true;
  }
  void SetMonitor(bool on) {
    options_.monitor = on;
    if (!on) awaited_ = freed_ = 0;
  }
  // What becomes an RDS_CMSG_CONG_UPDATE; 0: nothing.
  uint64_t freed() const { return freed_; }
  uint64_t TakeFreed() {
    const uint64_t groups = freed_;
    freed_ = 0;
    return groups;
  }

  // ---- readiness, as poll has it ----
  bool readable() const { return receivable() || !returned_payloads_.empty(); }
  // Whether there is something that a call waits for: payloads that have come back end no wait.
  bool receivable() const { return !received_.empty() || !notifications_.empty() || freed_ != 0; }
  bool writable() const { return HasRoom(); }

  // ---- memory ----
  // By the key half of the cookie.
  std::map<uint32_t, OwnRegion>& regions() { return regions_; }

 private:
  // Half of what Linux's net.core.wmem_default is on most machines.
  static constexpr size_t kDefaultLimit = 106496;

  const SocketId id_;
  bool bound_ = false;
  SocketName name_;
  std::optional<SocketName> peer_;
  Options options_;
  size_t queued_ = 0;   // octets sent that no peer has acknowledged
  size_t unasked_ = 0;  // octets sent since a message has asked for that
  bool has_sent_ = false;
  std::deque<uint32_t> returned_payloads_;
  Ring<Received> received_;
  size_t waiting_ = 0;  // octets in received_
  std::deque<Notification> notifications_;
  uint64_t awaited_ = 0, freed_ = 0;  // groups of ports (CongestionMap::Take)
  std::map<uint32_t, OwnRegion> regions_;
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_SOCKET_H_
