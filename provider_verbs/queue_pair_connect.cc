// SPDX-License-Identifier: BSD-3-Clause
// QpCore: makes a connection, from either side.
#include <chrono>
#include <string>
#include <utility>

#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {

using transport::Clock;
using transport::RejectReason;

namespace {

constexpr auto kRetryPause = std::chrono::milliseconds(20);

}  // namespace

Status QpCore::CheckIdle() const {
  if (state_ != PairState::kIdle) {
    return Status(Code::kInvalidState, "the queue pair is not idle");
  }
  if (attributes_.pd == nullptr) {
    return Status(Code::kInvalidState, "the queue pair has no protection domain");
  }
  return Status::Ok();
}

Status QpCore::Connect(const transport::ConnectParameters& parameters) {
  Deferred deferred(*this);
  Status status;
  {
    const std::lock_guard<std::mutex> lock(control_);
    status = CheckIdle();
    if (status.ok()) status = cm_.Check(parameters);
    if (status.ok()) status = MakeHardware();
    if (!status.ok()) return status;
    cm_.Start(parameters);
    status = cm_.Resolve(Self());
    if (status.ok() || status.code() == Code::kUnreachable) {
      SetState(PairState::kConnecting);
      receives_.progress().holding.store(true, std::memory_order_relaxed);
      if (!status.ok()) {
        // A failure that only the network could report is an event, even when it is known at once
        // (semantics 9.2).
        device_.driver.Post(Later([this, why = std::string(status.reason())](Deferred* later) {
          Fail(RejectReason::kUnreachable, why, later);
        }));
        status = Status::Ok();
      } else if (cm_.deadline() != transport::kForever) {
        timer_ = device_.driver.PostAt(cm_.deadline(), Later([this](Deferred* later) {
                                         if (state_ != PairState::kConnecting) return;
                                         timer_.reset();
                                         Fail(RejectReason::kTimedOut,
                                              "no answer within the connect timeout", later);
                                       }));
      }
    } else {
      DestroyHardware(&deferred);
      cm_.Drop();
    }
  }
  Run(deferred);
  return status;
}

void QpCore::OnCmEvent(const CmEvent& event) {
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (state_ == PairState::kClosed || !cm_.Owns(event)) return;
    Follow(cm_.OnEvent(event, state_ == PairState::kConnecting), &deferred);
  }
  Run(deferred);
  if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) device_.OnGone(rdma_event_str(event.type));
}

void QpCore::Follow(const CmStep& step, Deferred* deferred) {
  switch (step.what) {
    case CmStep::What::kNothing:
      return;
    case CmStep::What::kRequest:
      return Request(deferred);
    case CmStep::What::kEstablish:
      return Establish(step.data, deferred);
    case CmStep::What::kEstablished:
      return Established(step.data, deferred);
    case CmStep::What::kTryAgain:
      return TryAgain();
    case CmStep::What::kFailed:
      return Fail(step.reject, step.why, deferred, step.data);
    case CmStep::What::kOver:
    case CmStep::What::kDeviceGone:
      return OnOver(step, deferred);
  }
}

// Makes the hardware ready for everything that the other side may send as soon as it knows this
// side.
Status QpCore::TakeAnswers() {
  Status status = hardware_.ToInit(cm_.id());
  if (status.ok()) status = receives_.Activate(hardware_.get());
  return status;
}

void QpCore::Request(Deferred* deferred) {
  const Status status = TakeAnswers();
  if (!status.ok()) {
    return Fail(RejectReason::kUnreachable, std::string(status.reason()), deferred);
  }
  Follow(cm_.Request(hardware_.get()->qp_num, attributes_), deferred);
}

void QpCore::Establish(std::span<const uint8_t> data, Deferred* deferred) {
  // The kernel has taken the depths from the reply. Our own depths are an upper bound anyway.
  Status status = hardware_.ToReady(cm_.id(), std::nullopt, std::nullopt);
  if (status.ok()) status = cm_.Establish();
  if (!status.ok()) {
    return Fail(RejectReason::kNonPeer, std::string(status.reason()), deferred);
  }
  Established(data, deferred);
}

void QpCore::Established(std::span<const uint8_t> data, Deferred* deferred) {
  CancelTimer();
  cm_.OnEstablished();
  SetState(PairState::kConnected);
  deferred->news = {.what = PairNews::What::kEstablished, .data = {data.begin(), data.end()}};
}

// Uses new hardware, because the request may have changed the state of the present one.
void QpCore::TryAgain() {
  device_.driver.PostAt(Clock::now() + kRetryPause, Later([this](Deferred* later) {
                          if (state_ != PairState::kConnecting) return;
                          DestroyHardware(later);
                          cm_.Drop();
                          Status status = MakeHardware();
                          if (status.ok()) status = cm_.Resolve(Self());
                          if (!status.ok())
                            Fail(RejectReason::kUnreachable, std::string(status.reason()), later);
                        }));
}

Status QpCore::Accept(const AcceptParameters& p, std::span<const uint8_t> private_data) {
  const std::lock_guard<std::mutex> lock(control_);
  Status status = CheckIdle();
  if (status.ok()) status = MakeHardware();
  if (!status.ok()) return status;
  cm_.Adopt(p);
  receives_.progress().holding.store(true, std::memory_order_relaxed);
  // If the requester has given up meanwhile, the answer fails. That is no failure of the call.
  status = p.gone ? Status(Code::kUnreachable, "the requester had given up") : Answer(private_data);
  if (status.ok()) return status;
  SetState(PairState::kConnecting);
  device_.driver.Post(Later([this, why = std::string(status.reason())](Deferred* later) {
    Fail(RejectReason::kAborted, why, later);
  }));
  return Status::Ok();
}

Status QpCore::Answer(std::span<const uint8_t> private_data) {
  Status status = TakeAnswers();
  const ReadDepths depths = cm_.DepthsFor(attributes_);
  if (status.ok()) status = hardware_.ToReady(cm_.id(), depths.in, depths.out);
  if (!status.ok()) return status;
  SetState(PairState::kConnecting);
  return cm_.Accept(hardware_.get()->qp_num, attributes_, private_data);
}

void QpCore::OnFirstMessage(uint32_t life) {
  const std::lock_guard<std::mutex> lock(control_);
  if (life == failure.life() && state_ == PairState::kConnecting) cm_.OnFirstMessage();
}

}  // namespace softdat::verbs
