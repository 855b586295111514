// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_exchange.h"

#include <fmt/format.h>

#include <algorithm>

namespace softdat::tools {

StressExchange::StressExchange(const StressJob& job, bool requests, uint16_t task,
                               uint16_t first_port)
    : job_(job),
      requests_(requests),
      task_(task),
      first_port_(first_port),
      peers_(job.tasks),
      busy_(slots(), false) {
  for (Peer& peer : peers_) peer.sent_at.resize(job.depth);
}

std::optional<StressExchange::Outgoing> StressExchange::Next() {
  for (const bool acks : {true, false}) {
    for (uint32_t i = 0; i < job_.tasks; ++i) {
      const uint32_t index = (turn_ + i) % job_.tasks;
      if (peers_[index].congested) continue;
      if (auto next = acks ? NextAck(index) : NextRequest(index)) return next;
    }
  }
  return std::nullopt;
}

std::optional<StressExchange::Outgoing> StressExchange::NextAck(uint32_t index) const {
  const Peer& peer = peers_[index];
  if (peer.acks.empty()) return std::nullopt;
  const StressMessage& message = peer.acks.front();
  const uint32_t slot = SlotOf(index, message.sequence);
  if (message.way != RdmaWay::kNone && busy_[slot]) return std::nullopt;
  return Outgoing{index, message, slot, peer.retried};
}

std::optional<StressExchange::Outgoing> StressExchange::NextRequest(uint32_t index) const {
  const Peer& peer = peers_[index];
  if (!requests_ || peer.next_request - peer.next_acked >= job_.depth) return std::nullopt;
  StressMessage message;
  message.way = WayOf(peer);
  message.task = task_;
  message.to = static_cast<uint16_t>(index);
  message.sequence = peer.next_request;
  return Outgoing{index, message, SlotOf(index, message.sequence), peer.retried};
}

// The first requests are plain. The kernel opens memory only once a connection has been made, and
// their acks show that one has.
RdmaWay StressExchange::WayOf(const Peer& peer) const {
  if (!job_.HasRdma() || !peer.acquainted) return RdmaWay::kNone;
  if (job_.rdma_mode == RdmaMode::kRead) return RdmaWay::kRead;
  if (job_.rdma_mode == RdmaMode::kWrite) return RdmaWay::kWrite;
  return peer.next_request % 2 == 0 ? RdmaWay::kRead : RdmaWay::kWrite;
}

void StressExchange::Sent(const Outgoing& outgoing, int64_t now) {
  Peer& peer = peers_[outgoing.peer];
  peer.retried = false;
  turn_ = (outgoing.peer + 1) % job_.tasks;
  if (outgoing.message.ack) {
    peer.acks.pop_front();
    return;
  }
  peer.sent_at[outgoing.message.sequence % job_.depth] = now;
  ++peer.next_request;
}

void StressExchange::Congested(const Outgoing& outgoing, int64_t now) {
  Peer& peer = peers_[outgoing.peer];
  peer.congested = true;
  peer.retried = false;
  peer.congested_since = now;
}

void StressExchange::Freed(uint64_t groups) {
  for (uint32_t i = 0; i < job_.tasks; ++i) {
    if ((groups >> ((first_port_ + i) % 64) & 1) == 0) continue;
    peers_[i].congested = false;
    peers_[i].retried = false;
  }
}

std::optional<int64_t> StressExchange::Retry(int64_t now, int64_t patience) {
  std::optional<int64_t> next;
  for (Peer& peer : peers_) {
    if (!peer.congested) continue;
    const int64_t at = peer.congested_since + patience;
    if (at <= now) {
      peer.congested = false;
      peer.retried = true;
    } else {
      next = std::min(next.value_or(at), at);
    }
  }
  return next;
}

StressExchange::Incoming StressExchange::Received(uint32_t peer, const StressMessage& message,
                                                  int64_t now) {
  Incoming incoming;
  if (message.task != peer) {
    incoming.problem = fmt::format("it says that task {} has sent it", message.task);
  } else if (message.to != task_) {
    incoming.problem = fmt::format("it was sent to task {}", message.to);
  } else if (message.ack) {
    ReceivedAck(peer, message, now, &incoming);
  } else {
    ReceivedRequest(peer, message, &incoming);
  }
  return incoming;
}

void StressExchange::ReceivedRequest(uint32_t index, const StressMessage& message,
                                     Incoming* incoming) {
  Peer& peer = peers_[index];
  const bool expected =
      job_.cancel ? message.sequence >= peer.next_incoming : message.sequence == peer.next_incoming;
  if (!expected) {
    incoming->problem = fmt::format("request {} has come, and request {} is next", message.sequence,
                                    peer.next_incoming);
    return;
  }
  if (message.way != RdmaWay::kNone && !job_.HasRdma()) {
    incoming->problem = "it asks for RDMA, which was not agreed on";
    return;
  }
  peer.next_incoming = message.sequence + 1;
  incoming->slot = SlotOf(index, message.sequence);
  StressMessage ack = message;
  ack.ack = true;
  ack.task = task_;
  ack.to = message.task;
  peer.acks.push_back(ack);
}

void StressExchange::ReceivedAck(uint32_t index, const StressMessage& message, int64_t now,
                                 Incoming* incoming) {
  Peer& peer = peers_[index];
  // It was given up before its ack came, or the peer has given up acks in front of this one.
  if (job_.cancel && message.sequence < peer.next_acked) return;
  if (job_.cancel && message.sequence < peer.next_request) peer.next_acked = message.sequence;
  if (peer.next_acked == peer.next_request) {
    incoming->problem =
        fmt::format("an ack of request {} has come, and none is due", message.sequence);
    return;
  }
  if (message.sequence != peer.next_acked) {
    incoming->problem =
        fmt::format("the ack of request {} has come, and that of request {} is next",
                    message.sequence, peer.next_acked);
    return;
  }
  peer.acquainted = true;
  ++peer.next_acked;
  incoming->slot = SlotOf(index, message.sequence);
  incoming->rtt_ns = now - peer.sent_at[message.sequence % job_.depth];
}

bool StressExchange::RdmaDone(uint32_t slot) {
  if (slot >= busy_.size() || !busy_[slot]) return false;
  busy_[slot] = false;
  return true;
}

uint64_t StressExchange::GiveUp() {
  const uint64_t given_up = outstanding();
  for (Peer& peer : peers_) {
    peer.next_acked = peer.next_request;
    peer.acks.clear();
  }
  std::fill(busy_.begin(), busy_.end(), false);
  return given_up;
}

uint64_t StressExchange::outstanding() const {
  uint64_t sum = 0;
  for (const Peer& peer : peers_) sum += peer.next_request - peer.next_acked;
  return sum;
}

bool StressExchange::Idle() const {
  return outstanding() == 0 &&
         std::all_of(peers_.begin(), peers_.end(),
                     [](const Peer& peer) { return peer.acks.empty(); }) &&
         std::find(busy_.begin(), busy_.end(), true) == busy_.end();
}

}  // namespace softdat::tools
