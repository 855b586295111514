// SPDX-License-Identifier: BSD-3-Clause
// What every run must keep.
#include <algorithm>
#include <array>

#include "tests/sim/cm_program.h"
#include "wire/bytes.h"

namespace softdat::sim {

using transport::RejectReason;

// What the active side has learned of the other one.
void CmProgram::CheckReply(uint64_t number, const softnet::CmReplyArrived& event) {
  const Attempt& a = attempts_[number];
  Expect(a.parameters.timeout_us == softnet::kCmNever ||
             time_.now_us() <= a.started_us + a.parameters.timeout_us,
         "a reply behind the time limit");
  Expect(LoadBe64(event.private_data.data()) == ~number, "the private data of a reply");
  const auto is_it = [&](const auto& end) {
    return end->answer == Answer::kAccept && end->qpn == event.peer.qpn &&
           end->psn == event.peer.starting_psn && event.agreed.in == end->depths.out &&
           event.agreed.out == end->depths.in;
  };
  Expect(std::any_of(a.passive.begin(), a.passive.end(), is_it), "a reply that nobody gave");
}

void CmProgram::CheckFailure(uint64_t number, const End& end, const softnet::CmFailed& event) {
  const Attempt& a = attempts_[number];
  if (&end != &a.active) {
    return Expect(event.reason == RejectReason::kAborted && end.answer == Answer::kAccept,
                  "a passive failure: " + event.why);
  }
  const uint64_t took_us = time_.now_us() - a.started_us;
  Expect(a.parameters.timeout_us == softnet::kCmNever || end.replied ||
             took_us <= a.parameters.timeout_us,
         "a failure behind the time limit");
  switch (event.reason) {
    case RejectReason::kTimedOut:
      return Expect(took_us == a.parameters.timeout_us, "timed out too early");
    case RejectReason::kPeer: {
      std::array<uint8_t, 8> data;
      StoreBe64(data.data(), ~number);
      Expect(event.by_softdat && std::ranges::equal(event.private_data, data),
             "the private data of a reject");
      return Expect(std::any_of(a.passive.begin(), a.passive.end(),
                                [](const auto& p) { return p->answer == Answer::kReject; }),
                    "nobody rejected it");
    }
    case RejectReason::kUnreachable:
      // Or the other one was accepted, and then left before it heard so.
      return Expect(
          faults_ || std::any_of(a.passive.begin(), a.passive.end(),
                                 [](const auto& p) { return p->disconnected || p->abandoned; }),
          "unreachable without a fault: " + event.why);
    default:
      return;
  }
}

// The consumer hears of it again only if the first one came to nothing. A refusal is repeated, and
// forgotten only when it was not heard for long, except that of who does not listen yet.
void CmProgram::CheckSecondRequest(uint64_t number) {
  const Attempt& a = attempts_[number];
  for (const auto& earlier : a.passive) {
    const uint64_t since_us = time_.now_us() - earlier->answered_us;
    const bool refused = earlier->answer == Answer::kReject || earlier->answer == Answer::kAbandon;
    const bool nothing =
        earlier->failed || earlier->withdrawn || earlier->dead() || earlier->abandoned ||
        (earlier->disconnected && !earlier->established) ||
        (refused && (!a.listened || since_us >= earlier->node->options().remember_us));
    Expect(nothing, "request " + std::to_string(number) + " came twice");
  }
}

// When all is quiet.
void CmProgram::CheckAgreement() {
  for (const auto& [number, a] : attempts_) {
    const auto open = std::count_if(a.passive.begin(), a.passive.end(),
                                    [](const auto& end) { return end->open(); });
    Expect(faults_ || open == (a.active.open() ? 1 : 0),
           "connection " + std::to_string(number) + ": " + (a.active.open() ? "open" : "over") +
               " at the active side, " + std::to_string(open) + " open at the other");
  }
}

void CmProgram::CheckLeftovers() {
  for (const auto& n : nodes_) {
    Expect(n->manager().size() == 0 && n->manager().deadline_us() == softnet::kCmNever,
           "node " + std::to_string(n->number()) + " has exchanges left");
    Expect(n->qpns_in_use() == 0, "a QPN did not come back");
  }
  for (const auto& [key, value] : ends_) {
    const End& end = *value.second;
    if (end.dead()) continue;
    const std::string which = "connection " + std::to_string(value.first);
    Expect(end.qpn == 0 || end.over, which + " is not over");
    Expect(!end.established || end.ended || end.abandoned, which + " did not end");
    Expect(end.qpn == 0 || end.answers == 1 || end.abandoned || end.disconnected,
           which + " was not answered");
  }
  const uint64_t most = 150 * (attempts_.size() + tally_.forged + 1);
  Expect(tally_.messages <= most, std::to_string(tally_.messages) + " messages");
}

}  // namespace softdat::sim
