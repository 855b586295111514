// SPDX-License-Identifier: BSD-3-Clause
// Requester: acknowledgements and responses of the peer, and what becomes of requests without any.
#include <algorithm>
#include <cstring>
#include <utility>

#include "provider_softnet/memory/polled_copy.h"
#include "provider_softnet/queue/work_kinds.h"
#include "provider_softnet/roce/requester.h"

namespace softdat::softnet {

using roce::AethKind;
using roce::NakCode;
using transport::Op;
using transport::WorkStatus;

// -------------------------------------------------------------------------------------------------
// What is over

// Everything in front of `end` has arrived at the peer. Goes as far as the first read or atomic,
// which only its own response ends. Returns how many packets are over.
uint64_t Requester::AnswerUpTo(Psn end) {
  const Psn before = una_;
  PassBinds();
  while (una_ < end && answered_ < begun_) {
    SendWork& work = sends().at(answered_);
    if (TakesReadCredit(work)) break;
    const Psn last = plan(answered_).end();
    if (end < last) {
      una_ = end;
      break;
    }
    una_ = last;
    work.done = true;
    state_.unsettled = true;
    ++answered_;
    PassBinds();
  }
  return una_ - before;
}

void Requester::PassBinds() {
  while (answered_ < begun_ && plan(answered_).packets == 0) ++answered_;
}

// The peer has moved on by so many packets.
void Requester::Progress(uint64_t packets, uint64_t now_us) {
  if (packets == 0) return;
  if (timed_ && una_ > *timed_) {
    round_trip_.OnSample(now_us - timed_at_us_);
    timed_.reset();
  }
  round_trip_.OnProgress();
  // A window that was never full shows nothing about the path.
  if (window_limits_) window_.OnAcknowledged(packets);
  again_answered_ = true;
  rnr_naks_ = 0;
  waits_for_receive_ = false;  // for one that is answered by now
  if (local_failure_ != nullptr && answered_ > local_failure_->position) {
    local_failure_.reset();  // it had arrived when it could not be sent again
    stop_at_ = ~uint64_t{0};
  }
  if (cursor_ < una_) {  // what was to be sent again has arrived after all
    cursor_ = una_;
    position_ = answered_;
  }
  while (!asked_.empty() && asked_.front().end <= una_) asked_.erase(asked_.begin());
  const bool waits = in_flight() > 0;
  resend_at_us_ = waits ? now_us + round_trip_.timeout_us() : 0;
  silent_since_us_ = waits ? now_us : 0;
}

// Everything from `psn` on is sent again.
void Requester::Rewind(Psn psn) {
  timed_.reset();
  while (!asked_.empty() && asked_.back().end > psn) asked_.pop_back();
  cursor_ = psn;
  uint64_t at = answered_;
  while (at < begun_ && (plan(at).packets == 0 || plan(at).end() <= psn)) ++at;
  position_ = at;
  since_ack_request_ = 0;
  if (in_flight() == 0) resend_at_us_ = 0;
}

// The work that has una_ cannot be carried out.
void Requester::FailOldest(WorkStatus status, std::string why, bool by_peer) {
  state_.Fail(Blame::Send(answered_, status), std::move(why), by_peer);
}

// -------------------------------------------------------------------------------------------------
// Acknowledgements

void Requester::OnAcknowledge(const roce::Packet& packet, uint64_t now_us) {
  const Psn psn = NearestPsn(packet.bth.psn, una_);
  if (psn >= sent_) return;  // of nothing that was ever sent
  const roce::Syndrome syndrome = roce::ParseSyndrome(packet.headers.aeth.syndrome);
  switch (syndrome.kind) {
    case AethKind::kAck:
      Progress(AnswerUpTo(psn + 1), now_us);
      if (una_ <= psn) OnGap(psn);
      return;
    case AethKind::kRnrNak:
      if (psn < una_) return;
      Progress(AnswerUpTo(psn), now_us);
      return una_ == psn ? OnRnrNak(psn, syndrome.code, now_us) : OnGap(psn);
    case AethKind::kNak:
      if (psn < una_) return;
      Progress(AnswerUpTo(psn), now_us);
      return una_ == psn ? OnNak(psn, syndrome.code, now_us) : OnGap(psn);
    case AethKind::kReserved:
      return;
  }
}

// `psn` is answered, and responses in front of it are missing. They are asked for again, once: what
// was on its way meanwhile comes out of turn too. Such answers have rising PSNs, and those to what
// is sent again begin at una_ once more. So an answer that is not behind the last one belongs to
// the latter, and what is still missing then is lost again.
void Requester::OnGap(Psn psn) {
  const bool known = una_ < recovery_end_;
  if (known && !again_answered_ && psn > out_of_turn_) {
    out_of_turn_ = psn;
    return;
  }
  if (!known) {
    window_.OnLoss();
    recovery_end_ = sent_;
  }
  Rewind(una_);
  again_answered_ = false;
  out_of_turn_ = psn;
}

void Requester::OnRnrNak(Psn psn, uint8_t timer, uint64_t now_us) {
  ++state_.counters.rnr_naks_received;
  if (waits_for_receive_) return;
  const uint8_t most = state_.config.rnr_retry_count;
  if (most != kRnrRetryForever && rnr_naks_ >= most) {
    return FailOldest(WorkStatus::kReceiverNotReady, "the peer has posted no receive for a message",
                      true);
  }
  ++rnr_naks_;
  Rewind(psn);
  waits_for_receive_ = true;
  receive_wait_until_us_ = now_us + roce::RnrTimerUs(timer);
  resend_at_us_ = silent_since_us_ = 0;
}

void Requester::OnNak(Psn psn, uint8_t code, uint64_t now_us) {
  switch (static_cast<NakCode>(code)) {
    case NakCode::kPsnSequence:
      ++state_.counters.naks_received;
      if (GivesUp(now_us)) return;
      if (una_ >= recovery_end_) {
        window_.OnLoss();
        recovery_end_ = sent_;
      }
      return Rewind(psn);
    case NakCode::kRemoteAccess:
      return FailOldest(WorkStatus::kRemoteAccess,
                        "the peer refuses an access to its memory (NAK remote access error)", true);
    case NakCode::kRemoteOperational:
      return FailOldest(WorkStatus::kRemoteResponder,
                        "the peer cannot carry out a request (NAK remote operational error)", true);
    case NakCode::kInvalidRequest:
    case NakCode::kInvalidRdRequest:
      return FailOldest(WorkStatus::kRemoteResponder,
                        "the peer does not take a request (NAK invalid request)", true);
  }
}

// -------------------------------------------------------------------------------------------------
// Responses

// Whether the response is the next one of the oldest read, or of the oldest atomic.
bool Requester::IsExpectedResponse(const roce::Packet& packet) const {
  if (answered_ >= begun_) return false;
  const SendWork& work = sends().at(answered_);
  const bool read = roce::TraitsOf(packet.bth.opcode).operation == roce::Operation::kReadResponse;
  return TakesReadCredit(work) && read == (work.op == Op::kRdmaRead);
}

void Requester::OnReadResponse(const roce::Packet& packet, uint64_t now_us) {
  const Psn psn = NearestPsn(packet.bth.psn, una_);
  if (psn < una_ || psn >= sent_) return;
  Progress(AnswerUpTo(psn), now_us);
  if (una_ != psn) return OnGap(psn);
  if (!IsExpectedResponse(packet)) {
    return FailOldest(WorkStatus::kBadResponse, "a read response answers no read", true);
  }
  SendWork& work = sends().at(answered_);
  const Plan& p = plan(answered_);
  const uint64_t offset = (psn - p.first) * state_.config.mtu;
  const uint64_t size = std::min<uint64_t>(work.length - offset, state_.config.mtu);
  if (packet.payload.size() != size) {
    return FailOldest(WorkStatus::kBadResponse, "a read response has a wrong length", true);
  }
  if (!PlaceResponse(work, offset, packet.payload)) return;
  ++una_;
  if (una_ == p.end()) FinishRead(&work);
  Progress(1, now_us);
}

// Stores a part of what was read where it belongs.
bool Requester::PlaceResponse(const SendWork& work, uint64_t offset, ByteSpan payload) {
  const Access kind = work.sink_is_window ? Access::kWindowSink : Access::kLocalWrite;
  const uint8_t* from = payload.data();
  size_t left = payload.size();
  for (const Segment& s : sends().segments(answered_)) {
    if (left == 0) break;
    if (offset >= s.segment_length) {
      offset -= s.segment_length;
      continue;
    }
    const size_t piece = std::min<size_t>(left, s.segment_length - offset);
    Pin pin;
    const AccessError error = state_.memory().Acquire(
        state_.Access(s.lmr_context, kind, s.virtual_address + offset, piece), &pin);
    if (error != AccessError::kNone) {
      FailOldest(
          WorkStatus::kLocalProtection,
          std::string("the sink of an RDMA read cannot be written: ") + AccessErrorText(error),
          false);
      return false;
    }
    CopyPolledEnd(pin.address(), from, piece);
    from += piece;
    left -= piece;
    offset = 0;
  }
  return true;
}

// The oldest read or atomic is answered in full.
void Requester::FinishRead(SendWork* work) {
  if (work->invalidate_sink && work->segment_count > 0) {
    const uint32_t key = sends().segments(answered_)[0].lmr_context;
    const WorkLedgerConfig& config = ledger_.config();
    const AccessError error = state_.memory().Invalidate(key, config.pd, config.qp);
    if (error != AccessError::kNone) {
      return FailOldest(
          WorkStatus::kLocalProtection,
          std::string("the sink window of a read cannot be unbound: ") + AccessErrorText(error),
          false);
    }
  }
  work->done = true;
  state_.unsettled = true;
  --unanswered_reads_;
  ++answered_;
  PassBinds();
}

void Requester::OnAtomicAcknowledge(const roce::Packet& packet, uint64_t now_us) {
  const Psn psn = NearestPsn(packet.bth.psn, una_);
  if (psn < una_ || psn >= sent_) return;
  Progress(AnswerUpTo(psn), now_us);
  if (una_ != psn) return OnGap(psn);
  if (!IsExpectedResponse(packet)) {
    return FailOldest(WorkStatus::kBadResponse, "an atomic response answers no atomic", true);
  }
  SendWork& work = sends().at(answered_);
  uint8_t value[sizeof(uint64_t)];
  std::memcpy(value, &packet.headers.original, sizeof value);
  if (!PlaceResponse(work, 0, value)) return;
  ++una_;
  FinishRead(&work);
  Progress(1, now_us);
}

// -------------------------------------------------------------------------------------------------
// Time

// Nothing has moved on for too long, whatever the peer says meanwhile.
bool Requester::GivesUp(uint64_t now_us) {
  if (patience_us_ == 0 || silent_since_us_ == 0) return false;
  if (now_us - silent_since_us_ < patience_us_) return false;
  FailOldest(WorkStatus::kTransport,
             "the peer does not answer any more (" + std::to_string(1 + state_.config.retry_count) +
                 " time-outs)",
             false);
  return true;
}

void Requester::OnTime(uint64_t now_us) {
  if (waits_for_receive_) {
    if (now_us >= receive_wait_until_us_) waits_for_receive_ = false;
    return;
  }
  if (resend_at_us_ == 0 || now_us < resend_at_us_) return;
  ++state_.counters.timeouts;
  if (GivesUp(now_us)) return;
  window_.OnTimeout();
  round_trip_.OnTimeout();
  recovery_end_ = sent_;
  again_answered_ = true;  // nothing is on its way after so long
  Rewind(una_);
}

}  // namespace softdat::softnet
