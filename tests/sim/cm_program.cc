// SPDX-License-Identifier: BSD-3-Clause
// The consumer of all nodes: answers requests, gets ready, disconnects, and notes what it is told.
#include "tests/sim/cm_program.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "dat/base/socket_address.h"
#include "wire/bytes.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::sim {

using softnet::CmDisconnected;
using softnet::CmEvent;
using softnet::CmFailed;
using softnet::CmState;
using transport::RejectReason;

void CmProgram::Expect(bool ok, const std::string& what) {
  if (ok || !wrong_.empty()) return;
  wrong_ =
      "seed " + std::to_string(seed_) + " at " + std::to_string(time_.now_us()) + " us: " + what;
}

std::string CmProgram::Run() {
  constexpr uint64_t kMostSteps = 1'000'000;
  uint64_t steps = 0;
  while (wrong_.empty() && time_.Step()) Expect(++steps < kMostSteps, "no end");
  tally_.end_us = time_.now_us();
  for (const auto& n : nodes_) tally_.messages += n->sent();
  if (wrong_.empty()) CheckLeftovers();
  return wrong_;
}

// Unless the node has crashed by then.
void CmProgram::After(uint64_t delay_us, const End& end, std::function<void()> action) {
  time_.After(delay_us, [&end, action = std::move(action)] {
    if (!end.dead()) action();
  });
}

std::pair<uint64_t, CmProgram::End*> CmProgram::Find(const CmNode& n, softnet::CmId id) {
  const auto found = ends_.find({n.number(), n.life(), id});
  return found == ends_.end() ? std::pair<uint64_t, End*>(0, nullptr) : found->second;
}

void CmProgram::OnEvent(CmNode& n, const CmEvent& event) {
  std::visit([&](const auto& e) { On(n, e); }, event);
}

// The first packet of a connection stands for the RTU.
void CmProgram::OnData(CmNode& n, uint32_t qpn) {
  for (const auto& [key, value] : ends_) {
    const End& end = *value.second;
    if (end.node != &n || end.dead() || end.over || end.qpn != qpn) continue;
    const bool waits = n.manager().state(end.id) == CmState::kReplySent;
    n.manager().EstablishedByData(end.id);
    tally_.by_data += waits;
    return;
  }
}

void CmProgram::On(CmNode& n, const softnet::CmRequestArrived& event) {
  const uint64_t number = LoadBe64(event.private_data.data());
  const auto found = attempts_.find(number);
  const bool known = found != attempts_.end() && found->second.begun &&
                     SameHost(event.source, CmNode::AddressOf(found->second.from)) &&
                     found->second.to == n.number();
  Expect(known || forgeries_, "a request that nobody made");
  if (known) CheckSecondRequest(number);
  auto& list = known ? found->second.passive : strangers_;
  End* const end = list.emplace_back(std::make_unique<End>()).get();
  end->node = &n;
  end->life = n.life();
  end->id = event.id;
  end->peer = event.peer;
  end->depths = event.offered;
  ends_[{n.number(), n.life(), event.id}] = {number, end};
  if (!known) {
    n.manager().Reject(event.id, rdmacm::RejectReason::kConsumer, {}, n.now_us());
    end->answer = Answer::kReject;
    return;
  }
  const Attempt& a = found->second;
  Expect(event.service_id == a.parameters.service_id && event.peer.qpn == a.active.qpn &&
             event.peer.starting_psn == a.active.psn && event.offered.in == a.active.depths.out &&
             event.offered.out == a.active.depths.in,
         "a request is not what was asked");
  if (!a.listened) {
    end->answer = Answer::kReject;
    return n.manager().Reject(event.id, rdmacm::RejectReason::kInvalidServiceId, {}, n.now_us());
  }
  const uint64_t wait_us = Pick({0, 0, 1000, 300'000, 5'000'000});
  if (wait_us == 0) return AnswerRequest(number, end);
  After(Draw(wait_us), *end, [this, number, end] {
    AnswerRequest(number, end);
    end->node->Settle();
  });
  if (Draw(4) == 0) n.manager().Delay(event.id);
}

void CmProgram::AnswerRequest(uint64_t number, End* end) {
  softnet::CommunicationManager& m = end->node->manager();
  const uint64_t choice = Draw(10);
  end->answered_us = time_.now_us();
  std::array<uint8_t, 8> data;
  StoreBe64(data.data(), ~number);
  if (choice < 7) {
    end->answer = Answer::kAccept;
    end->qpn = end->node->TakeQpn();
    end->psn = static_cast<uint32_t>(Draw(1 << 24));
    softnet::CmAccept p;
    p.qpn = end->qpn;
    p.starting_psn = end->psn;
    p.depths = {.in = static_cast<uint8_t>(Draw(8)), .out = static_cast<uint8_t>(Draw(8))};
    p.private_data = data;
    end->depths = {.in = std::min(end->depths.in, p.depths.in),
                   .out = std::min(end->depths.out, p.depths.out)};
    ++tally_.accepts;
    m.Accept(end->id, p, end->node->now_us());
    PlanEnd(end);
  } else if (choice < 9) {
    end->answer = Answer::kReject;
    const rdmacm::FieldWriter field(rdmacm::CmField::kReject, true, std::nullopt, data);
    m.Reject(end->id, rdmacm::RejectReason::kConsumer, {field.data(), field.size()},
             end->node->now_us());
  } else {
    end->answer = Answer::kAbandon;
    m.Abandon(end->id, end->node->now_us());
  }
}

void CmProgram::On(CmNode& n, const softnet::CmWithdrawn& event) {
  End* const end = Find(n, event.id).second;
  Expect(end != nullptr && end->answer == Answer::kNone && !end->withdrawn, "withdrawn too late");
  if (end != nullptr) end->withdrawn = true;
  ++tally_.withdrawn;
}

// Nobody hands off here: that is between managers of one address.
void CmProgram::On(CmNode&, const softnet::CmForNewOwner&) { Expect(false, "handed off"); }

void CmProgram::On(CmNode& n, const softnet::CmReplyArrived& event) {
  const auto [number, end] = Find(n, event.id);
  if (end == nullptr) return Expect(false, "a reply to nobody");
  Expect(end->answers == 0 && !end->abandoned && !end->replied, "a second answer to a Connect");
  end->replied = true;
  end->peer = event.peer;
  CheckReply(number, event);
  const uint64_t delay_us = Pick({0, 0, 10'000, 1'000'000});
  if (delay_us == 0) return BecomeReady(number, end);
  End* const e = end;
  After(Draw(delay_us), *end, [this, e, n_ = number] {
    BecomeReady(n_, e);
    e->node->Settle();
  });
}

void CmProgram::BecomeReady(uint64_t number, End* end) {
  if (end->abandoned || end->failed || end->disconnected) return;
  end->node->manager().ReadyToUse(end->id);
  if (end->node->manager().state(end->id) != CmState::kEstablished) return;  // the peer was faster
  ++end->answers;
  end->established = true;
  ++tally_.established;
  if (Draw(4) != 0) {
    const int to = attempts_[number].to;
    After(Draw(20'000), *end, [end, to] { end->node->SendData(to, end->peer.qpn); });
  }
  PlanEnd(end);
}

void CmProgram::On(CmNode& n, const softnet::CmEstablished& event) {
  End* const end = Find(n, event.id).second;
  if (end == nullptr) return Expect(false, "nobody is established");
  Expect(++end->answers == 1 && end->answer == Answer::kAccept && !end->abandoned,
         "an Accept was answered twice");
  end->established = true;
}

void CmProgram::On(CmNode& n, const CmFailed& event) {
  const auto [number, end] = Find(n, event.id);
  if (end == nullptr) return Expect(false, "a failure of nobody");
  Expect(++end->answers == 1 && !end->abandoned && !end->disconnected && !end->over,
         "a connection was answered twice: " + event.why);
  Expect(!event.why.empty(), "a failure without a reason");
  end->failed = true;
  CheckFailure(number, *end, event);
  tally_.rejected += event.reason == RejectReason::kPeer;
  tally_.timed_out += event.reason == RejectReason::kTimedOut;
  tally_.unreachable += event.reason == RejectReason::kUnreachable;
  tally_.aborted += event.reason == RejectReason::kAborted;
  ++tally_.failed;
}

void CmProgram::On(CmNode& n, const CmDisconnected& event) {
  End* const end = Find(n, event.id).second;
  if (end == nullptr) return Expect(false, "nobody is disconnected");
  Expect((end->established || end->disconnected) && !end->ended && !end->failed && !end->over &&
             !end->abandoned,
         "an end of nothing");
  Expect(event.by != CmDisconnected::By::kSelf || end->disconnected, "it ended by itself");
  end->ended = true;
  tally_.by_peer += event.by == CmDisconnected::By::kPeer;
  tally_.by_self += event.by == CmDisconnected::By::kSelf;
  tally_.stale += event.by == CmDisconnected::By::kStale;
}

void CmProgram::On(CmNode& n, const softnet::CmOver& event) {
  End* const end = Find(n, event.id).second;
  if (end == nullptr) return Expect(false, "nobody is over");
  Expect(!end->over && event.qpn == end->qpn && end->qpn != 0, "a QPN came back twice");
  Expect(end->failed || end->ended || end->abandoned, "over before its end");
  end->over = true;
  n.ReturnQpn(event.qpn);
}

}  // namespace softdat::sim
