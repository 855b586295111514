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

namespace {

// Steps in a row, in which the peer moved on by what it was sent again only: after so many it is
// believed to keep nothing, and after so many everything is sent again, whatever is believed.
constexpr uint32_t kStrikes = 2, kMostSteps = 3;

}  // namespace

// -------------------------------------------------------------------------------------------------
// What is over

// Everything in front of `end` has arrived at the peer. Goes as far as the first read or atomic
// whose responses, which alone end it, are not all there. Returns how many packets are over.
[[gnu::hot]] uint64_t Requester::AnswerUpTo(Psn end) {
  const Psn before = una_;
  taken_ = std::max(taken_, end);
  PassBinds();
  while (answered_ < begun_) {
    SendWork& work = sends().at(answered_);
    if (TakesReadCredit(work)) {
      if (!PassReceived(&work)) break;
      continue;
    }
    if (taken_ <= una_) break;
    const Psn last = plan(answered_).end();
    if (taken_ < last) {
      una_ = taken_;
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

// The responses of the oldest read or atomic that are there without a gap are over. Whether these
// are all of it.
bool Requester::PassReceived(SendWork* work) {
  const Psn end = plan(answered_).end();
  while (una_ < end && received_.Remove(una_)) ++una_;
  return una_ == end && FinishRead(work);
}

// The work that has `psn`, which is on its way.
uint64_t Requester::PositionOf(Psn psn) const {
  uint64_t at = answered_;
  while (plan(at).end() <= psn) ++at;
  return at;
}

void Requester::PassBinds() {
  while (answered_ < begun_ && plan(answered_).packets == 0) ++answered_;
}

// The peer has moved on by so many packets.
[[gnu::hot]] void Requester::Progress(uint64_t packets, uint64_t now_us) {
  if (packets == 0) return;
  if (timed_ && una_ > *timed_) {
    round_trip_.OnSample(now_us - timed_at_us_);
    timed_.reset();
  }
  round_trip_.OnProgress();
  // A window that was never full shows nothing about the path.
  if (window_limits_) window_.OnAcknowledged(packets);
  mending_ = false;
  probes_ = 0;
  mends_.RemoveAll(una_ - packets, una_);
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
  if (early_nak_ && *early_nak_ <= una_) {
    if (early_nak_refuses_ && *early_nak_ == una_) MendRequest(una_, /*lost=*/false);
    early_nak_.reset();
  }
  const bool waits = in_flight() > 0;
  resend_at_us_ = waits ? now_us + WaitUs() : 0;
  silent_since_us_ = waits ? now_us : 0;
}

// Everything from `psn` on is sent again.
void Requester::Rewind(Psn psn) {
  timed_.reset();
  mends_.Clear();
  mended_sent_ = 0;  // what is answered from now on shows nothing
  again_ = una_;
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

[[gnu::hot]] void Requester::OnAcknowledge(const roce::Packet& packet, uint64_t now_us) {
  const Psn psn = NearestPsn(packet.bth.psn, una_);
  if (psn >= sent_) return;  // of nothing that was ever sent
  const roce::Syndrome syndrome = roce::ParseSyndrome(packet.headers.aeth.syndrome);
  switch (syndrome.kind) {
    case AethKind::kAck: {
      const bool answers_probe = probes_ > 0 && una_ <= psn;
      Progress(AnswerUpTo(psn + 1), now_us);
      if (una_ <= psn) return OnMissing(psn);
      OnMendAnswered(psn + 1, /*acknowledged=*/true);
      // The NAK that told what is missing behind it was lost.
      if (answers_probe && una_ < probed_sent_) MendRequest(una_, /*lost=*/true);
      return;
    }
    case AethKind::kRnrNak:
      if (psn < una_) return;
      Progress(AnswerUpTo(psn), now_us);
      if (una_ == psn) return OnRnrNak(psn, syndrome.code, now_us);
      return OnEarlyNak(psn, /*lacked=*/false);
    case AethKind::kNak:
      if (psn < una_) return;
      Progress(AnswerUpTo(psn), now_us);
      if (una_ == psn) return OnNak(psn, syndrome.code, now_us);
      return OnEarlyNak(psn, syndrome.code == static_cast<uint8_t>(NakCode::kPsnSequence));
    case AethKind::kReserved:
      return;
  }
}

// A NAK, while responses in front of it are missing. What the peer lacks goes again at once. What
// it refuses goes again when the responses are there, so that the NAK is said again. Either is done
// once: if each copy of a NAK had something sent again, that would bring about the next one.
void Requester::OnEarlyNak(Psn psn, bool lacked) {
  if (early_nak_ == psn) return;
  OnMissing(psn);
  early_nak_ = psn;
  early_nak_refuses_ = !lacked;
  if (lacked) MendRequest(psn, /*lost=*/true);
}

// `psn` is answered, and responses in front of it are missing. They are asked for again, each once.
// Responses come in the order of their PSNs, and so do those that were asked for again.
void Requester::OnMissing(Psn psn) {
  if (state_.config.go_back_n) {
    if (una_ < fresh_) return;  // that was done
    fresh_ = una_ + 1;
    NoteLoss();
    window_.OnLossOfMany();
    return Rewind(una_);
  }
  Psn from = una_;
  if (psn >= fresh_) {
    from = std::max(from, fresh_);
    fresh_ = psn + 1;
  } else {
    if (psn > again_) from = std::max(from, again_);
    again_ = psn;
  }
  // Sends and writes in front of it have arrived.
  for (uint64_t at = answered_; at < begun_ && plan(at).first < psn; ++at) {
    if (!TakesReadCredit(sends().at(at))) continue;
    const Psn end = std::min(plan(at).end(), psn);
    for (Psn p = std::max(plan(at).first, from); p < end; ++p) {
      if (!received_.Has(p)) Mend(p);
    }
  }
}

// Sends it again by itself. `lost`: it is known to be.
void Requester::Mend(Psn psn, bool lost) {
  if (psn < una_ || psn >= cursor_ || psn - una_ >= PsnSet::kSpan) return;
  if (mends_.Add(psn) && lost) NoteLoss();
}

// The request that has `psn`, of a read what is missing of its piece. A peer that has not seen the
// piece must be asked for all of it. If it were asked for parts, each would take one of the few
// reads that it remembers, so that it might forget one whose responses were lost.
void Requester::MendRequest(Psn psn, bool lost) {
  if (psn >= cursor_) return;  // it is being sent again anyway
  const uint64_t at = PositionOf(psn);
  const bool read = sends().at(at).op == Op::kRdmaRead;
  const Psn end = read ? plan(at).first + PieceEnd(plan(at), psn) : psn + 1;
  for (Psn p = psn; p < end; ++p) {
    if (!received_.Has(p)) Mend(p, lost);
  }
}

void Requester::NoteLoss() {
  if (una_ >= recovery_end_) {
    recovery_end_ = sent_;
    window_.OnLossyRound();
  }
  window_.OnLoss();
}

// Whether the peer gets everything from the request on that it lacks.
bool Requester::GoesBack() {
  if (state_.config.go_back_n) return true;
  if (steps_ >= kMostSteps) {
    if (keeps_ == Keeps::kUnknown) Distrust();
    return true;
  }
  if (keeps_ != Keeps::kNo) return false;
  if (++gone_back_ < trial_after_) return true;
  // One answer is enough to show that nothing has changed.
  keeps_ = Keeps::kUnknown;
  steps_ = kStrikes - 1;
  return false;
}

// Nothing behind a missing request seems to be kept. That may also be because it was lost as well,
// or because there was no memory for it at the time. So the peer is tried again, more and more
// seldom.
void Requester::Distrust() {
  constexpr uint32_t kFirstTrial = 8, kLastTrial = 128;
  keeps_ = Keeps::kNo;
  gone_back_ = 0;
  trial_after_ = std::clamp(2 * trial_after_, kFirstTrial, kLastTrial);
}

// The peer lacks the request that has `psn`. One that keeps what is behind it needs nothing else.
void Requester::OnSequenceNak(Psn psn) {
  OnMendAnswered(psn, /*acknowledged=*/false);
  if (cursor_ <= psn) return;  // it is being sent again anyway
  if (GoesBack()) {
    steps_ = 0;
    NoteLoss();
    window_.OnLossOfMany();
    return Rewind(psn);
  }
  const uint64_t at = PositionOf(psn);
  const bool read = sends().at(at).op == Op::kRdmaRead;
  mended_ = psn;
  mended_end_ = read ? plan(at).first + PieceEnd(plan(at), psn) : psn + 1;
  mended_sent_ = sent_;
  MendRequest(psn, /*lost=*/true);
}

// What the peer has moved on to since it was sent a request that it lacked.
[[gnu::hot]] void Requester::OnMendAnswered(Psn psn, bool acknowledged) {
  if (mended_sent_ <= mended_end_ || psn < mended_end_) return;  // there was nothing behind it
  mended_sent_ = 0;
  if (psn > mended_end_) {
    keeps_ = Keeps::kYes;
    steps_ = trial_after_ = 0;
    return;
  }
  ++steps_;
  if (!acknowledged) return;
  // It takes the next one, and has none of those behind it.
  if (keeps_ == Keeps::kUnknown && steps_ >= kStrikes) Distrust();
  Rewind(una_);
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
      return OnSequenceNak(psn);
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

bool Requester::IsResponseOf(const roce::Packet& packet, uint64_t position) const {
  const SendWork& work = sends().at(position);
  const bool read = roce::TraitsOf(packet.bth.opcode).operation == roce::Operation::kReadResponse;
  return TakesReadCredit(work) && read == (work.op == Op::kRdmaRead);
}

void Requester::OnReadResponse(const roce::Packet& packet, uint64_t now_us) {
  const Psn psn = NearestPsn(packet.bth.psn, una_);
  if (psn < una_ || psn >= sent_) return;
  if (psn != una_) Progress(AnswerUpTo(psn), now_us);
  if (psn != una_) return OnEarlyResponse(packet, psn, packet.payload);
  OnResponse(packet, psn, packet.payload, now_us);
}

void Requester::OnAtomicAcknowledge(const roce::Packet& packet, uint64_t now_us) {
  const Psn psn = NearestPsn(packet.bth.psn, una_);
  if (psn < una_ || psn >= sent_) return;
  uint8_t value[sizeof(uint64_t)];
  std::memcpy(value, &packet.headers.original, sizeof value);
  if (psn != una_) Progress(AnswerUpTo(psn), now_us);
  if (psn != una_) return OnEarlyResponse(packet, psn, value);
  OnResponse(packet, psn, value, now_us);
}

// The response that is next.
void Requester::OnResponse(const roce::Packet& packet, Psn psn, ByteSpan payload, uint64_t now_us) {
  PassBinds();
  if (answered_ >= begun_ || !IsResponseOf(packet, answered_)) {
    return FailOldest(WorkStatus::kBadResponse, "a response answers no read or atomic", true);
  }
  if (payload.size() != ResponseSize(answered_, psn)) {
    return FailOldest(WorkStatus::kBadResponse, "a read response has a wrong length", true);
  }
  const AccessError error = PlaceResponse(answered_, psn, payload);
  if (error != AccessError::kNone) {
    return FailOldest(
        WorkStatus::kLocalProtection,
        std::string("the sink of an RDMA read cannot be written: ") + AccessErrorText(error),
        false);
  }
  ++una_;
  uint64_t packets = 1;
  if (una_ == plan(answered_).end() || !received_.empty()) packets += AnswerUpTo(taken_);
  Progress(packets, now_us);
}

// A response behind one that is missing. It is placed nevertheless. If it cannot be, that is found
// out when it is next.
void Requester::OnEarlyResponse(const roce::Packet& packet, Psn psn, ByteSpan payload) {
  if (received_.Has(psn) || psn >= next_psn_) return;
  const uint64_t at = PositionOf(psn);
  if (!IsResponseOf(packet, at) || payload.size() != ResponseSize(at, psn)) return;
  OnMissing(psn);
  if (state_.config.go_back_n) return;
  if (psn - una_ >= PsnSet::kSpan || PlaceResponse(at, psn, payload) != AccessError::kNone) return;
  received_.Add(psn);
  mends_.Remove(psn);
}

size_t Requester::ResponseSize(uint64_t position, Psn psn) const {
  const uint64_t offset = (psn - plan(position).first) * state_.config.mtu;
  return static_cast<size_t>(
      std::min<uint64_t>(sends().at(position).length - offset, state_.config.mtu));
}

// Stores a part of what was read where it belongs.
AccessError Requester::PlaceResponse(uint64_t position, Psn psn, ByteSpan payload) {
  const SendWork& work = sends().at(position);
  const Access kind = work.sink_is_window ? Access::kWindowSink : Access::kLocalWrite;
  uint64_t offset = (psn - plan(position).first) * state_.config.mtu;
  const uint8_t* from = payload.data();
  size_t left = payload.size();
  for (const Segment& s : sends().segments(position)) {
    if (left == 0) break;
    if (offset >= s.segment_length) {
      offset -= s.segment_length;
      continue;
    }
    const size_t piece = std::min<size_t>(left, s.segment_length - offset);
    Pin pin;
    const AccessError error = state_.memory().Acquire(
        state_.Access(s.lmr_context, kind, s.virtual_address + offset, piece), &pin);
    if (error != AccessError::kNone) return error;
    CopyPolledEnd(pin.address(), from, piece);
    from += piece;
    left -= piece;
    offset = 0;
  }
  return AccessError::kNone;
}

// The oldest read or atomic is answered in full.
bool Requester::FinishRead(SendWork* work) {
  if (work->invalidate_sink && work->segment_count > 0) {
    const uint32_t key = sends().segments(answered_)[0].lmr_context;
    const WorkLedgerConfig& config = ledger_.config();
    const AccessError error = state_.memory().Invalidate(key, config.pd, config.qp);
    if (error != AccessError::kNone) {
      FailOldest(
          WorkStatus::kLocalProtection,
          std::string("the sink window of a read cannot be unbound: ") + AccessErrorText(error),
          false);
      return false;
    }
  }
  work->done = true;
  state_.unsettled = true;
  --unanswered_reads_;
  ++answered_;
  PassBinds();
  return true;
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
  if (GivesUp(now_us)) return;
  if (probes_ < kMostProbes && !state_.config.go_back_n && cursor_ == sent_) return Probe(now_us);
  ++state_.counters.timeouts;
  probes_ = kMostProbes;
  window_.OnTimeout();
  round_trip_.OnTimeout();
  recovery_end_ = sent_;
  Rewind(una_);
}

// The answer takes longer than it did before. The oldest packet goes again, which gets an answer
// in any case: it was lost, or what was lost is the answer, or the NAK that told of it.
void Requester::Probe(uint64_t now_us) {
  ++state_.counters.probes;
  ++probes_;
  round_trip_.OnProbe();
  probed_sent_ = sent_;
  mended_sent_ = 0;  // the answer shows nothing about what the peer keeps
  resend_at_us_ = now_us + WaitUs();
  MendRequest(una_, /*lost=*/false);
}

}  // namespace softdat::softnet
