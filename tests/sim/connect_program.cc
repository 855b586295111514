// SPDX-License-Identifier: BSD-3-Clause
// The consumer of all nodes. It answers requests, exchanges messages, disconnects, and notes what
// it is told.
#include "tests/sim/connect_program.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace softdat::sim {

using transport::Completion;
using transport::DisconnectMode;
using transport::EndReason;
using transport::RejectReason;
using transport::WorkStatus;

namespace {

constexpr uint64_t kMostEvents = 5'000'000;
constexpr size_t kNumber = sizeof(uint64_t);

// The length of message `m` of an end, for both the sender and the checker.
uint32_t MessageLength(uint64_t stream, uint64_t m) {
  return static_cast<uint32_t>((stream * 37 + m * 101) % 256);
}

uint8_t MessageByte(uint64_t stream, uint64_t m, uint64_t at) {
  return softnet::testing::Pattern(stream, m * 977 + at);
}

}  // namespace

void ConnectProgram::Expect(bool ok, const std::string& what) {
  if (ok || !wrong_.empty()) return;
  wrong_ =
      "seed " + std::to_string(seed_) + " at " + std::to_string(time_.now_us()) + " us: " + what;
}

// The number comes first, so that the other end knows which Connect this is.
std::vector<uint8_t> ConnectProgram::PrivateData(uint64_t number) {
  const size_t most = softnet::kMaxConsumerPrivateData - kNumber;
  std::vector<uint8_t> data(kNumber + Pick({0, Draw(50), Draw(most + 1)}));
  for (uint8_t& byte : data) byte = static_cast<uint8_t>(Draw(256));
  std::memcpy(data.data(), &number, kNumber);
  return data;
}

std::pair<uint64_t, ConnectProgram::End*> ConnectProgram::Find(const Party& party) {
  const auto found = ends_.find(&party);
  return found == ends_.end() ? std::pair<uint64_t, End*>(0, nullptr) : found->second;
}

// The program no longer follows the party.
void ConnectProgram::Forget(End* end) {
  ends_.erase(end->party);
  end->party = nullptr;
}

std::string ConnectProgram::Run() {
  while (wrong_.empty() && time_.Step()) {
    Expect(++tally_.events < kMostEvents, "no end");
    if (tally_.events % 16 == 0) CheckLimits();
  }
  tally_.end_us = time_.now_us();
  if (wrong_.empty()) CheckLeftovers();
  for (const auto& [number, attempt] : attempts_) {
    CheckReports(number, attempt);
    if (number != 0) CheckInitiator(number, attempt);
  }
  return wrong_;
}

// -------------------------------------------------------------------------------------------------
// Reports of the nodes

void ConnectProgram::OnRequest(Party& party, Data data) {
  uint64_t number = 0;
  if (data.size() >= kNumber) std::memcpy(&number, data.data(), kNumber);
  Attempt& attempt = attempts_[number];
  const ConnectParameters& asked = attempt.parameters;
  Expect(number == 0 || (asked.to == party.node().number() && asked.qualifier == party.qualifier()),
         "a request came to another service point than it was for");
  Expect(number == 0 || std::ranges::equal(data, asked.private_data),
         "private data of request " + std::to_string(number));
  End* const end = attempt.passive.emplace_back(std::make_unique<End>()).get();
  end->party = &party;
  end->node = party.node().number();
  ends_[&party] = {number, end};
  const uint64_t wait_us = Pick({0, 0, 1000, 300'000, 3'000'000});
  if (wait_us == 0) return AnswerRequest(number, end);
  time_.After(Draw(wait_us), [this, number, end] { AnswerRequest(number, end); });
}

void ConnectProgram::AnswerRequest(uint64_t number, End* end) {
  if (end->party == nullptr) return;  // its node is dead
  Party* const party = end->party;
  end->link = party->initiator_link();
  end->answered = PrivateData(number);
  const uint64_t choice = Draw(10);
  if (choice < 7) {
    end->answer = Answer::kAccept;
    ++tally_.accepts;
    party->Accept(end->answered);
    end->peer_to_peer = party->peer_to_peer();
    return;
  }
  end->answer = choice < 9 ? Answer::kReject : Answer::kRefuse;
  Forget(end);
  if (choice < 9) return party->Reject(end->answered);
  party->Refuse(softnet::RefuseReason::kBacklog);
}

void ConnectProgram::OnEstablished(Party& party, Data data) {
  const auto [number, end] = Find(party);
  if (end == nullptr) return Expect(false, "established without a consumer");
  Expect(++end->reports == 1 && end->result == Result::kNone, "a connection is reported twice");
  end->result = Result::kEstablished;
  end->got.assign(data.begin(), data.end());
  end->link = party.initiator_link();
  const bool active = end == &attempts_[number].active;
  if (active) {
    ++tally_.established;
    end->peer_to_peer = party.peer_to_peer();
    const auto due_us = attempts_[number].parameters.limit;
    Expect(
        due_us == softnet::Initiation::kNever ||
            time_.now_us() <= attempts_[number].started_us + static_cast<uint64_t>(due_us.count()),
        "established behind the time limit");
  }
  end->inbox = party.side()->AddBuffer(kReceives * kMessage);
  end->outbox = party.side()->AddBuffer(kReceives * kMessage);
  for (uint32_t k = 0; k < kReceives; ++k) PostReceive(end);
  PlanTraffic(number, end);
}

void ConnectProgram::PlanTraffic(uint64_t number, End* end) {
  for (uint64_t k = Draw(kReceives); k > 0; --k) {
    time_.After(Draw(300'000), [this, number, end] { PostMessage(number, end); });
  }
  if (Draw(3) == 0) return;
  time_.After(Draw(Pick({100, 500'000})), [this, end] { EndByConsumer(end); });
}

void ConnectProgram::OnFailed(Party& party, RejectReason reason, Data data,
                              const std::string& why) {
  const auto [number, end] = Find(party);
  if (end == nullptr) return Expect(false, "a failure without a consumer");
  Expect(++end->reports == 1 && end->result == Result::kNone, "a connection is reported twice");
  end->result = Result::kFailed;
  end->reason = reason;
  end->why = why;
  end->got.assign(data.begin(), data.end());
  end->link = party.initiator_link();
  Attempt& attempt = attempts_[number];
  if (end == &attempt.active) {
    tally_.rejected += reason == RejectReason::kPeer;
    tally_.timed_out += reason == RejectReason::kTimedOut;
    ++tally_.failed;
    const auto limit = attempt.parameters.limit;
    const uint64_t took_us = time_.now_us() - attempt.started_us;
    Expect(limit == softnet::Initiation::kNever || took_us <= static_cast<uint64_t>(limit.count()),
           "a connect failed behind its time limit");
    Expect(reason != RejectReason::kTimedOut || took_us == static_cast<uint64_t>(limit.count()),
           "a connect timed out too early");
  } else {
    ++tally_.accept_failures;
  }
  Forget(end);
}

void ConnectProgram::OnEnded(Party& party, EndReason reason, const std::string& why) {
  const auto [number, end] = Find(party);
  if (end == nullptr) return Expect(false, "an end without a consumer");
  Expect(++end->ends == 1 && end->result == Result::kEstablished, "an end of nothing");
  end->end_reason = reason;
  Expect(reason != EndReason::kBroken || faults_ || number == 0,
         "connection " + std::to_string(number) + " is broken: " + why);
  Forget(end);
}

void ConnectProgram::OnStranger(const StreamEvent& event) {
  const auto found = strangers_.find(event.stream);
  if (found == strangers_.end()) return Expect(false, "an event of nobody's stream");
  const auto [from, words, leaves] = found->second;
  bool over = event.kind == StreamEvent::Kind::kFailed || event.kind == StreamEvent::Kind::kClosed;
  if (event.kind == StreamEvent::Kind::kConnected) {
    streams_->Send(event.stream, words);
    over = leaves;
  }
  if (!over) return;
  strangers_.erase(found);
  streams_->Close(event.stream);
}

// -------------------------------------------------------------------------------------------------
// Messages

void ConnectProgram::PostReceive(End* end) {
  PartySide& side = *end->party->side();
  const uint64_t slot = end->receives % kReceives;
  const Code code =
      side.Receive(end->receives++, {side.Local(end->inbox, slot * kMessage, kMessage)});
  Expect(code == Code::kOk, "a receive was refused");
}

void ConnectProgram::PostMessage(uint64_t number, End* end) {
  if (end->party == nullptr || end->party->stream_ended() || end->disconnected) return;
  PartySide& side = *end->party->side();
  const uint64_t m = end->posted++;
  const uint64_t stream = 2 * number + (end == &attempts_[number].active);
  const uint32_t length = MessageLength(stream, m);
  uint8_t* const bytes = side.data(end->outbox) + m * kMessage;
  for (uint32_t k = 0; k < length; ++k) bytes[k] = MessageByte(stream, m, k);
  Expect(side.Send(m, {side.Local(end->outbox, m * kMessage, length)}) == Code::kOk,
         "a message was refused");
  end->party->Move();
}

void ConnectProgram::OnMoved(Party& party) {
  const auto [number, end] = Find(party);
  if (end == nullptr) return;  // its end was reported
  PartySide& side = *party.side();
  for (const Completion& c : side.Sends()) {
    Expect(c.cookie == end->completed + end->send_failures, "a send completes out of order");
    Expect(c.status != WorkStatus::kSuccess || end->send_failures == 0, "success behind a failure");
    ++(c.status == WorkStatus::kSuccess ? end->completed : end->send_failures);
  }
  for (const Completion& c : side.Receives()) {
    if (c.status == WorkStatus::kSuccess) CheckReceived(number, end, c);
  }
}

void ConnectProgram::CheckReceived(uint64_t number, End* end, const Completion& c) {
  PartySide& side = *end->party->side();
  const uint64_t m = end->received++;
  ++tally_.messages;
  Expect(c.cookie == m, "receives out of order");
  const uint64_t stream = 2 * number + (end != &attempts_[number].active);
  const uint8_t* const bytes = side.data(end->inbox) + c.cookie % kReceives * kMessage;
  bool whole = c.length == MessageLength(stream, m);
  for (uint32_t k = 0; whole && k < c.length; ++k) whole = bytes[k] == MessageByte(stream, m, k);
  Expect(whole, "message " + std::to_string(m) + " of connection " + std::to_string(number));
  Expect(side.GuardsIntact(), "guard bytes");
  if (!end->party->stream_ended()) PostReceive(end);
}

void ConnectProgram::EndByConsumer(End* end) {
  if (end->party == nullptr || end->party->stream_ended() || end->disconnected) return;
  end->disconnected = true;
  end->graceful = Draw(3) != 0;
  end->party->Disconnect(end->graceful ? DisconnectMode::kGraceful : DisconnectMode::kAbrupt);
}

}  // namespace softdat::sim
