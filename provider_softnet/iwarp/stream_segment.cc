// SPDX-License-Identifier: BSD-3-Clause
// What a segment means: checks before its payload is touched, and what its last byte brings about.
#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/stream.h"

namespace softdat::softnet {

using iwarp::Opcode;
using transport::WorkStatus;

// The peer-to-peer model: the first FPDU is the ready-to-receive message that was agreed on (RFC
// 6581 §4).
bool Stream::CheckFirstFpdu(size_t payload) const {
  const iwarp::DdpHeader& h = rx_header_;
  switch (config_.agreement.rtr) {
    case Rtr::kNone:
      return true;
    case Rtr::kWrite:
      return h.opcode == Opcode::kWrite && payload == 0 && h.last;
    case Rtr::kRead:
      return h.opcode == Opcode::kReadRequest &&
             LoadBe32(staging_ + begin_ + iwarp::kUntaggedFpduHeaderSize + 12) == 0;
    case Rtr::kSend:
      return h.opcode == Opcode::kSend && payload == 0 && h.last;
  }
  return false;
}

// kGo: payload may follow. kWait: nothing of the segment was consumed, more bytes or a receive are
// needed.
Stream::Verdict Stream::StartSegment(size_t payload) {
  const iwarp::DdpHeader& h = rx_header_;
  // Messages of fixed form are short: they are taken whole.
  if (IsFixedForm(h) && !NeedBytes(iwarp::FpduSize(rx_ulpdu_))) return Verdict::kWait;
  if (!first_fpdu_seen_ && !config_.initiator && !CheckFirstFpdu(payload)) {
    BreakSegment(iwarp::kTermMpaNoMatchingRtr, Blame::Nobody(),
                 "the first message is not the ready-to-receive message that was agreed on");
    return Verdict::kStop;
  }
  if (!h.tagged) {
    const iwarp::TerminateCode order = rx_queues_[h.qn].Check(h);
    // A Terminate is evidence, never a reason to fail: its numbers are not looked at.
    if (!order.ok() && h.opcode != Opcode::kTerminate) {
      BreakSegment(order, Blame::Nobody(), "an untagged message out of order");
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
    verdict = TakeFixed({staging_ + begin_ + iwarp::kUntaggedFpduHeaderSize, payload});
  }
  // A message that waits for its receive has arrived all the same.
  if (verdict != Verdict::kStop && !first_fpdu_seen_) {
    first_fpdu_seen_ = true;
    actions_ |= kActEstablished;
  }
  return verdict;
}

// Zero-length tagged segments are not judged (RFC 5040 §5.1; Linux siw's RTR names STag 1).
Stream::Verdict Stream::StartWrite(size_t payload) {
  if (payload == 0) return Verdict::kGo;
  const AccessError error = config_.memory->Check(
      {rx_header_.stag, config_.pd, config_.qp, Access::kRemoteWrite, rx_header_.to, payload});
  if (error != AccessError::kNone) {
    RefusePlacement(error);
    return Verdict::kStop;
  }
  rx_cursor_ = {rx_header_.to, 0, 0};
  return Verdict::kGo;
}

Stream::Verdict Stream::StartReadResponse(size_t payload) {
  if (pending_front_ == pending_back_ || pending_[pending_front_ & pending_mask_].atomic) {
    BreakSegment(iwarp::kTermTaggedInvalidStag, Blame::Nobody(),
                 "a read response came that answers no read");
    return Verdict::kStop;
  }
  const PendingRead& read = pending_[pending_front_ & pending_mask_];
  iwarp::TerminateCode code = iwarp::kAccept;
  if (read.read.size == 0) {
    if (payload != 0 || !rx_header_.last) code = iwarp::kTermTaggedBounds;
  } else {
    code = iwarp::CheckReadResponse(
        rx_header_, payload,
        {read.read.sink_stag, read.read.sink_to + read.placed, read.read.size - read.placed});
  }
  if (!code.ok()) {
    BreakSegment(code, Blame::Send(read.position, WorkStatus::kBadResponse),
                 "a read response does not fit the oldest read");
    return Verdict::kStop;
  }
  rx_cursor_ = {rx_header_.to, 0, 0};
  return Verdict::kGo;
}

// The receive for a message on QN 0 that begins.
Stream::Verdict Stream::TakeReceive() {
  if (rx_receive_ != nullptr) return Verdict::kGo;
  if (config_.shared_receives != nullptr) {
    bool limit = false;
    rx_receive_ = config_.shared_receives->Take(&limit);
    if (limit) actions_ |= kActSharedLimit;
  } else {
    rx_receive_ = config_.receive_queue->Front();
  }
  if (rx_receive_ == nullptr) {
    Stall();
    return Verdict::kWait;
  }
  rx_receive_cursor_ = {};
  return config_.watermarks == nullptr || WithinWatermarks() ? Verdict::kGo : Verdict::kStop;
}

// Watermarks of a pair with an SRQ (semantics 11). TCP brings messages one after the other, so that
// a pair holds one buffer at most: that of the message which is arriving.
bool Stream::WithinWatermarks() {
  ReceiveWatermarks& marks = *config_.watermarks;
  const uint32_t held = held_receives();
  if (held > marks.soft) {
    marks.soft = transport::kNoWatermark;
    actions_ |= kActWatermark;
  }
  if (held <= marks.hard) return true;
  Break(iwarp::kTermDdpLocalCatastrophic, {}, 0, Blame::Nobody(),
        "the endpoint holds " + std::to_string(held) +
            " receives of its SRQ, more than the hard high watermark of " +
            std::to_string(marks.hard));
  return false;
}

void Stream::OnWatermarksSet() {
  if (phase_ <= Phase::kDraining && config_.watermarks != nullptr) WithinWatermarks();
}

Stream::Verdict Stream::StartSend(size_t payload) {
  // A Send as RTR is the start-up's, not the consumer's: it takes no receive.
  if (!first_fpdu_seen_ && !config_.initiator && config_.agreement.rtr == Rtr::kSend) {
    return Verdict::kGo;
  }
  const Verdict verdict = TakeReceive();
  if (verdict != Verdict::kGo) return verdict;
  const iwarp::TerminateCode fits = iwarp::CheckFits(rx_header_, payload, rx_receive_->length);
  if (!fits.ok()) {
    BreakSegment(fits, Blame::Receive(WorkStatus::kLocalLength),
                 "a message is longer than the receive buffer of " +
                     std::to_string(rx_receive_->length) + " bytes");
    return Verdict::kStop;
  }
  rx_cursor_ = rx_receive_cursor_;
  return Verdict::kGo;
}

// Messages that are taken whole. Their payload counts as received when this returns kGo.
Stream::Verdict Stream::TakeFixed(ByteSpan payload) {
  switch (rx_header_.opcode) {
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
      TakeTerminate(payload);
      break;
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
  return phase_ > Phase::kDraining ? Verdict::kStop : Verdict::kGo;
}

// The last byte of the segment's payload is in place.
void Stream::FinishSegment() {
  const iwarp::DdpHeader& h = rx_header_;
  if (h.opcode == Opcode::kWrite) {
    if (!write_open_) write_length_ = 0;
    write_length_ += rx_payload_size_;
    write_open_ = !h.last;
    write_in_front_ = h.last;
    return;
  }
  write_in_front_ = false;
  if (!h.tagged) rx_queues_[h.qn].Advance(h, rx_payload_size_);
  if (h.opcode == Opcode::kReadResponse) {
    PendingRead& read = pending_[pending_front_ & pending_mask_];
    read.placed += static_cast<uint32_t>(rx_payload_size_);
    if (h.last) FinishOldestRead();
  } else if (iwarp::IsSend(h.opcode) && rx_receive_ != nullptr) {
    rx_receive_cursor_ = rx_cursor_;
    if (h.last) FinishSend();
  }
}

void Stream::FinishSend() {
  const iwarp::DdpHeader& h = rx_header_;
  const uint64_t length = uint64_t{h.mo} + rx_payload_size_;
  if (!iwarp::HasInvalidate(h.opcode)) {
    return CompleteReceive(transport::Op::kReceive, length, 0, iwarp::IsSolicited(h.opcode));
  }
  const AccessError error = config_.memory->Invalidate(h.stag, config_.pd, config_.qp);
  if (error != AccessError::kNone) {
    ++counters_.remote_accesses_refused;
    return BreakSegment(
        iwarp::kTermRemoteCannotInvalidate, Blame::Receive(WorkStatus::kLocalProtection),
        std::string("the peer asked to invalidate a context: ") + AccessErrorText(error));
  }
  CompleteReceive(transport::Op::kReceiveInvalidate, length, h.stag, iwarp::IsSolicited(h.opcode));
}

// RFC 7306 §7: the data of the write before it are placed, this takes a receive without filling it.
// The message itself does not say how much was written; the write directly in front of it does.
void Stream::TakeImmediate(ByteSpan payload) {
  uint32_t value = 0;
  iwarp::ParseImmediate(payload, &value);
  CompleteReceive(transport::Op::kReceiveImmediate, write_in_front_ ? write_length_ : 0, value,
                  iwarp::IsSolicited(rx_header_.opcode));
}

void Stream::CompleteReceive(transport::Op op, uint64_t length, uint32_t key, bool solicited) {
  transport::Completion c;
  c.context = config_.context;
  c.cookie = rx_receive_->cookie;
  c.flags = rx_receive_->flags & transport::kEchoed;
  if (config_.solicited_receives && !solicited) c.flags |= transport::kQuiet;
  c.length = length;
  c.key = key;
  c.op = op;
  c.solicited = solicited;
  // The slot is free before the completion can be seen: a consumer may post from its event at once.
  if (config_.shared_receives != nullptr) {
    config_.shared_receives->Release(rx_receive_);
  } else {
    config_.receive_queue->PopFront();
  }
  rx_receive_ = nullptr;
  PushReceive(c);
}

}  // namespace softdat::softnet
