// SPDX-License-Identifier: BSD-3-Clause
// RoceEndpoint's connection life with the driver token: establishing, timers, the end.
#include <fmt/format.h>

#include <new>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/driver/loop_time.h"
#include "provider_softnet/udp_wire/roce_endpoint.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::softnet {

using transport::EndReason;
using transport::RejectReason;

namespace {

// What the path did to it.
std::string TextOf(const RcCounters& c) {
  return fmt::format(
      "sent {} packets, {} of them again ({} probes, {} time-outs), received {} ({} again), NAKs "
      "of sequence {} sent, {} received, RNR NAKs {} sent, {} received",
      c.packets_sent, c.requests_resent, c.probes, c.timeouts, c.packets_received, c.duplicates,
      c.naks_sent, c.naks_received, c.rnr_naks_sent, c.rnr_naks_received);
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Establishing

void RoceEndpoint::StartConnection(uint32_t qpn, const AgreedPair& agreed) {
  RcConfig config;
  config.work = queues_.ForLedger(&adapter_->memory, id_);
  config.peer_qpn = agreed.peer.qpn;
  config.send_psn = agreed.peer.starting_psn;
  config.expected_psn = agreed.own_psn;
  config.mtu = agreed.mtu;
  config.reads_in = agreed.depths.in;
  config.reads_out = agreed.depths.out;
  config.ack_timeout = agreed.ack_timeout;
  config.retry_count = agreed.retry_count;
  config.rnr_retry_count = agreed.rnr_retry_count;
  config.rnr_timer = adapter_->options.rnr_timer;
  config.early = &adapter_->early;
  // What the receive buffer of a socket holds, with the kernel's own share.
  constexpr uint32_t kMostBytes = 256 * 1024;
  config.most_window = std::min(128u, kMostBytes / agreed.mtu);
  connection_ = std::make_unique<ReliableConnection>(config);
  peer_qpn_ = agreed.peer.qpn;
  qpn_ = qpn;
  peer_ = plane_->DestinationOf(agreed.addresses.remote);
  addresses_ = agreed.addresses;
  full_ = owing_ = data_open_ = false;
  armed_us_ = 0;
  ++life_;
}

void RoceEndpoint::OnReply(const CmReplyArrived& reply) {
  AgreedPair agreed;
  agreed.peer = reply.peer;
  agreed.own_psn = asked_psn_;
  agreed.depths = reply.agreed;
  agreed.mtu = plane_->mtu();
  agreed.retry_count = adapter_->options.retry_count;
  agreed.rnr_retry_count = reply.rnr_retry_count;
  agreed.ack_timeout = adapter_->options.ack_timeout;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    agreed.addresses = addresses_;
    try {
      StartConnection(qpn_, agreed);
    } catch (const std::bad_alloc&) {
      connection_.reset();  // this may be the helper's thread, where nobody else would catch it
    }
  }
  if (connection_ == nullptr) {
    CmFailed failed;
    failed.id = reply.id;
    failed.reason = RejectReason::kNonPeer;
    failed.why = "no memory for the connection";
    DropConnection();
    return OnFailed(failed);
  }
  plane_->cm().ReadyToUse(reply.id);
  plane_->Flush();
  Established(rdmacm::ReadField(rdmacm::CmField::kReply, reply.private_data, false).data);
}

void RoceEndpoint::BeginAccepted(std::shared_ptr<RocePlane> plane, CmId id, uint32_t qpn,
                                 const AgreedPair& agreed) {
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    plane_ = std::move(plane);
    StartConnection(qpn, agreed);
    state_ = State::kConnecting;
  }
  exchange_ = id;
  accepted_ = true;
  plane_->Attach(id, this);
}

void RoceEndpoint::OnEstablished() {
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (state_ != State::kConnecting || connection_ == nullptr) return;
  }
  Established({});
}

void RoceEndpoint::Established(std::span<const uint8_t> private_data) {
  uint32_t life;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    state_ = State::kConnected;
    life = life_;
  }
  established_ = true;
  plane_->WatchPeer(exchange_, peer_.address(), peer_qpn_);
  if (sink_ != nullptr) sink_->OnEstablished(private_data);
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  // The upcall may have ended this connection, even begun another.
  if (life != life_ || connection_ == nullptr || dead_) return;
  data_open_ = true;
  ReplayEarly();
  Transmit();
  Finish(&lock, &upcalls);
}

void RoceEndpoint::OnFailed(const CmFailed& failed) {
  PendingUpcalls upcalls;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (state_ != State::kConnecting) return;
    connection_.reset();
    early_.clear();
    state_ = State::kEnded;
    queues_.FlushReceives(&upcalls);
  }
  upcalls.Make();
  SOFTDAT_LOG(Info, "{}", failed.why);
  if (sink_ != nullptr) sink_->OnFailed(failed.reason, failed.private_data, failed.why);
}

// The exchange says that the connection is over.
void RoceEndpoint::OnDisconnected(CmDisconnected::By by) {
  if (by == CmDisconnected::By::kSelf) return;
  if (lingers_) return Vanish();
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (dead_ || connection_ == nullptr) return;
  if (by == CmDisconnected::By::kPeer) {
    const bool late = !connection_->ended() && connection_->awaits_answers();
    lock.unlock();
    return late ? AwaitLateAnswers() : OnPeerLeft();
  }
  connection_->OnPathLost("the peer has lost it, and connects anew");
  Finish(&lock, &upcalls);
}

// What the peer has acknowledged before it left may still be on its way: packets of one port come
// to any process of this address, each queue pair's to another one, which hands them over. So an
// acknowledgement that left before a DREQ can arrive behind it.
void RoceEndpoint::AwaitLateAnswers() {
  if (!farewell_) {
    farewell_.emplace(&driver_->loop(), [this] {
      const RefPtr<RoceEndpoint> keep(this);
      LookForLateAnswers();
      Attend();
    });
  }
  late_ = {.packets = UINT64_MAX};  // so that the first look is no quiet one
  LookForLateAnswers();
}

// They are waited for as long as packets come. One look that sees none is not enough: this process
// may not have run since the last one.
void RoceEndpoint::LookForLateAnswers() {
  constexpr std::chrono::milliseconds kLook(5);
  constexpr int kMostQuietLooks = 2;
  constexpr int kMostLooks = 100;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (dead_ || connection_ == nullptr) return;
    const uint64_t packets = connection_->counters().packets_received;
    late_.quiet_looks = packets == late_.packets ? late_.quiet_looks + 1 : 0;
    late_.packets = packets;
    const bool awaits = !connection_->ended() && connection_->awaits_answers();
    if (awaits && late_.quiet_looks < kMostQuietLooks && late_.looks++ < kMostLooks) {
      farewell_->Start(kLook);
      return;
    }
  }
  OnPeerLeft();
}

void RoceEndpoint::OnPeerLeft() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (dead_ || connection_ == nullptr) return;
  connection_->OnPeerDisconnected();
  Finish(&lock, &upcalls);
}

// -------------------------------------------------------------------------------------------------
// Attending

// In this order: what makes the rest meaningless comes first.
[[gnu::hot]] void RoceEndpoint::Attend() {
  const RefPtr<RoceEndpoint> keep(this);
  Pending pending;
  uint32_t life;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (silent()) return;
    pending = std::exchange(pending_, {});
    life = life_;
  }
  if (pending.packets) OnPacketsEnd();
  if (pending.aborted) {
    if (sink_ != nullptr) {
      sink_->OnEnded(EndReason::kDisconnected,
                     "disconnected by the own consumer before it was established");
    }
    return;
  }
  if (pending.unreachable) {
    CmFailed failed;
    failed.reason = RejectReason::kUnreachable;
    failed.why = unreachable_;
    return OnFailed(failed);
  }
  if (pending.established && exchange_ != 0 && accepted_) {
    plane_->cm().EstablishedByData(exchange_);
    plane_->Pump();
  }
  if (pending.watermark && sink_ != nullptr) sink_->OnReceiveWatermark();
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (silent() || life != life_) return;  // an upcall has ended this connection
  }
  if (pending.draining) WatchDraining();
  if (pending.timer) UpdateTimer();
  if (pending.ended) AttendToEnd();
}

[[gnu::hot]] void RoceEndpoint::UpdateTimer() {
  uint64_t deadline_us = 0;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (connection_ != nullptr) deadline_us = connection_->deadline_us();
    armed_us_ = deadline_us;
  }
  if (deadline_us == 0) return;
  if (!timer_) {
    timer_.emplace(&driver_->loop(), [this] {
      const RefPtr<RoceEndpoint> keep(this);
      OnTimer();
      Attend();
    });
  }
  const uint64_t now_us = LoopTimeUs();
  timer_->Start(std::chrono::microseconds(deadline_us > now_us ? deadline_us - now_us : 0));
}

void RoceEndpoint::OnTimer() {
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  armed_us_ = 0;
  if (dead_ || connection_ == nullptr) return;
  const uint64_t now_us = LoopTimeUs();
  const uint64_t deadline_us = connection_->deadline_us();
  // It may be early by the fraction that it was rounded, and the deadline may have moved.
  if (deadline_us != 0 && deadline_us <= now_us) {
    connection_->OnTime(now_us);
    Transmit();
  }
  Finish(&lock, &upcalls);
}

void RoceEndpoint::StartLimit(std::chrono::milliseconds limit) {
  if (!limit_) {
    limit_.emplace(&driver_->loop(), [this] {
      const RefPtr<RoceEndpoint> keep(this);
      OnLimit();
    });
  }
  limit_->Start(limit);
}

void RoceEndpoint::OnLimit() {
  bool ended = false;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (silent() || connection_ == nullptr) return;
    ended = connection_->ended();
  }
  // A peer that was refused something has had its time.
  if (lingers_) return Vanish();
  if (ended) return EndExchange();
  WatchDraining();
}

// A graceful disconnect waits for the peer to carry out what was posted. One that takes nothing for
// the limit gets an abrupt end.
void RoceEndpoint::WatchDraining() {
  if (adapter_->options.disconnect.count() == 0) return;
  PendingUpcalls upcalls;
  std::unique_lock<FastMutex> lock(mutex_);
  if (connection_ == nullptr || connection_->ended()) return;
  const uint64_t left = queues_.sends().count();
  if (left != std::exchange(drained_mark_, left)) {
    lock.unlock();
    return StartLimit(adapter_->options.disconnect);
  }
  SOFTDAT_LOG(Warning,
              "graceful disconnect from {}: the peer has taken nothing for {} ms, so it becomes an "
              "abrupt one",
              AddressText(addresses_.remote), adapter_->options.disconnect.count());
  connection_->Disconnect(transport::DisconnectMode::kAbrupt);
  Finish(&lock, &upcalls);
}

void RoceEndpoint::AttendToEnd() {
  EndReason reason = EndReason::kDisconnected;
  std::string why;
  bool refused = false;
  RcCounters counters;
  {
    const std::lock_guard<FastMutex> lock(mutex_);
    if (connection_ == nullptr) return;
    counters = connection_->counters();
    reason = connection_->end().reason;
    why = connection_->end().why;
    refused = connection_->end().refused;
  }
  if (limit_) limit_->Stop();
  if (refused) {
    // The peer must hear why before it hears that it is over: the NAK may be lost, and then it asks
    // again.
    StartLimit(adapter_->options.refused_grace);
  } else {
    EndExchange();
  }
  if (!std::exchange(established_, false)) return;
  SOFTDAT_LOG(Info, "connection with {}: {}; {}", AddressText(addresses_.remote), why,
              TextOf(counters));
  if (sink_ != nullptr) sink_->OnEnded(reason, why);
}

void RoceEndpoint::EndExchange() {
  if (exchange_ == 0) return;
  plane_->cm().Disconnect(exchange_, LoopTimeUs());
  plane_->Flush();
}

}  // namespace softdat::softnet
