// SPDX-License-Identifier: BSD-3-Clause
// The end of a connection: first the failing completion, then the flushes in order, then the event
// (semantics 10.5). Bytes that must still leave (the rest of a begun FPDU, answers, a Terminate)
// are copied, so that the consumer may free its memory at once.
#include <utility>

#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/iwarp/terminate_meaning.h"
#include "wire/iwarp/fpdu.h"

namespace softdat::softnet {

using transport::WorkStatus;

namespace {

constexpr char kUnreadDropped[] =
    "the peer disconnected; data for which no receive was posted are dropped";
constexpr char kPeerLeft[] = "the peer's process ended, or its system reset the connection";

}  // namespace

// -------------------------------------------------------------------------------------------------
// What the parts found

void Stream::ActOn(const SendProblem& problem) {
  const std::string text = AccessErrorText(problem.error);
  switch (problem.kind) {
    case SendProblem::Kind::kNone:
      return;
    case SendProblem::Kind::kMemory:
      if (!state_.open()) return;
      return FailSend(WorkStatus::kLocalProtection, "memory to be sent cannot be read: " + text);
    case SendProblem::Kind::kBind:
      return FailSend(WorkStatus::kBindFailed, "a window cannot be bound: " + text);
    case SendProblem::Kind::kHalfSent:
      return Abort("memory was freed in the middle of a transfer: " + text,
                   problem.position ? Blame::Send(*problem.position, WorkStatus::kLocalProtection)
                                    : Blame::Nobody());
    case SendProblem::Kind::kResponse:
      return RefuseResponse(problem.error);
    case SendProblem::Kind::kNoBlock:
      return Abort("no memory for what is to be sent", Blame::Nobody());
  }
}

void Stream::ActOnFailure() {
  const std::unique_ptr<Failure> failure = std::move(state_.failure);
  if (failure->abort) return Abort(failure->what, failure->blame);
  Break(failure->code, failure->ulpdu, failure->ulpdu_size, failure->blame, failure->what);
}

void Stream::ActOnTerminate(ByteSpan payload) {
  iwarp::DecodedTerminate decoded;
  std::string why = "the peer terminated the connection";
  Blame blame;
  if (iwarp::DecodeTerminate(payload, &decoded)) {
    end_.terminate = decoded.term.code;
    why += std::string(": ") + iwarp::TerminateText(decoded.term.code);
    const Meant meant =
        MeantBy(decoded.term, ledger_.sends(), own_, sender_, confirmation_.confirmed());
    if (meant.position != kNoWork) {
      blame = Blame::Send(meant.position, StatusFor(decoded.term.code));
      // The peer handles requests in order, so everything before this one was carried out. A peer
      // that names no request may have failed by itself, before any of the requests under way.
      if (meant.named) confirmation_.Confirmed(meant.position);
    }
  }
  Finish(transport::EndReason::kBroken, std::move(why), true, blame);
}

// The work at sender_.next() fails here and breaks the connection. The work before it must not
// suffer: it is sent, and the break waits until it is over.
void Stream::FailSend(WorkStatus status, std::string why) {
  failing_status_ = status;
  failing_why_ = std::move(why);
  sender_.Stop();
  sender_.ConfirmAll();
  sender_.Pay();
  BreakIfAllInFrontIsOver();
}

void Stream::BreakIfAllInFrontIsOver() {
  if (!state_.open() || ledger_.sends().front() != sender_.next()) return;
  Break(iwarp::kTermLocalCatastrophic, {}, 0, Blame::Send(sender_.next(), failing_status_),
        failing_why_);
}

// The source of the peer's oldest read has gone since the peer asked for it.
void Stream::RefuseResponse(AccessError error) {
  const PeerRequest r = peer_.oldest();
  peer_.Drop();  // this one and those after it
  sender_.AbandonResponse();
  uint8_t head[iwarp::kReadRequestFpduHeadSize];
  iwarp::EncodeReadRequestFpduHead(head, r.msn, r.read);
  const ByteSpan ulpdu(head + iwarp::kFpduLengthSize, sizeof head - iwarp::kFpduLengthSize);
  ++state_.counters.remote_accesses_refused;
  Break(RequestTerminate(error), ulpdu, ulpdu.size(), Blame::Nobody(),
        std::string("the source of the peer's RDMA read is gone: ") + AccessErrorText(error));
}

// -------------------------------------------------------------------------------------------------
// What befell the peer or the path

void Stream::OnPeerFin() {
  if (!state_.open()) return;
  receiver_.OnFin();
  if (receiver_.stalled()) return OnPeerHangup();
  // In the middle of an FPDU: the peer's process was ended while it sent.
  Finish(transport::EndReason::kDisconnected,
         receiver_.InMiddleOfFpdu() ? "the peer closed in the middle of an FPDU"
                                    : "disconnected by the peer",
         true, Blame::Nobody());
}

// A peer that disconnected gracefully wants its last messages delivered, and stays for a while to
// see that. The messages get a limited time (semantics 9.6). A peer that disconnected abruptly, or
// died, is gone. A message that changes nothing, the zero-length write of RFC 6581, finds out which
// it is.
void Stream::OnPeerHangup() {
  if (!stalled() || state_.peer_closing) return;
  state_.peer_closing = true;
  if (!wants_transmit()) sender_.ProbePeer();  // otherwise the next bytes ask the same
  SetTimer(state_.config.fin_grace_us);
}

void Stream::OnPeerGone() {
  if (state_.phase == Phase::kEnded) return;
  actions_.abort = true;  // the peer would not get anything
  if (state_.phase == Phase::kTerminating) return FinishTerminating();
  Finish(transport::EndReason::kDisconnected, stalled() ? kUnreadDropped : kPeerLeft, true,
         Blame::Nobody());
}

void Stream::OnPeerReset(const std::string& why) {
  if (state_.phase == Phase::kEnded) return;
  if (state_.phase == Phase::kTerminating) {
    actions_.abort = true;
    return FinishTerminating();
  }
  Blame blame;
  const SendQueue& queue = ledger_.sends();
  // The loss hit the oldest request that has begun.
  if (!queue.empty() && (queue.front() < sender_.next() || sender_.InMiddleOfRequest())) {
    blame = Blame::Send(queue.front(), WorkStatus::kTransport);
  }
  Abort("the connection broke: " + why, blame);
  end_.by_peer = true;
}

void Stream::OnTimer(uint32_t id) {
  if (id == 0 || id != timer_.id || state_.phase == Phase::kEnded) return;
  timer_ = {};
  if (state_.phase == Phase::kTerminating) return FinishTerminating();
  if (!receiver_.stalled()) return;
  if (state_.peer_closing) {
    return Finish(transport::EndReason::kDisconnected, kUnreadDropped, true, Blame::Nobody());
  }
  receiver_.FailSegment(iwarp::kTermNoBuffer, Blame::Nobody(),
                        "no receive was posted within the receiver-not-ready timeout");
  Settle();
}

// -------------------------------------------------------------------------------------------------
// Ending

void Stream::EndIfDrained() {
  if (!ledger_.sends().empty() || confirmation_.Missing()) return;
  if (!sender_.empty() || sender_.rtr_due() || !peer_.empty() || !own_.empty()) return;
  Finish(transport::EndReason::kDisconnected, "disconnected gracefully by the own consumer", false,
         Blame::Nobody());
}

// Breaks the connection and tells the peer why (unless `code` is kAccept). `ulpdu` is the front of
// the offending segment, and `ulpdu_size` its whole length. Answers that were due before it leave
// first, because the peer's requests before its failure were carried out.
void Stream::Break(iwarp::TerminateCode code, ByteSpan ulpdu, size_t ulpdu_size, const Blame& blame,
                   const std::string& what) {
  // The answers that were due cannot be had any more, so nothing delays the end.
  if (state_.phase == Phase::kTerminating) return EndIfAnswered();
  if (state_.phase == Phase::kEnded) return;
  end_.why = what;
  if (!code.ok()) {
    end_.terminate = code;
    end_.why += std::string(" (Terminate sent: ") + iwarp::TerminateText(code) + ")";
    uint8_t fpdu[iwarp::kTerminateMaxFpdu];
    const iwarp::Terminate terminate = iwarp::TerminateForSegment(code, ulpdu, ulpdu_size);
    const size_t size = iwarp::EncodeTerminateFpdu(terminate, state_.config.agreement.crc, fpdu);
    terminate_.assign(fpdu, fpdu + size);
  }
  terminating_blame_ = blame;
  state_.phase = Phase::kTerminating;
  peer_.MakeAllDue();
  sender_.AbandonRequest();
  sender_.ForgetRtr();
  // If nothing can be said, or no answer is due, this is already the end.
  if (code.ok() || peer_.empty()) return FinishTerminating();
  SetTimer(state_.config.fin_grace_us);  // a peer that does not read cannot delay the end
  EndIfAnswered();
}

void Stream::EndIfAnswered() {
  if (!peer_.empty() && !actions_.abort) return;
  FinishTerminating();
}

void Stream::FinishTerminating() {
  if (!actions_.abort) {
    KeepLastWords();
    last_words_.insert(last_words_.end(), terminate_.begin(), terminate_.end());
  }
  Finish(transport::EndReason::kBroken, std::move(end_.why), false, terminating_blame_);
}

void Stream::Abort(const std::string& why, const Blame& blame) {
  actions_.abort = true;
  Finish(transport::EndReason::kBroken, why, false, blame);
}

// Ends the stream. last_words_ holds what must still be sent, unless the connection is aborted.
void Stream::Finish(transport::EndReason reason, std::string why, bool by_peer,
                    const Blame& blame) {
  if (state_.phase == Phase::kEnded) return;
  if (!actions_.abort && last_words_.empty()) {
    KeepLastWords();
    if (!by_peer) KeepLastAnswers();
    if (!by_peer) KeepPartingWord();
  }
  state_.phase = Phase::kEnded;
  StopTimer();
  sender_.End();
  end_.reason = reason;
  end_.why = std::move(why);
  end_.by_peer = by_peer;
  const uint64_t confirmed = confirmation_.confirmed();
  if (blame.receive) ledger_.FlushReceivesOf(blame);
  ledger_.FlushSends(blame, confirmed);
  if (!blame.receive) ledger_.FlushReceivesOf(blame);
  actions_.ended = true;
  if (last_words_.empty() && !actions_.abort) actions_.close_write = true;
}

void Stream::KeepLastWords() {
  if (!sender_.AppendRest(&last_words_)) actions_.abort = true;
}

// The peer asked to confirm work that is carried out. A consumer that leaves abruptly still says so
// in these few bytes, as an adapter would have done long ago.
void Stream::KeepLastAnswers() {
  const std::optional<uint32_t> first = sender_.FirstUnsentAnswer();
  if (!first || actions_.abort) return;
  for (uint32_t i = *first; i < peer_.count(); ++i) {
    const PeerRequest& r = peer_.at(i);
    if (r.atomic || r.read.size > 0) return;
    KeepEmpty(iwarp::Opcode::kReadResponse, r.read.sink_stag, r.read.sink_to);
  }
}

void Stream::KeepPartingWord() {
  if (actions_.abort || !rules_.can_confirm || !receiver_.CarriedOutMoreThanAsked()) return;
  KeepEmpty(iwarp::Opcode::kWrite, kPartingStag, PartingOffset(receiver_.carried_out()));
}

// Adds a tagged message without payload to the last words.
void Stream::KeepEmpty(iwarp::Opcode opcode, uint32_t stag, uint64_t offset) {
  constexpr size_t kHead = iwarp::kTaggedFpduHeaderSize;
  constexpr size_t kUlpdu = kHead - iwarp::kFpduLengthSize;
  uint8_t fpdu[kHead + iwarp::kFpduMaxTrailer];
  iwarp::EncodeTaggedFpduHeader(fpdu, opcode, /*last=*/true, stag, offset, 0);
  const size_t trailer =
      state_.config.agreement.crc
          ? iwarp::StoreFpduTrailer(fpdu + kHead, kUlpdu, Crc32cExtend(kCrc32cInit, fpdu, kHead))
          : iwarp::StoreFpduTrailerWithoutCrc(fpdu + kHead, kUlpdu);
  last_words_.insert(last_words_.end(), fpdu, fpdu + kHead + trailer);
}

}  // namespace softdat::softnet
