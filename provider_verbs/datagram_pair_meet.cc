// SPDX-License-Identifier: BSD-3-Clause
// DatagramCore: how it meets others.
#include <chrono>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/datagram_pair.h"
#include "provider_verbs/datagram_peer.h"

namespace softdat::verbs {

using transport::Clock;
using transport::RejectReason;

namespace {

constexpr auto kRetryPause = std::chrono::milliseconds(20);

}  // namespace

Status DatagramCore::Resolve(const transport::ConnectParameters& p, uint64_t token) {
  const auto question =
      std::make_shared<Question>(std::weak_ptr<DatagramCore>(Self()), device_, token);
  const std::lock_guard<std::mutex> lock(control_);
  Status status = question->cm.Check(p);
  if (!status.ok()) return status;
  if (p.conn_qual == 0) return Status(Code::kInvalidArgument, "connection qualifier 0");
  ProtectionDomain* domain = nullptr;
  if (Result<uint32_t> number = NumberToTell(&domain); !number.ok()) return number.TakeStatus();
  question->cm.Start(p);
  status = question->cm.Resolve(question);
  if (!status.ok() && status.code() != Code::kUnreachable) return status;
  questions_.insert(question);
  if (!status.ok()) {
    // A failure that only the network could report is an event, even when it is known at once.
    device_.driver.Post(Later(question, [this, question, why = std::string(status.reason())] {
      return Fail(question, RejectReason::kUnreachable, why);
    }));
  } else if (question->cm.deadline() != transport::kForever) {
    question->timer = device_.driver.PostAt(
        question->cm.deadline(), Later(question, [this, question] {
          question->timer.reset();
          return Fail(question, RejectReason::kTimedOut, "no answer within the connect timeout");
        }));
  }
  return Status::Ok();
}

void DatagramCore::Question::OnCmEvent(const CmEvent& event) {
  const std::shared_ptr<DatagramCore> asker = pair.lock();
  if (asker == nullptr) return;
  asker->OnCmEvent(shared_from_this(), event);
}

void DatagramCore::OnCmEvent(const QuestionPtr& question, const CmEvent& event) {
  Outcome outcome;
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (!questions_.contains(question) || !question->cm.Owns(event)) return;
    outcome = Follow(question, question->cm.OnEvent(event, /*connecting=*/true), event);
  }
  Tell(std::move(outcome));
  if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) device_.OnGone(rdma_event_str(event.type));
}

DatagramCore::Outcome DatagramCore::Follow(const QuestionPtr& question, const CmStep& step,
                                           const CmEvent& event) {
  switch (step.what) {
    case CmStep::What::kRequest:
      return Ask(question, event);
    case CmStep::What::kEstablished:
      return Met(question, step, event);
    case CmStep::What::kTryAgain:
      return TryAgain(question);
    case CmStep::What::kFailed:
      return Fail(question, step.reject, step.why, step.data);
    default:
      return {};
  }
}

DatagramCore::Outcome DatagramCore::Ask(const QuestionPtr& question, const CmEvent& event) {
  const CmStep step =
      question->cm.RequestDatagrams({.qpn = hardware_.get()->qp_num, .qkey = kDatagramQkey});
  return Follow(question, step, event);
}

DatagramCore::Outcome DatagramCore::Met(const QuestionPtr& question, const CmStep& step,
                                        const CmEvent& event) {
  const rdma_ud_param& answer = event.datagrams;
  Result<transport::DatagramPeer> peer =
      MakeDatagramPeer(*static_cast<ProtectionDomain*>(attributes_.pd), answer.ah_attr,
                       answer.qp_num, answer.qkey, question->cm.addresses().remote);
  if (!peer.ok()) {
    return Fail(question, RejectReason::kUnreachable, std::string(peer.status().reason()));
  }
  Outcome outcome = OutcomeOf(question);
  outcome.peer = peer.Take();
  outcome.data.assign(step.data.begin(), step.data.end());
  return outcome;
}

// The program at the other end may still be starting.
DatagramCore::Outcome DatagramCore::TryAgain(const QuestionPtr& question) {
  device_.driver.PostAt(Clock::now() + kRetryPause, Later(question, [this, question]() -> Outcome {
                          question->cm.Drop();
                          const Status status = question->cm.Resolve(question);
                          if (status.ok()) return {};
                          return Fail(question, RejectReason::kUnreachable,
                                      std::string(status.reason()));
                        }));
  return {};
}

DatagramCore::Outcome DatagramCore::Fail(const QuestionPtr& question, RejectReason reject,
                                         std::string why, std::span<const uint8_t> data) {
  Outcome outcome = OutcomeOf(question);
  outcome.reject = reject;
  outcome.why = std::move(why);
  outcome.data.assign(data.begin(), data.end());
  return outcome;
}

// The question has one, and no other.
DatagramCore::Outcome DatagramCore::OutcomeOf(const QuestionPtr& question) {
  if (question->timer.has_value()) {
    device_.driver.Cancel(*std::exchange(question->timer, std::nullopt));
  }
  questions_.erase(question);
  return {.question = question, .sink = attributes_.datagram_sink};
}

Driver::Task DatagramCore::Later(const QuestionPtr& question, std::function<Outcome()> work) {
  return [pair = Self(), question, work = std::move(work)] {
    Outcome outcome;
    {
      const std::lock_guard<std::mutex> lock(pair->control_);
      if (!pair->questions_.contains(question)) return;
      outcome = work();
    }
    pair->Tell(std::move(outcome));
  };
}

void DatagramCore::Tell(Outcome outcome) {
  if (outcome.question == nullptr) return;
  outcome.question->cm.Drop();  // its id keeps the question
  const UpcallGate::Pass pass(gate_);
  if (!pass.open() || outcome.sink == nullptr) return;
  const uint64_t token = outcome.question->token;
  if (outcome.peer.has_value()) {
    outcome.sink->OnResolved(token, std::move(*outcome.peer), outcome.data);
  } else {
    outcome.sink->OnUnresolved(token, outcome.reject, outcome.data, outcome.why);
  }
}

}  // namespace softdat::verbs
