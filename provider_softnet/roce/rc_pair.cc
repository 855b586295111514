// SPDX-License-Identifier: BSD-3-Clause
// For tests: two reliable connections joined by a network.
#include "provider_softnet/roce/rc_pair.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "wire/roce/icrc.h"

namespace softdat::softnet::testing {

namespace {

// How long a peer that was refused something may ask again before it is told that it is over.
constexpr uint64_t kRefusedGraceUs = 300'000'000;
constexpr uint64_t kReorderUs = 500;
constexpr uint64_t kLongestPartitionUs = 1'000'000;

uint32_t IcrcStartOf(size_t size) { return roce::IcrcStart(roce::Ipv6Flow{}, size); }

RcConfig ConfigOf(int side, const RcPairOptions& o) {
  RcConfig c;
  c.peer_qpn = static_cast<uint32_t>(100 + (1 - side));
  const uint32_t psn[2] = {o.first_psn, o.first_psn ^ 0x5a5a5a};
  c.send_psn = psn[side] & roce::kMask24;
  c.expected_psn = psn[1 - side] & roce::kMask24;
  c.mtu = o.mtu;
  c.reads_out = c.reads_in = o.depth;
  c.ack_timeout = o.ack_timeout;
  c.retry_count = o.retry_count;
  c.rnr_retry_count = o.rnr_retry_count;
  c.rnr_timer = o.rnr_timer;
  c.first_window = o.first_window;
  c.most_window = o.most_window;
  return c;
}

}  // namespace

RcSide::RcSide(MemoryTable* table, int side, const RcPairOptions& o)
    : EngineSide(table, {o.queue, o.max_segments, o.share_receives && side == 1}),
      early(o.mtu, o.early_bytes) {
  RcConfig c = ConfigOf(side, o);
  c.go_back_n = o.go_back_n[side];
  if (!c.go_back_n) c.early = &early;
  c.work = ForLedger();
  connection = std::make_unique<ReliableConnection>(c);
}

RcPair::RcPair(const RcPairOptions& options) : options_(options), random_(options.seed) {
  for (int i = 0; i < 2; ++i) sides[i] = std::make_unique<RcSide>(&memory[i], i, options);
}

void RcPair::Act(int i) {
  RcSide& side = *sides[i];
  const RcActions actions = side.connection->TakeActions();
  if (actions.notices.send) side.send_ring.Notify();
  if (actions.notices.receive) side.receive_ring.Notify();
  if (actions.established) side.established = true;
  if (actions.ended) ++side.ends_seen;
  if (side.ended() && !side.told && !side.wants_transmit()) Tell(i);
}

// What connection management does at the end.
void RcPair::Tell(int i) {
  RcSide& side = *sides[i];
  side.told = true;
  const uint64_t grace_us = side.end().refused ? kRefusedGraceUs : 0;
  flights_[i].emplace(std::max(last_at_us_[i], now_us_) + grace_us + 1, Flight{{}, true});
}

bool RcPair::IsLost(int i) {
  const size_t n = sent_[i]++;
  if (cut_) return true;
  if (n < losses[i].size()) return losses[i][n];
  if (burst_left_[i] > 0) {
    --burst_left_[i];
    return true;
  }
  if (partition_until_us_[i] > now_us_) return true;
  if (OneIn(options_.partition_one_in)) {
    partition_until_us_[i] = now_us_ + Draw(kLongestPartitionUs);
    return true;
  }
  if (OneIn(options_.burst_one_in)) burst_left_[i] = Draw(8);
  return OneIn(options_.lose_one_in);
}

void RcPair::Dispatch(int i, const std::vector<uint8_t>& bytes) {
  if (keep_log) log[i].push_back(bytes);
  const uint64_t left_us = std::max(now_us_, link_free_us_[i]) + options_.packet_us;
  link_free_us_[i] = left_us;
  if (IsLost(i)) return;
  const int copies = OneIn(options_.duplicate_one_in) ? 2 : 1;
  for (int k = 0; k < copies; ++k) {
    uint64_t at_us = left_us + Draw(options_.max_delay_us + 1);
    if (OneIn(options_.reorder_one_in)) {
      at_us += Draw(kReorderUs);
    } else {
      at_us = last_at_us_[i] = std::max(at_us, last_at_us_[i]);
    }
    Flight flight{bytes, false};
    if (OneIn(options_.corrupt_one_in)) {
      flight.bytes[Draw(bytes.size())] ^= static_cast<uint8_t>(1 << Draw(8));
    }
    flights_[i].emplace(at_us, std::move(flight));
  }
}

bool RcPair::Transmit(int i) {
  RcSide& side = *sides[i];
  const uint64_t completed = side.send_ring.size();
  if (side.connection->owes() && Draw(4) == 0) side.connection->PayOwed();
  PacketBatch batch;
  side.connection->Transmit(&batch, now_us_);
  size_t taken = batch.size();
  if (taken > 0 && OneIn(options_.untaken_one_in)) taken = Draw(taken);
  for (size_t k = 0; k < taken; ++k) {
    const OutgoingPacket& p = batch.at(k);
    std::vector<uint8_t> bytes(p.header, p.header + p.header_size);
    for (const iovec& piece : batch.pieces(p)) {
      const auto* at = static_cast<const uint8_t*>(piece.iov_base);
      bytes.insert(bytes.end(), at, at + piece.iov_len);
    }
    bytes.resize(bytes.size() + roce::PadOf(p.payload_size) + roce::kIcrcSize);
    if (options_.corrupt_one_in != 0) {
      const ByteSpan summed = ByteSpan(bytes).first(bytes.size() - roce::kIcrcSize);
      roce::StoreIcrc(bytes.data() + summed.size(),
                      roce::IcrcOf(IcrcStartOf(bytes.size()), summed));
    }
    Dispatch(i, bytes);
  }
  if (taken < batch.size()) side.connection->TakeBack(batch, taken);
  const bool moved = !batch.empty() || side.send_ring.size() != completed;
  batch.Clear();
  Act(i);
  return moved;
}

bool RcPair::Receive(int i) {
  RcSide& side = *sides[i];
  auto& flights = flights_[1 - i];
  if (flights.empty() || flights.begin()->first > now_us_) return false;
  const Flight flight = std::move(flights.begin()->second);
  flights.erase(flights.begin());
  if (flight.disconnect) {
    side.connection->OnPeerDisconnected();
    side.told = true;
  } else if (options_.corrupt_one_in == 0 ||
             roce::IcrcOk(IcrcStartOf(flight.bytes.size()), flight.bytes)) {
    roce::Packet packet;
    if (roce::ParsePacket(flight.bytes, &packet) != roce::PacketParse::kOk) std::abort();
    side.connection->OnPacket(packet, now_us_);
  }
  Act(i);
  return true;
}

void RcPair::Inject(int i, const roce::Packet& packet) {
  sides[i]->connection->OnPacket(packet, now_us_);
  Act(i);
}

bool RcPair::StepAll() {
  for (const auto& side : sides) side->connection->PayOwed();
  const bool sent = Transmit(0);
  const bool received = Receive(1);
  const bool answered = Transmit(1);
  return Receive(0) || sent || received || answered;
}

bool RcPair::AdvanceClock() {
  constexpr uint64_t kNever = ~uint64_t{0};
  uint64_t next_us = kNever;
  for (int i = 0; i < 2; ++i) {
    if (!flights_[i].empty()) next_us = std::min(next_us, flights_[i].begin()->first);
    const uint64_t deadline = sides[i]->connection->deadline_us();
    if (deadline != 0) next_us = std::min(next_us, deadline);
  }
  if (next_us == kNever) return false;
  now_us_ = std::max(now_us_, next_us);
  if (const uint64_t early_us = now_us_ % options_.turn_us; early_us > 0) {
    now_us_ += options_.turn_us - early_us;
  }
  for (int i = 0; i < 2; ++i) {
    const uint64_t deadline = sides[i]->connection->deadline_us();
    if (deadline == 0 || deadline > now_us_) continue;
    sides[i]->connection->OnTime(now_us_);
    Act(i);
  }
  return true;
}

bool RcPair::Run() {
  for (int steps = 0; steps < 2000000; ++steps) {
    if (!StepAll() && !AdvanceClock()) return true;
  }
  return false;
}

}  // namespace softdat::softnet::testing
