// SPDX-License-Identifier: BSD-3-Clause
// QpCore: the end of a connection. The way is the same whichever side ends it. The hardware goes to
// the error state, which flushes outstanding work. The peer is told. When all completions are
// collected, the hardware is destroyed and the consumer is told once.
#include <chrono>
#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {

using transport::Clock;
using transport::DisconnectMode;
using transport::EndReason;
using transport::RejectReason;

namespace {

// Devices flush within microseconds. A device that has not done so by then never will.
constexpr auto kFlushTime = std::chrono::milliseconds(1000);

}  // namespace

void QpCore::CancelTimer() {
  if (timer_.has_value()) device_.driver.Cancel(*std::exchange(timer_, std::nullopt));
}

void QpCore::Disconnect(DisconnectMode mode) {
  const std::lock_guard<std::mutex> lock(control_);
  if (!CanEnd(state_)) return;
  const bool graceful = mode == DisconnectMode::kGraceful && state_ != PairState::kConnecting;
  if (graceful && state_ == PairState::kDraining) return;
  if (state_ == PairState::kConnected) SetState(PairState::kDraining);  // no new sends
  device_.driver.Post(Later([this, graceful](Deferred* later) {
    if (graceful) {
      ContinueGraceful(later);
    } else {
      End(EndReason::kDisconnected, "disconnected by this side", later);
    }
  }));
}

// Posted sends complete first.
void QpCore::ContinueGraceful(Deferred* deferred) {
  if (state_ != PairState::kDraining) return;
  queues_.Watch(this);
  sends_.PostMarker(&deferred->send);
  queues_.send()->Drain(&deferred->send);
  if (sends_.InFlight() > 0) return;
  End(EndReason::kDisconnected, "disconnected by this side", deferred);
}

void QpCore::OnOver(const CmStep& step, Deferred* deferred) {
  if (!CanEnd(state_)) return;
  if (step.what == CmStep::What::kDeviceGone) {
    return End(EndReason::kBroken, "the RDMA device was removed", deferred);
  }
  // If a peer disconnects, our pair still works. If it disconnects because it was refused
  // something, our pair is in the error state.
  const bool broken = failure.noted() || hardware_.FellIntoError() || step.broken;
  End(broken ? EndReason::kBroken : EndReason::kDisconnected,
      broken ? "the connection failed" : "disconnected by the peer", deferred);
}

void QpCore::OnAsyncError(const char* what, uint32_t life) {
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (life != failure.life()) return;
    if (state_ == PairState::kConnecting) {
      Fail(cm_.EndedEarly(), what, &deferred);
    } else {
      End(EndReason::kBroken, what, &deferred);
    }
  }
  Run(deferred);
}

void QpCore::Fail(RejectReason reject, std::string why, Deferred* deferred,
                  std::span<const uint8_t> data) {
  BeginEnd({.what = PairNews::What::kFailed,
            .reject = reject,
            .data = {data.begin(), data.end()},
            .why = std::move(why)},
           deferred);
}

void QpCore::End(EndReason end, std::string why, Deferred* deferred) {
  BeginEnd({.what = PairNews::What::kEnded, .end = end, .why = std::move(why)}, deferred);
}

void QpCore::BeginEnd(PairNews outcome, Deferred* deferred) {
  if (!CanEnd(state_)) return;
  SOFTDAT_LOG(Info, "{}: {}", device_.attributes.device_name, outcome.why);
  outcome_ = std::move(outcome);
  CancelTimer();
  SetState(PairState::kEnding);
  if (device_.traits.iwarp) cm_.Disconnect();  // orderly, if that is still possible
  if (hardware_.exists()) {
    hardware_.ToError();
    sends_.PostMarker(&deferred->send);
  }
  if (!device_.traits.iwarp) cm_.Disconnect();
  // The peer learns at once that this request, or its answer, is void.
  if (!cm_.linked()) cm_.GiveUp(hardware_.exists() && queues_.shared() == nullptr);
  queues_.Watch(this);
  timer_ = device_.driver.PostAt(Clock::now() + kFlushTime, Later([this](Deferred* later) {
                                   timer_.reset();
                                   PollFlush(true, later);
                                 }));
  PollFlush(false, deferred);
}

void QpCore::OnArrivals() {
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (state_ == PairState::kDraining) ContinueGraceful(&deferred);
    if (state_ == PairState::kEnding) PollFlush(false, &deferred);
  }
  Run(deferred);
}

void QpCore::PollFlush(bool force, Deferred* deferred) {
  if (state_ != PairState::kEnding) return;
  Drain(deferred);
  if (hardware_.exists()) {
    if (!force && (sends_.InFlight() > 0 || receives_.HardwareOwes())) return;
    if (force) {
      SOFTDAT_LOG(Info, "{}: queue pair {} did not flush by itself: {} sends left",
                  device_.attributes.device_name, hardware_.get()->qp_num, sends_.InFlight());
    }
  }
  FinishEnd(deferred);
}

void QpCore::FinishEnd(Deferred* deferred) {
  CancelTimer();
  queues_.Unwatch(this);
  DestroyHardware(deferred);
  queues_.receive()->ReleaseHeld(receives_.progress(), &deferred->receive);
  // Completes what the hardware never saw or has not returned.
  sends_.Flush(&deferred->send);
  receives_.Flush(&deferred->receive);
  SetState(PairState::kEnded);
  ++generation_;
  deferred->news = outcome_;
}

}  // namespace softdat::verbs
