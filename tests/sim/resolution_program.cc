// SPDX-License-Identifier: BSD-3-Clause
// ResolutionProgram.
#include "tests/sim/resolution_program.h"

#include <array>
#include <utility>
#include <variant>

#include "tests/sim/node_address.h"
#include "wire/bytes.h"
#include "wire/rdmacm/mad.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::sim {

using rdmacm::CmField;
using rdmacm::FieldWriter;
using rdmacm::SidrStatus;
using softnet::SidrId;

namespace {

constexpr uint64_t kService = 0x01111388;
constexpr uint32_t kQkey = 0x01234567;
constexpr uint64_t kGraceUs = 300'000;

std::array<uint8_t, 8> Octets(uint64_t number) {
  std::array<uint8_t, 8> out;
  StoreBe64(out.data(), number);
  return out;
}

}  // namespace

ResolutionProgram::ResolutionProgram(uint64_t seed)
    : seed_(seed), random_(seed * 0x9e3779b97f4a7c15) {
  const size_t count = 2 + Draw(3);
  network_ = std::make_unique<Network>(&time_, static_cast<int>(count), random_());
  network_->SetLinks(DrawLink());
  nodes_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    Node& node = nodes_[i];
    node.random.seed(random_());
    node.end = std::make_unique<softnet::ServiceResolution>(softnet::CmOptions{},
                                                            [&node] { return node.random(); });
    network_->SetReceiver(static_cast<int>(i), [this, i](int from, const Network::Bytes& bytes) {
      OnPacket(i, from, bytes);
    });
  }
  for (uint64_t questions = 1 + Draw(20); questions > 0; --questions) Plan(questions);
}

LinkOptions ResolutionProgram::DrawLink() {
  LinkOptions o;
  o.max_delay_us = Pick({0, 100, 5000, 60'000});
  o.min_delay_us = Draw(2) * o.max_delay_us / 2;
  o.lose_one_in = Pick({0, 0, 50, 5, 2});
  o.burst_one_in = Pick({0, 0, 100});
  o.reorder_one_in = Pick({0, 8});
  o.reorder_us = 1 + Pick({100, 20'000, 300'000});
  o.duplicate_one_in = Pick({0, 10, 3});
  return o;
}

void ResolutionProgram::Plan(uint64_t number) {
  Question& q = questions_[number];
  q.from = Draw(nodes_.size());
  q.to = Draw(nodes_.size());
  q.started_us = Draw(5'000'000);
  if (Draw(3) == 0) q.timeout_us = Pick({1000, 200'000, 3'000'000}) + Draw(1000);
  q.think_us = Pick({0, 0, 1000, 150'000, 2'000'000});
  q.answer = static_cast<Answer>(Draw(3));
  if (Draw(4) == 0) q.listen_us = q.started_us + Draw(2 * kGraceUs);
  if (Draw(5) == 0) q.cancel_us = q.started_us + 1 + Draw(300'000);
  q.qpn = static_cast<uint32_t>(2 + Draw((1 << 24) - 2));
  time_.At(q.started_us, [this, number] { Ask(number); });
}

void ResolutionProgram::Ask(uint64_t number) {
  Question& q = questions_[number];
  const std::array<uint8_t, 8> data = Octets(number);
  softnet::SidrResolve p;
  p.remote = AddressOfNode(static_cast<int>(q.to));
  p.service_id = kService;
  p.timeout_us = q.timeout_us;
  p.grace_us = kGraceUs;
  p.private_data = data;
  q.id = nodes_[q.from].end->Resolve(p, time_.now_us());
  nodes_[q.from].asked[q.id] = number;
  if (q.cancel_us != 0) {
    time_.At(q.cancel_us, [this, number] {
      Question& gone = questions_[number];
      if (gone.outcomes > 0) return;
      gone.cancelled = true;
      ++tally_.cancelled;
      nodes_[gone.from].end->Cancel(gone.id);
      Settle(gone.from);
    });
  }
  Settle(q.from);
}

void ResolutionProgram::Settle(size_t i) {
  Node& node = nodes_[i];
  while (const auto out = node.end->TakeOutgoing()) {
    ++tally_.messages;
    network_->Send(static_cast<int>(i), NodeOfAddress(out->to),
                   Network::Bytes(out->mad.begin(), out->mad.end()));
  }
  while (const auto event = node.end->TakeEvent())
    std::visit([&](const auto& e) { On(i, e); }, *event);
  time_.Cancel(std::exchange(node.timer, 0));
  if (node.end->deadline_us() == softnet::kCmNever) return;
  node.timer = time_.At(node.end->deadline_us(), [this, i] {
    nodes_[i].timer = 0;
    nodes_[i].end->OnTime(time_.now_us());
    Settle(i);
  });
}

void ResolutionProgram::OnPacket(size_t i, int from, const Network::Bytes& bytes) {
  rdmacm::Mad mad;
  if (rdmacm::ParseMad(bytes, &mad) != rdmacm::MadParse::kOk) return;
  nodes_[i].end->OnMad(AddressOfNode(from), mad, time_.now_us());
  Settle(i);
}

// -------------------------------------------------------------------------------------------------
// What the nodes tell

void ResolutionProgram::On(size_t node, const softnet::SidrRequestArrived& event) {
  const uint64_t number = LoadBe64(event.private_data.data());
  const auto found = questions_.find(number);
  Expect(found != questions_.end(), "a request that nobody made");
  if (found == questions_.end()) return;
  Question& q = found->second;
  Expect(q.to == node && event.service_id == kService &&
             NodeOfAddress(event.source) == static_cast<int>(q.from),
         "a request is not what it was when it was made");
  if (q.answer == Answer::kNobody || time_.now_us() < q.listen_us) {
    return nodes_[node].end->Refuse(event.id, SidrStatus::kUnsupportedServiceId, {},
                                    time_.now_us());
  }
  // If repetitions get lost for long enough, the answer is forgotten.
  const bool forgotten =
      q.answered_us != 0 && time_.now_us() >= q.answered_us + softnet::CmOptions{}.remember_us;
  Expect(++q.arrivals == 1 || forgotten, "a request came twice");
  const SidrId id = event.id;
  if (q.think_us == 0) return Reply(node, id, number);
  time_.After(q.think_us, [this, node, id, number] {
    Reply(node, id, number);
    Settle(node);
  });
}

void ResolutionProgram::Reply(size_t node, SidrId id, uint64_t number) {
  Question& q = questions_[number];
  q.answered_us = time_.now_us();
  const std::array<uint8_t, 8> data = Octets(number);
  if (q.answer == Answer::kAccept) {
    return nodes_[node].end->Accept(id, {.qpn = q.qpn, .qkey = kQkey, .private_data = data},
                                    time_.now_us());
  }
  const FieldWriter field(CmField::kSidrReject, true, std::nullopt, data);
  nodes_[node].end->Refuse(id, SidrStatus::kRejected, {field.data(), field.size()}, time_.now_us());
}

ResolutionProgram::Question* ResolutionProgram::OutcomeOf(size_t node, SidrId id) {
  const auto asked = nodes_[node].asked.find(id);
  Expect(asked != nodes_[node].asked.end(), "an outcome of what was not asked");
  if (asked == nodes_[node].asked.end()) return nullptr;
  Question& q = questions_[asked->second];
  Expect(++q.outcomes == 1 && !q.cancelled, "an outcome too many");
  Expect(q.timeout_us == softnet::kCmNever || time_.now_us() <= q.started_us + q.timeout_us,
         "an outcome too late");
  return &q;
}

void ResolutionProgram::On(size_t node, const softnet::SidrResolved& event) {
  const Question* const q = OutcomeOf(node, event.id);
  if (q == nullptr) return;
  Expect(q->answer == Answer::kAccept && q->arrivals > 0, "resolved without an accept");
  Expect(event.qpn == q->qpn && event.qkey == kQkey, "another queue pair");
  Expect(LoadBe64(event.private_data.data()) == nodes_[node].asked[event.id],
         "private data of another answer");
  ++tally_.resolved;
}

void ResolutionProgram::On(size_t node, const softnet::SidrFailed& event) {
  using transport::RejectReason;
  const Question* const q = OutcomeOf(node, event.id);
  if (q == nullptr) return;
  Expect(!event.why.empty(), "a failure without a reason");
  switch (event.reason) {
    case RejectReason::kPeer:
      Expect(q->answer == Answer::kReject && q->arrivals > 0, "rejected without a reject");
      Expect(event.private_data.size() == 8 &&
                 LoadBe64(event.private_data.data()) == nodes_[node].asked[event.id],
             "private data of another reject");
      ++tally_.rejected;
      return;
    case RejectReason::kNonPeer:
      Expect(q->answer == Answer::kNobody || q->listen_us > 0, "nobody listened, they say");
      Expect(time_.now_us() >= q->started_us + kGraceUs, "the grace was not kept");
      ++tally_.unlistened;
      return;
    case RejectReason::kTimedOut:
      Expect(time_.now_us() == q->started_us + q->timeout_us, "the time was not over");
      ++tally_.timed_out;
      return;
    case RejectReason::kUnreachable:
      ++tally_.unreachable;
      return;
    case RejectReason::kAborted:
      break;
  }
  Expect(false, "a failure of another kind");
}

void ResolutionProgram::Expect(bool ok, const std::string& what) {
  if (ok || !wrong_.empty()) return;
  wrong_ =
      "seed " + std::to_string(seed_) + ", at " + std::to_string(time_.now_us()) + " us: " + what;
}

std::string ResolutionProgram::Run() {
  constexpr uint64_t kEndUs = 200'000'000;
  time_.RunUntil(kEndUs);
  for (const auto& [number, q] : questions_) {
    Expect(q.outcomes == (q.cancelled ? 0 : 1), "question " + std::to_string(number) + " has " +
                                                    std::to_string(q.outcomes) + " outcomes");
  }
  for (const Node& node : nodes_) Expect(node.end->size() == 0, "something is left");
  Expect(time_.pending() == 0, "a timer is left");
  // 16 tries, some more within the grace, each doubled and answered at most.
  Expect(tally_.messages <= questions_.size() * 200, "too many messages");
  tally_.end_us = time_.now_us();
  return wrong_;
}

}  // namespace softdat::sim
