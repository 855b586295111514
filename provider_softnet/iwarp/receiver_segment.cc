// SPDX-License-Identifier: BSD-3-Clause
// Receiver: the meaning of a segment: the checks before its payload is touched, and the effects of
// its last byte.
#include <string>

#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/receiver.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using iwarp::Opcode;
using transport::WorkStatus;

// The peer-to-peer model: the first FPDU must be the agreed ready-to-receive message (RFC 6581 §4).
bool Receiver::CheckFirstFpdu(size_t payload) const {
  const iwarp::DdpHeader& h = header_;
  switch (state_.config.agreement.rtr) {
    case Rtr::kNone:
      return true;
    case Rtr::kWrite:
      return h.opcode == Opcode::kWrite && payload == 0 && h.last;
    case Rtr::kRead:
      return h.opcode == Opcode::kReadRequest &&
             LoadBe32(staging_.front() + iwarp::kUntaggedFpduHeaderSize + 12) == 0;
    case Rtr::kSend:
      return h.opcode == Opcode::kSend && payload == 0 && h.last;
  }
  return false;
}

// kGo: payload may follow. kWait: no part of the segment was consumed, and more bytes or a receive
// are needed.
[[gnu::hot]] Receiver::Verdict Receiver::StartSegment(size_t payload) {
  const iwarp::DdpHeader& h = header_;
  // Messages of fixed form are short, so they are taken whole.
  if (IsFixedForm(h) && !staging_.Need(iwarp::FpduSize(ulpdu_))) return Verdict::kWait;
  if (!state_.first_fpdu_seen && !state_.config.initiator && !CheckFirstFpdu(payload)) {
    FailSegment(iwarp::kTermMpaNoMatchingRtr, Blame::Nobody(),
                "the first message is not the ready-to-receive message that was agreed on");
    return Verdict::kStop;
  }
  if (!h.tagged) {
    const iwarp::TerminateCode order = queues_[h.qn].Check(h);
    // A Terminate is evidence and never a reason to fail, so its numbers are not checked.
    if (!order.ok() && h.opcode != Opcode::kTerminate) {
      FailSegment(order, Blame::Nobody(), "an untagged message out of order");
      return Verdict::kStop;
    }
  }
  Verdict verdict = Verdict::kGo;
  if (h.opcode == Opcode::kWrite) {
    verdict = StartWrite(payload);
  } else if (h.opcode == Opcode::kReadResponse) {
    verdict = StartReadResponse(payload);
  } else if (iwarp::IsSend(h.opcode)) {
    verdict = StartSend(payload);
  } else {
    verdict = TakeFixed({staging_.front() + iwarp::kUntaggedFpduHeaderSize, payload});
  }
  // A message that waits for its receive has arrived nevertheless.
  if (verdict != Verdict::kStop && !state_.first_fpdu_seen) {
    state_.first_fpdu_seen = true;
    state_.established_due = true;
  }
  return verdict;
}

// Zero-length tagged segments are not checked (RFC 5040 §5.1; Linux siw's RTR names STag 1).
Receiver::Verdict Receiver::StartWrite(size_t payload) {
  if (payload == 0) return Verdict::kGo;
  const AccessError error =
      state_.memory().Check(state_.Access(header_.stag, Access::kRemoteWrite, header_.to, payload));
  if (error != AccessError::kNone) {
    RefusePlacement(error);
    return Verdict::kStop;
  }
  cursor_ = {header_.to, 0, 0};
  return Verdict::kGo;
}

Receiver::Verdict Receiver::StartReadResponse(size_t payload) {
  if (own_.empty() || own_.oldest().atomic) {
    FailSegment(iwarp::kTermTaggedInvalidStag, Blame::Nobody(),
                "a read response came that answers no read");
    return Verdict::kStop;
  }
  const OwnRequest& request = own_.oldest();
  iwarp::TerminateCode code = iwarp::kAccept;
  if (request.read.size == 0) {
    if (payload != 0 || !header_.last) code = iwarp::kTermTaggedBounds;
  } else {
    code = iwarp::CheckReadResponse(header_, payload,
                                    {request.read.sink_stag, request.read.sink_to + request.placed,
                                     request.read.size - request.placed});
  }
  if (!code.ok()) {
    FailSegment(code, Blame::Send(request.position, WorkStatus::kBadResponse),
                "a read response does not fit the oldest read");
    return Verdict::kStop;
  }
  cursor_ = {header_.to, 0, 0};
  return Verdict::kGo;
}

// Takes the receive for a message on QN 0 that begins.
Receiver::Verdict Receiver::TakeReceive() {
  if (ledger_.held() != nullptr) return Verdict::kGo;
  if (!ledger_.TakeReceive()) {
    stalled_ = true;
    ++state_.counters.stalls;
    return Verdict::kWait;
  }
  receive_cursor_ = {};
  if (ledger_.config().watermarks == nullptr) [[likely]]
    return Verdict::kGo;
  return WithinWatermarks() ? Verdict::kGo : Verdict::kStop;
}

// The hard watermark (semantics 11). TCP brings messages one after the other, so a pair holds at
// most one buffer: that of the arriving message.
bool Receiver::WithinWatermarks() {
  if (ledger_.config().watermarks == nullptr || ledger_.WithinWatermarks()) return true;
  state_.Fail(iwarp::kTermDdpLocalCatastrophic, {}, 0, Blame::Nobody(),
              "the endpoint holds " + std::to_string(ledger_.held_receives()) +
                  " receives of its SRQ, more than the hard high watermark of " +
                  std::to_string(ledger_.config().watermarks->hard));
  return false;
}

Receiver::Verdict Receiver::StartSend(size_t payload) {
  // A Send as ready-to-receive message belongs to the start-up, not to the consumer. It takes no
  // receive.
  if (!state_.first_fpdu_seen && !state_.config.initiator &&
      state_.config.agreement.rtr == Rtr::kSend) {
    return Verdict::kGo;
  }
  const Verdict verdict = TakeReceive();
  if (verdict != Verdict::kGo) return verdict;
  const iwarp::TerminateCode fits = iwarp::CheckFits(header_, payload, ledger_.held()->length);
  if (!fits.ok()) {
    FailTooLong(fits);
    return Verdict::kStop;
  }
  cursor_ = receive_cursor_;
  return Verdict::kGo;
}

void Receiver::FailTooLong(iwarp::TerminateCode code) {
  FailSegment(code, Blame::Receive(WorkStatus::kLocalLength),
              "a message is longer than the receive buffer of " +
                  std::to_string(ledger_.held()->length) + " bytes");
}

// Handles messages that are taken whole. When this returns kGo, their payload counts as received.
Receiver::Verdict Receiver::TakeFixed(ByteSpan payload) {
  switch (header_.opcode) {
    case Opcode::kReadRequest:
      TakeReadRequest(payload);
      break;
    case Opcode::kAtomicRequest:
      TakeAtomicRequest(payload);
      break;
    case Opcode::kAtomicResponse:
      TakeAtomicResponse(payload);
      break;
    case Opcode::kTerminate:
      terminate_ = payload;
      state_.unsettled = true;
      return Verdict::kStop;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited: {
      const Verdict verdict = TakeReceive();
      if (verdict != Verdict::kGo) return verdict;
      TakeImmediate(payload);
      break;
    }
    default:
      break;
  }
  return state_.failure != nullptr ? Verdict::kStop : Verdict::kGo;
}

// The last byte of the segment's payload has been placed.
[[gnu::hot]] void Receiver::FinishSegment() {
  const iwarp::DdpHeader& h = header_;
  if (h.opcode == Opcode::kWrite) return FinishWrite();
  write_in_front_ = false;
  if (!h.tagged) queues_[h.qn].Advance(h, payload_size_);
  if (h.opcode == Opcode::kReadResponse) {
    own_.oldest().placed += static_cast<uint32_t>(payload_size_);
    if (h.last) FinishOldestRead();
  } else if (iwarp::IsSend(h.opcode) && ledger_.held() != nullptr) {
    receive_cursor_ = cursor_;
    if (h.last) FinishSend();
  }
}

void Receiver::FinishWrite() {
  const iwarp::DdpHeader& h = header_;
  if (IsPartingWord(h, payload_size_)) [[unlikely]] {
    parting_word_ = ParsePartingOffset(h.to);
    state_.unsettled = true;
    return;
  }
  if (!write_open_) write_length_ = 0;
  write_length_ += payload_size_;
  write_open_ = !h.last;
  write_in_front_ = h.last;
  writes_ += h.last;
  // Nobody waits to hear that the ready-to-receive message came.
  const bool is_rtr = payload_size_ == 0 && !state_.config.initiator &&
                      state_.config.agreement.rtr == Rtr::kWrite &&
                      carried_out() == TransferCounts{.messages = 0, .writes = 1};
  if (is_rtr) asked_ = carried_out();
}

void Receiver::FinishSend() {
  const iwarp::DdpHeader& h = header_;
  const uint64_t length = uint64_t{h.mo} + payload_size_;
  if (!iwarp::HasInvalidate(h.opcode)) {
    return ledger_.CompleteReceive(transport::Op::kReceive, length, 0,
                                   iwarp::IsSolicited(h.opcode));
  }
  const WorkLedgerConfig& work = ledger_.config();
  const AccessError error = state_.memory().Invalidate(h.stag, work.pd, work.qp);
  if (error != AccessError::kNone) {
    ++state_.counters.remote_accesses_refused;
    return FailSegment(iwarp::kTermRemoteCannotInvalidate,
                       Blame::Receive(WorkStatus::kLocalProtection),
                       "the peer asked to invalidate a context: ", AccessErrorText(error));
  }
  ledger_.CompleteReceive(transport::Op::kReceiveInvalidate, length, h.stag,
                          iwarp::IsSolicited(h.opcode));
}

// RFC 7306 §7: the data of the preceding write are placed. The immediate data take a receive
// without filling it. The message itself does not say how much was written, but the write directly
// in front of it does.
void Receiver::TakeImmediate(ByteSpan payload) {
  uint32_t value = 0;
  iwarp::ParseImmediate(payload, &value);
  ledger_.CompleteReceive(transport::Op::kReceiveImmediate, write_in_front_ ? write_length_ : 0,
                          value, iwarp::IsSolicited(header_.opcode));
}

}  // namespace softdat::softnet
