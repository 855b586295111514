// SPDX-License-Identifier: BSD-3-Clause
// ReliableConnection: posts, packets in and out, what is over, the end.
#include "provider_softnet/roce/reliable_connection.h"

#include <utility>

#include "wire/roce/bth.h"

namespace softdat::softnet {

using roce::Operation;
using transport::EndReason;

namespace {

AdmissionRules RulesOf(const RcConfig& config) {
  AdmissionRules rules;
  rules.max_message = kMaxRoceMessage;
  rules.reads = config.reads_out > 0;
  return rules;
}

}  // namespace

ReliableConnection::ReliableConnection(const RcConfig& config)
    : state_(config),
      ledger_(config.work),
      rules_(RulesOf(config)),
      requester_(&state_, &ledger_),
      responder_(&state_, &ledger_) {}

// -------------------------------------------------------------------------------------------------
// Posts

[[gnu::hot]] Code ReliableConnection::PostSend(const transport::SendRequest& request) {
  if (ended()) {
    ledger_.FlushPosted(request);
    return Code::kOk;
  }
  if (state_.phase == RcPhase::kDraining) return Code::kInvalidState;
  SendWork* work = nullptr;
  Code code = ledger_.Prepare(request, rules_, &work);
  if (code == Code::kOk) code = ledger_.JudgeLocal(request, *work);
  if (code == Code::kOk) ledger_.sends().Commit();
  return code;
}

[[gnu::hot]] Code ReliableConnection::PostReceive(const transport::ReceiveRequest& request) {
  const Code code = ledger_.PostReceive(request, /*judge=*/!ended());
  if (code == Code::kOk && ended()) ledger_.FlushReceivesOf(Blame::Nobody());
  return code;
}

void ReliableConnection::OnWatermarksSet() {
  if (!state_.open() || ledger_.WithinWatermarks()) return;
  Finish(EndReason::kBroken,
         "the endpoint holds more receives of its SRQ than the hard high watermark allows", false,
         Blame::Nobody());
}

void ReliableConnection::Disconnect(transport::DisconnectMode mode) {
  if (ended()) return;
  if (mode == transport::DisconnectMode::kAbrupt) {
    return Finish(EndReason::kDisconnected, "disconnected abruptly by the own consumer", false,
                  Blame::Nobody());
  }
  if (state_.phase != RcPhase::kOpen) return;
  state_.phase = RcPhase::kDraining;
  EndIfDrained();
}

// -------------------------------------------------------------------------------------------------
// Packets

[[gnu::hot]] void ReliableConnection::OnPacket(const roce::Packet& packet, uint64_t now_us) {
  ++state_.counters.packets_received;
  switch (roce::TraitsOf(packet.bth.opcode).operation) {
    case Operation::kSend:
    case Operation::kWrite:
    case Operation::kReadRequest:
    case Operation::kAtomic:
    case Operation::kUnknown:
      responder_.OnRequest(packet);
      break;
    case Operation::kReadResponse:
      if (!ended()) requester_.OnReadResponse(packet, now_us);
      break;
    case Operation::kAcknowledge:
      if (!ended()) requester_.OnAcknowledge(packet, now_us);
      break;
    case Operation::kAtomicAcknowledge:
      if (!ended()) requester_.OnAtomicAcknowledge(packet, now_us);
      break;
    case Operation::kDatagram:
    case Operation::kNotification:
      return;  // of another service
  }
  if (state_.unsettled) Settle();
}

[[gnu::hot]] void ReliableConnection::Transmit(PacketBatch* batch, uint64_t now_us) {
  // What is owed rides behind own requests: the peer waits for these, and not for that.
  const bool rides = responder_.owes() && !ended() && requester_.wants_transmit();
  if (rides) {
    requester_.Offer(batch, now_us);
    responder_.Pay();
  }
  responder_.Offer(batch);
  if (!rides && !ended()) requester_.Offer(batch, now_us);
  if (state_.unsettled) Settle();
  EndIfRefused();
  EndIfDrained();
}

void ReliableConnection::TakeBack(const PacketBatch& batch, size_t from) {
  bool request = false;  // those behind the first are taken back with it
  for (size_t i = from; i < batch.size(); ++i) {
    roce::Bth bth;
    roce::ParseBth({batch.at(i).header, batch.at(i).header_size}, &bth);
    switch (roce::TraitsOf(bth.opcode).operation) {
      case Operation::kAcknowledge:
      case Operation::kReadResponse:
      case Operation::kAtomicAcknowledge:
        responder_.TakeBack(bth.opcode, bth.psn);
        break;
      default:
        if (!request && !ended()) requester_.TakeBack(bth.psn);
        request = true;
        break;
    }
  }
}

void ReliableConnection::OnTime(uint64_t now_us) {
  if (ended()) return;
  requester_.OnTime(now_us);
  if (state_.unsettled) Settle();
}

[[gnu::hot]] RcActions ReliableConnection::TakeActions() {
  RcActions actions;
  actions.notices = ledger_.TakeNotices();
  actions.established = std::exchange(state_.established_due, false);
  actions.ended = std::exchange(ended_due_, false);
  actions.owes = owes();
  actions.transmit = wants_transmit();
  return actions;
}

// -------------------------------------------------------------------------------------------------
// What is over

[[gnu::hot]] void ReliableConnection::Settle() {
  state_.unsettled = false;
  if (state_.phase == RcPhase::kEnded) return;
  ledger_.CompleteSends(requester_.begun(), requester_.answered());
  if (state_.failure != nullptr && state_.phase != RcPhase::kTerminating) {
    const std::unique_ptr<RcFailure> failure = std::move(state_.failure);
    if (!responder_.refuses()) {
      return Finish(EndReason::kBroken, std::move(failure->why), failure->by_peer, failure->blame);
    }
    // What the peer asked for in front of what is refused was carried out, and it is to hear so.
    state_.phase = RcPhase::kTerminating;
    refusal_blame_ = failure->blame;
    end_.why = std::move(failure->why);
    end_.refused = true;
    return;
  }
  if (const Requester::LocalFailure* local = requester_.failure()) {
    return Finish(EndReason::kBroken, local->why, false,
                  Blame::Send(local->position, local->status));
  }
  EndIfDrained();
}

[[gnu::hot]] void ReliableConnection::EndIfDrained() {
  if (state_.phase != RcPhase::kDraining) return;
  if (!ledger_.sends().empty() || responder_.unanswered()) return;
  responder_.Pay();
  Finish(EndReason::kDisconnected, "disconnected gracefully by the own consumer", false,
         Blame::Nobody());
}

[[gnu::hot]] void ReliableConnection::EndIfRefused() {
  if (state_.phase != RcPhase::kTerminating || responder_.unanswered()) return;
  Finish(EndReason::kBroken, std::move(end_.why), false, refusal_blame_);
}

void ReliableConnection::OnPeerDisconnected() {
  if (ended()) return;
  Finish(EndReason::kDisconnected, "disconnected by the peer", true, Blame::Nobody());
  responder_.FallSilent();
}

void ReliableConnection::OnPathLost(const std::string& why) {
  if (ended()) return;
  Blame blame;
  // The oldest request that has begun is the one that the loss hit.
  if (requester_.answered() < requester_.begun()) {
    blame = Blame::Send(requester_.answered(), transport::WorkStatus::kTransport);
  }
  Finish(EndReason::kBroken, "the connection broke: " + why, true, blame);
  responder_.FallSilent();
}

// The failing completion first, then the flushes in order, then the event (semantics 10.5).
void ReliableConnection::Finish(EndReason reason, std::string why, bool by_peer,
                                const Blame& blame) {
  if (ended()) return;
  state_.phase = RcPhase::kEnded;
  requester_.End();
  responder_.Pay();
  responder_.End();
  end_.reason = reason;
  end_.why = std::move(why);
  end_.by_peer = by_peer;
  const uint64_t answered = requester_.answered();
  if (blame.receive) ledger_.FlushReceivesOf(blame);
  ledger_.FlushSends(blame, answered);
  if (!blame.receive) ledger_.FlushReceivesOf(blame);
  ended_due_ = true;
}

}  // namespace softdat::softnet
