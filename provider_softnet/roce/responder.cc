// SPDX-License-Identifier: BSD-3-Clause
// Responder: the order of requests, and what is due after each.
#include "provider_softnet/roce/responder.h"

namespace softdat::softnet {

using roce::NakCode;
using roce::Operation;
using roce::Position;

namespace {

// Requests after which the peer's window needs an acknowledgement.
constexpr uint32_t kAckAfter = 8;

}  // namespace

Responder::Responder(RcState* state, WorkLedger* ledger)
    : state_(*state),
      ledger_(*ledger),
      expected_(FirstPsn(state->config.expected_psn)),
      reads_(state->config.reads_in),
      early_(state->config.early) {}

[[gnu::hot]] void Responder::OnRequest(const roce::Packet& packet) {
  if (silent_) return;
  const Psn psn = NearestPsn(packet.bth.psn, expected_);
  if (psn < expected_) return OnDuplicate(packet, psn);
  // Everything in front of expected_ was carried out. A requester that lacks the response to a read
  // whose source is gone asks for it, and hears of it then.
  if (refusal_ && !nak_) nak_ = PendingNak{refusal_->syndrome, expected_};
  if (over_ || !state_.open()) return;
  if (psn > expected_) return OnEarly(packet, psn);
  if (!TakeInTurn(packet)) return early_.Clear();
  if (!early_.empty()) TakeEarly();
}

// A request in front of it is missing. The peer is told once, until that has come (IBTA vol. 1
// §9.7.5.1.4). One that is kept and comes again shows that the peer has gone back, and that what is
// missing was lost once more.
void Responder::OnEarly(const roce::Packet& packet, Psn psn) {
  const bool again = early_.Has(psn);
  // What has no receive comes again with all that is behind it.
  if (!waits_for_receive_ && !again) early_.Keep(psn, packet);
  if (!waits_for_expected_ || again) Nak(roce::NakSyndrome(NakCode::kPsnSequence));
}

// What was missing has come, and those behind it are carried out.
void Responder::TakeEarly() {
  while (!early_.empty() && early_.first_psn() <= expected_) {
    const bool next = early_.first_psn() == expected_;
    if (next && !TakeInTurn(early_.first())) return early_.Clear();
    early_.DropFirst();
  }
  // The peer hears at once how far that went, or what is missing next.
  if (!early_.empty()) return Nak(roce::NakSyndrome(NakCode::kPsnSequence));
  ack_due_ = urgent_ = true;
}

// The request that is expected. False when it is not carried out now.
[[gnu::hot]] bool Responder::TakeInTurn(const roce::Packet& packet) {
  waits_for_expected_ = waits_for_receive_ = false;
  nak_.reset();  // it has been heeded before it was said
  if (!state_.request_seen) state_.request_seen = state_.established_due = true;
  const roce::OpcodeTraits& traits = roce::TraitsOf(packet.bth.opcode);
  if (!Admit(packet, traits) || !CarryOut(packet, traits)) return false;
  if (traits.ends()) ++msn_;
  ++unacknowledged_;
  const bool answered_anyhow =
      traits.operation == Operation::kReadRequest || traits.operation == Operation::kAtomic;
  if (!packet.bth.ack_request || answered_anyhow) return true;
  ack_due_ = true;
  // A message of several packets fills the peer's window. A short one gets an answer soon.
  if (traits.position == Position::kLast || unacknowledged_ >= kAckAfter) urgent_ = true;
  return true;
}

// Whether a request may stand here.
[[gnu::hot]] bool Responder::Admit(const roce::Packet& packet, const roce::OpcodeTraits& traits) {
  if (!InSequence(traits)) {
    return Refuse(NakCode::kInvalidRequest, Blame::Nobody(),
                  std::string("a request out of order: ") + roce::OpcodeText(packet.bth.opcode));
  }
  const roce::PayloadCheck check =
      roce::CheckPayload(packet.bth.opcode, packet.payload.size(), state_.config.mtu);
  if (check == roce::PayloadCheck::kOk) return true;
  return Refuse(NakCode::kInvalidRequest, Blame::Nobody(),
                std::string("a request of a wrong size: ") + roce::PayloadCheckText(check));
}

// The packets of a message follow one another.
[[gnu::hot]] bool Responder::InSequence(const roce::OpcodeTraits& traits) const {
  const bool begins = traits.position == Position::kFirst || traits.position == Position::kOnly;
  switch (message_) {
    case Message::kNone:
      return begins;
    case Message::kSend:
      return !begins && traits.operation == Operation::kSend;
    case Message::kWrite:
      return !begins && traits.operation == Operation::kWrite;
  }
  return false;
}

[[gnu::hot]] bool Responder::CarryOut(const roce::Packet& packet,
                                      const roce::OpcodeTraits& traits) {
  switch (traits.operation) {
    case Operation::kSend:
      return TakeSend(packet, traits);
    case Operation::kWrite:
      return TakeWrite(packet, traits);
    case Operation::kReadRequest:
      return TakeRead(packet);
    case Operation::kAtomic:
      return TakeAtomic(packet);
    default:
      return Refuse(NakCode::kInvalidRequest, Blame::Nobody(), "an unknown request");
  }
}

bool Responder::Refuse(NakCode code, const Blame& blame, std::string why) {
  refusal_ = PendingNak{roce::NakSyndrome(code), expected_};
  nak_ = refusal_;
  state_.Fail(blame, std::move(why), /*by_peer=*/false);
  return false;
}

bool Responder::RefuseAccess(AccessError error, const char* what) {
  ++state_.counters.remote_accesses_refused;
  return Refuse(NakCode::kRemoteAccess, Blame::Nobody(),
                std::string(what) + AccessErrorText(error));
}

void Responder::End() {
  over_ = true;
  early_.Clear();
}

void Responder::FallSilent() {
  over_ = silent_ = true;
  early_.Clear();
  reads_.Forget();
  reads_due_ = ack_due_ = urgent_ = false;
  nak_.reset();
}

}  // namespace softdat::softnet
