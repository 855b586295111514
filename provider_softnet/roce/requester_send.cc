// SPDX-License-Identifier: BSD-3-Clause
// Requester: packets out.
#include <algorithm>
#include <bit>
#include <utility>

#include "provider_softnet/queue/work_kinds.h"
#include "provider_softnet/roce/immediate_order.h"
#include "provider_softnet/roce/requester.h"

namespace softdat::softnet {

using roce::Opcode;
using transport::Op;
using transport::WorkStatus;

namespace {

// Bytes that one read request asks for at most.
constexpr uint32_t kReadPiece = 64 * 1024;
// Packets after which the peer is asked to acknowledge, if no message ends before.
constexpr uint32_t kAckEvery = 16;

uint32_t PacketsOf(uint64_t length, uint32_t mtu) {
  return length == 0 ? 1 : static_cast<uint32_t>((length + mtu - 1) / mtu);
}

uint64_t CodedTimeoutUs(const RcConfig& config) {
  // Rounded up: the unit is 4.096 us.
  return config.ack_timeout == 0 ? 0 : ((uint64_t{4096} << config.ack_timeout) + 999) / 1000;
}

uint64_t LongestTimeoutUs(const RcConfig& config) {
  constexpr uint64_t kLongestUs = 4'000'000;
  const uint64_t coded = CodedTimeoutUs(config);
  return coded == 0 ? kLongestUs : std::min(coded, kLongestUs);
}

enum class Place : uint8_t { kFirst, kMiddle, kLast, kOnly };

Opcode SendOpcode(const SendWork& work, Place place) {
  const bool invalidates = work.op == Op::kSendInvalidate;
  switch (place) {
    case Place::kFirst:
      return Opcode::kSendFirst;
    case Place::kMiddle:
      return Opcode::kSendMiddle;
    case Place::kLast:
      return invalidates ? Opcode::kSendLastInvalidate : Opcode::kSendLast;
    case Place::kOnly:
      break;
  }
  return invalidates ? Opcode::kSendOnlyInvalidate : Opcode::kSendOnly;
}

Opcode WriteOpcode(const SendWork& work, Place place) {
  const bool immediate = work.op == Op::kRdmaWriteImmediate;
  switch (place) {
    case Place::kFirst:
      return Opcode::kWriteFirst;
    case Place::kMiddle:
      return Opcode::kWriteMiddle;
    case Place::kLast:
      return immediate ? Opcode::kWriteLastImmediate : Opcode::kWriteLast;
    case Place::kOnly:
      break;
  }
  return immediate ? Opcode::kWriteOnlyImmediate : Opcode::kWriteOnly;
}

}  // namespace

Requester::Requester(RcState* state, WorkLedger* ledger)
    : state_(*state),
      ledger_(*ledger),
      read_piece_(std::max(1u, kReadPiece / state->config.mtu)),
      patience_us_(CodedTimeoutUs(state->config) * (1 + state->config.retry_count)),
      plan_mask_(std::bit_ceil(uint64_t{ledger->sends().capacity()}) - 1),
      plans_(plan_mask_ + 1),
      una_(FirstPsn(state->config.send_psn)),
      cursor_(una_),
      sent_(una_),
      next_psn_(una_),
      answered_(ledger->sends().back()),
      position_(answered_),
      begun_(answered_),
      window_(state->config.first_window, state->config.most_window),
      round_trip_(LongestTimeoutUs(state->config)),
      taken_(una_) {
  asked_.reserve(state->config.reads_out);
}

// What has arrived behind something that is missing takes no room on the way. Of responses that is
// known. A peer that keeps requests does not tell which, and is trusted with as many again.
[[gnu::hot]] uint64_t Requester::MostInFlight() const {
  const uint64_t window = window_.packets();
  uint64_t most = window + received_.size();
  if (mending_ && keeps_ == Keeps::kYes) {
    most = std::max(most, std::min<uint64_t>(2 * window, state_.config.most_window));
  }
  return std::min(most, PsnSet::kSpan - std::min(PsnSet::kSpan - 1, uint64_t{read_piece_}));
}

// Whether the work at the cursor may be begun, or gone on with.
[[gnu::hot]] bool Requester::MayBegin(const SendWork& work) const {
  const bool fresh = position_ == begun_;
  if (fresh && (work.flags & transport::kFence) != 0 && unanswered_reads_ > 0) return false;
  if (work.op == Op::kBind) return true;
  if (in_flight() >= MostInFlight()) return false;
  return !TakesReadCredit(work) || asked_.size() < state_.config.reads_out;
}

[[gnu::hot]] bool Requester::wants_transmit() const {
  if (!mends_.empty() && !waits_for_receive_) return true;
  if (waits_for_receive_ || position_ >= std::min(sends().back(), stop_at_)) return false;
  return MayBegin(sends().at(position_));
}

[[gnu::hot]] void Requester::Offer(PacketBatch* batch, uint64_t now_us) {
  now_us_ = now_us;
  offered_from_ = cursor_;
  if (!mends_.empty() && !waits_for_receive_ && !EmitMends(batch)) return;
  while (wants_transmit()) {
    SendWork& work = sends().at(position_);
    if (!batch->HasRoom(std::max(work.segment_count, 1u))) break;
    // A bind waits until nobody uses the memory, this batch included.
    if (work.op == Op::kBind && position_ == begun_ && batch->holds_memory()) break;
    if (position_ == begun_ && !Begin(&work)) break;
    if (work.op == Op::kBind) {
      ++position_;
    } else if (work.op == Op::kRdmaRead) {
      const Psn from = cursor_;
      const uint32_t end = PieceEnd(plan(position_), from);
      const uint32_t packets = EmitRead(work, end, batch);
      asked_.push_back({from, from + packets});
      MoveCursor(packets);
    } else if (TakesReadCredit(work)) {
      EmitAtomic(work, batch);
      asked_.push_back({cursor_, cursor_ + 1});
      MoveCursor(1);
    } else if (EmitData(work, batch)) {
      MoveCursor(1);
    } else {
      break;
    }
  }
  window_limits_ = in_flight() >= MostInFlight() || wants_transmit();
  if (in_flight() > 0) StartTimer();
  sent_ = std::max(sent_, cursor_);
}

// The work at the cursor gets its PSNs. False when it has failed.
[[gnu::hot]] bool Requester::Begin(SendWork* work) {
  Plan& p = plan(position_);
  p.first = next_psn_;
  p.packets = 0;
  if (work->op == Op::kBind) {
    if (!CarryOutBind(work)) return false;
  } else if (work->op == Op::kFetchAdd || work->op == Op::kCompareSwap) {
    p.packets = 1;
  } else {
    p.packets = PacketsOf(work->length, state_.config.mtu);
  }
  if (TakesReadCredit(*work)) ++unanswered_reads_;
  next_psn_ = p.end();
  ++begun_;
  return true;
}

// In send-queue order: what was posted later is begun later (semantics 7.3, implicit barrier).
bool Requester::CarryOutBind(SendWork* work) {
  const AccessError error = ledger_.CarryOutBind(*work);
  if (error != AccessError::kNone) {
    FailHere(WorkStatus::kBindFailed,
             std::string("a window cannot be bound: ") + AccessErrorText(error));
    return false;
  }
  work->done = true;
  if (answered_ == position_) ++answered_;
  state_.unsettled = true;
  return true;
}

// The work at the cursor cannot be carried out at this end.
void Requester::FailHere(WorkStatus status, std::string why) {
  stop_at_ = position_;
  local_failure_.reset(new LocalFailure{position_, status, std::move(why)});
  state_.unsettled = true;
}

// One packet of a send or write, from the consumer's memory. False when that cannot be read.
[[gnu::hot]] bool Requester::EmitData(const SendWork& work, PacketBatch* batch) {
  const Plan& p = plan(position_);
  const uint32_t index = static_cast<uint32_t>(cursor_ - p.first);
  const bool ends = index + 1 == p.packets;
  const uint64_t offset = uint64_t{index} * state_.config.mtu;
  const size_t payload =
      static_cast<size_t>(std::min<uint64_t>(work.length - offset, state_.config.mtu));
  const Place place =
      index == 0 ? (ends ? Place::kOnly : Place::kFirst) : (ends ? Place::kLast : Place::kMiddle);
  OutgoingPacket& out = batch->Begin();
  if (!FillPayload(offset, payload, batch)) return false;
  roce::Packet packet;
  if (IsWrite(work.op)) {
    packet.bth.opcode = WriteOpcode(work, place);
    packet.headers.reth = {work.remote.address, work.remote.key,
                           static_cast<uint32_t>(work.length)};
    packet.headers.immediate = ImmediateOrder(work.key);
  } else {
    packet.bth.opcode = SendOpcode(work, place);
    packet.headers.invalidate_rkey = work.key;
  }
  packet.bth.solicited = ends && (work.flags & transport::kSolicited) != 0;
  const bool asks = ends || ++since_ack_request_ >= kAckEvery || in_flight() + 1 >= MostInFlight();
  if (asks) since_ack_request_ = 0;
  packet.bth.ack_request = asks;
  Finish(&out, packet, payload, batch);
  return true;
}

[[gnu::hot]] bool Requester::FillPayload(uint64_t offset, size_t size, PacketBatch* batch) {
  for (const Segment& s : sends().segments(position_)) {
    if (size == 0) break;
    if (offset >= s.segment_length) {
      offset -= s.segment_length;
      continue;
    }
    const uint64_t piece = std::min<uint64_t>(size, s.segment_length - offset);
    const AccessError error = batch->Add(
        state_.memory(),
        state_.Access(s.lmr_context, Access::kLocalRead, s.virtual_address + offset, piece));
    if (error != AccessError::kNone) {
      FailHere(WorkStatus::kLocalProtection,
               std::string(cursor_ < sent_ ? "memory to be sent again cannot be read: "
                                           : "memory to be sent cannot be read: ") +
                   AccessErrorText(error));
      return false;
    }
    size -= piece;
    offset = 0;
  }
  return true;
}

// Pieces of a read begin at the same places whenever they are asked for, so that one which is asked
// for again lies within one that the peer remembers.
uint32_t Requester::PieceEnd(const Plan& p, Psn psn) const {
  const uint32_t index = static_cast<uint32_t>(psn - p.first);
  return std::min((index / read_piece_ + 1) * read_piece_, p.packets);
}

// Asks for the responses from the cursor to the one with index `end`. Returns how many these are.
uint32_t Requester::EmitRead(const SendWork& work, uint32_t end, PacketBatch* batch) {
  const Plan& p = plan(position_);
  const uint32_t index = static_cast<uint32_t>(cursor_ - p.first);
  const uint64_t offset = uint64_t{index} * state_.config.mtu;
  const uint64_t to = std::min(uint64_t{end} * state_.config.mtu, work.length);
  roce::Packet packet;
  packet.bth.opcode = Opcode::kReadRequest;
  packet.bth.ack_request = true;
  packet.headers.reth = {work.remote.address + offset, work.remote.key,
                         static_cast<uint32_t>(to - offset)};
  OutgoingPacket& out = batch->Begin();
  Finish(&out, packet, 0, batch);
  return end - index;
}

void Requester::EmitAtomic(const SendWork& work, PacketBatch* batch) {
  roce::Packet packet;
  packet.bth.opcode = work.op == Op::kFetchAdd ? Opcode::kFetchAdd : Opcode::kCompareSwap;
  packet.bth.ack_request = true;
  packet.headers.atomic = {work.remote.address, work.remote.key, work.remote.swap_or_add,
                           work.op == Op::kFetchAdd ? 0 : work.remote.compare};
  OutgoingPacket& out = batch->Begin();
  Finish(&out, packet, 0, batch);
}

// Sends again what is missing. False when the batch is full, or something cannot be sent.
bool Requester::EmitMends(PacketBatch* batch) {
  bool whole = true;
  while (whole && !mends_.empty()) whole = EmitMend(mends_.First(una_), batch);
  timed_.reset();
  mending_ = true;
  resend_at_us_ = now_us_ + WaitUs();
  return whole;
}

bool Requester::EmitMend(Psn psn, PacketBatch* batch) {
  const uint64_t at = PositionOf(psn);
  const SendWork& work = sends().at(at);
  if (at >= stop_at_) {
    mends_.Remove(psn);
    return true;
  }
  if (!batch->HasRoom(std::max(work.segment_count, 1u))) return false;
  const Psn cursor = std::exchange(cursor_, psn);
  const uint64_t position = std::exchange(position_, at);
  bool sent = true;
  uint32_t packets = 1;
  if (work.op == Op::kRdmaRead) {
    const Plan& p = plan(at);
    const uint32_t most = PieceEnd(p, psn);
    uint32_t end = static_cast<uint32_t>(psn - p.first) + 1;
    while (end < most && mends_.Has(p.first + end)) ++end;
    packets = EmitRead(work, end, batch);
  } else if (TakesReadCredit(work)) {
    EmitAtomic(work, batch);
  } else {
    since_ack_request_ = kAckEvery;  // it is to be answered at once
    sent = EmitData(work, batch);
  }
  cursor_ = cursor;
  position_ = position;
  mends_.RemoveAll(psn, psn + packets);
  return sent;
}

// Completes the packet at the cursor, whose opcode and extended headers are set.
[[gnu::hot]] void Requester::Finish(OutgoingPacket* out, const roce::Packet& packet, size_t payload,
                                    PacketBatch* batch) {
  roce::Packet whole = packet;
  whole.bth.migrated = true;
  whole.bth.pkey = state_.config.pkey;
  whole.bth.dest_qpn = state_.config.peer_qpn;
  whole.bth.psn = WirePsn(cursor_);
  out->header_size = static_cast<uint8_t>(roce::EncodeHeaders(whole, payload, out->header));
  batch->Commit();
  ++state_.counters.packets_sent;
  if (cursor_ < sent_) {
    ++state_.counters.requests_resent;
  } else if (packet.bth.ack_request && !timed_) {
    timed_ = cursor_;
    timed_at_us_ = now_us_;
  }
}

void Requester::MoveCursor(uint32_t packets) {
  cursor_ += packets;
  if (cursor_ == plan(position_).end()) ++position_;
}

// How long an answer is waited for. The peer answers at once what was sent again, and a window that
// is full. Other answers it may leave to its helper.
[[gnu::hot]] uint64_t Requester::WaitUs() const {
  if (probes_ == kMostProbes) return round_trip_.timeout_us();
  const bool at_once = mending_ || (window_limits_ && in_flight() >= kAckEvery);
  const uint64_t once_us = at_once ? round_trip_.quick_probe_us() : round_trip_.probe_us();
  return std::min(once_us << probes_, round_trip_.timeout_us());
}

void Requester::StartTimer() {
  if (resend_at_us_ != 0) return;
  resend_at_us_ = now_us_ + WaitUs();
  if (silent_since_us_ == 0) silent_since_us_ = now_us_;
}

void Requester::TakeBack(uint32_t wire_psn) {
  const Psn psn = NearestPsn(wire_psn, cursor_);
  if (psn < una_ || psn >= cursor_) return;
  if (psn < offered_from_) {  // it was sent again by itself
    const uint64_t at = PositionOf(psn);
    const Psn end = plan(at).first + PieceEnd(plan(at), psn);
    const bool read = sends().at(at).op == Op::kRdmaRead;
    for (Psn p = psn; p < (read ? end : psn + 1); ++p) {
      if (!received_.Has(p)) mends_.Add(p);
    }
    return;
  }
  if (timed_ && *timed_ >= psn) timed_.reset();
  Rewind(psn);
}

}  // namespace softdat::softnet
