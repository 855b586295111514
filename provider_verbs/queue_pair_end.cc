// SPDX-License-Identifier: BSD-3-Clause
// QpCore: the end of a connection. Whoever ends it, it goes the same way: the hardware goes to the
// error state, which flushes what is outstanding; the peer is told; when all completions are
// collected, the hardware is destroyed and the consumer told, once.
#include <fmt/format.h>

#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {

using transport::Clock;
using transport::Completion;
using transport::DisconnectMode;
using transport::EndReason;
using transport::Op;
using transport::RejectReason;
using transport::WorkStatus;

namespace {

// Devices flush within microseconds; one that has not by then will not.
constexpr auto kFlushTime = std::chrono::milliseconds(1000);

}  // namespace

void QpCore::CancelTimer() {
  if (timer_.has_value()) device_.driver.Cancel(*std::exchange(timer_, std::nullopt));
}

void QpCore::Watch() {
  if (std::exchange(watching_, true)) return;
  send_cq_->AddWatcher(this);
  recv_cq_->AddWatcher(this);
}

void QpCore::Unwatch() {
  if (!std::exchange(watching_, false)) return;
  send_cq_->RemoveWatcher(this);
  recv_cq_->RemoveWatcher(this);
}

void QpCore::Disconnect(DisconnectMode mode) {
  bool immediately = false;
  {
    const std::lock_guard<std::mutex> lock(control_);
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::kConnected && mode == DisconnectMode::kGraceful) {
      SetState(State::kDraining);
    } else if (state == State::kConnecting || state == State::kConnected ||
               (state == State::kDraining && mode == DisconnectMode::kAbrupt)) {
      immediately = true;
      if (state == State::kConnected) SetState(State::kDraining);  // no new sends from here on
    } else {
      return;
    }
    device_.driver.Post([qp = shared_from_this(), immediately, generation = generation_] {
      Deferred deferred(*qp);
      {
        const std::lock_guard<std::mutex> relock(qp->control_);
        if (qp->generation_ != generation) return;
        if (immediately) {
          qp->BeginEnd({.why = "disconnected by this side"}, &deferred);
        } else {
          qp->ContinueGraceful(&deferred);
        }
      }
      qp->Run(deferred);
    });
  }
}

// Posted sends complete first.
void QpCore::ContinueGraceful(Deferred* deferred) {
  if (state_.load(std::memory_order_relaxed) != State::kDraining) return;
  Watch();
  {
    const std::lock_guard<SpinLock> lock(send_lock_);
    PostMarkerLocked();
  }
  send_cq_->Drain(&deferred->send);
  if (SendsInFlight() > 0) return;
  BeginEnd({.why = "disconnected by this side"}, deferred);
}

void QpCore::OnDisconnected(const CmEvent& event, Deferred* deferred) {
  const State state = state_.load(std::memory_order_relaxed);
  if (state == State::kConnecting) {
    Fail(active_ ? RejectReason::kNonPeer : RejectReason::kAborted,
         fmt::format("{} before the connection was established", rdma_event_str(event.type)),
         deferred);
    return;
  }
  if (state != State::kConnected && state != State::kDraining) return;
  if (event.type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
    linked_ = false;
    BeginEnd({.end = EndReason::kBroken, .why = "the RDMA device was removed"}, deferred);
    return;
  }
  // A peer that disconnects finds our pair at work; one that disconnects because it was refused
  // something has left it in the error state.
  bool broken = failure_noted_.load(std::memory_order_relaxed);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  if (!device_.traits.iwarp && ibv_query_qp(qp_, &attr, IBV_QP_STATE, &init) == 0) {
    broken |= attr.qp_state == IBV_QPS_ERR || attr.qp_state == IBV_QPS_SQE;
  }
  if (device_.traits.iwarp) broken |= event.status != 0;
  BeginEnd({.end = broken ? EndReason::kBroken : EndReason::kDisconnected,
            .why = broken ? "the connection failed" : "disconnected by the peer"},
           deferred);
}

void QpCore::OnAsyncError(const char* what, uint32_t life) {
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    if (life != hardware_life()) return;
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::kConnecting) {
      Fail(active_ ? RejectReason::kNonPeer : RejectReason::kAborted, what, &deferred);
    } else if (state == State::kConnected || state == State::kDraining) {
      BeginEnd({.end = EndReason::kBroken, .why = what}, &deferred);
    }
  }
  Run(deferred);
}

void QpCore::Fail(RejectReason reason, std::string why, Deferred* deferred,
                  std::span<const uint8_t> data) {
  BeginEnd(
      {.failed = true, .reject = reason, .data = {data.begin(), data.end()}, .why = std::move(why)},
      deferred);
}

void QpCore::BeginEnd(Outcome outcome, Deferred* deferred) {
  const State state = state_.load(std::memory_order_relaxed);
  if (state != State::kConnecting && state != State::kConnected && state != State::kDraining)
    return;
  SOFTDAT_LOG(Info, "{}: {}", device_.attributes.device_name, outcome.why);
  outcome_ = std::move(outcome);
  CancelTimer();
  SetState(State::kEnding);
  if (device_.traits.iwarp && linked_) rdma_disconnect(id_->get());  // orderly, if it still can
  if (qp_ != nullptr) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    const int error = ibv_modify_qp(qp_, &attr, IBV_QP_STATE);
    if (error != 0) SOFTDAT_LOG(Info, "ibv_modify_qp to ERR: {}", OsText(error));
    const std::lock_guard<SpinLock> lock(send_lock_);
    PostMarkerLocked();
  }
  if (!device_.traits.iwarp && linked_) rdma_disconnect(id_->get());
  if (!linked_) GiveUp();  // the peer learns at once that this request, or its answer, is void
  Watch();
  timer_ = device_.driver.PostAt(Clock::now() + kFlushTime,
                                 [qp = shared_from_this(), generation = generation_] {
                                   Deferred later(*qp);
                                   {
                                     const std::lock_guard<std::mutex> lock(qp->control_);
                                     if (qp->generation_ != generation) return;
                                     qp->timer_.reset();
                                     qp->PollFlush(true, &later);
                                   }
                                   qp->Run(later);
                                 });
  PollFlush(false, deferred);
}

void QpCore::OnArrivals() {
  Deferred deferred(*this);
  {
    const std::lock_guard<std::mutex> lock(control_);
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::kDraining) ContinueGraceful(&deferred);
    if (state == State::kEnding) PollFlush(false, &deferred);
  }
  Run(deferred);
}

void QpCore::PollFlush(bool force, Deferred* deferred) {
  if (state_.load(std::memory_order_relaxed) != State::kEnding) return;
  send_cq_->Drain(&deferred->send);
  recv_cq_->Drain(&deferred->receive);
  const bool receives_left =
      receives_live_ && receives_posted_.load(std::memory_order_relaxed) !=
                            completions.receives_retired.load(std::memory_order_acquire);
  if (!force && qp_ != nullptr && (SendsInFlight() > 0 || receives_left)) return;
  if (force && qp_ != nullptr) {
    SOFTDAT_LOG(Info, "{}: queue pair {} did not flush by itself: {} sends left",
                device_.attributes.device_name, qp_->qp_num, SendsInFlight());
  }
  FinishEnd(deferred);
}

void QpCore::FinishEnd(Deferred* deferred) {
  CancelTimer();
  Unwatch();
  DestroyHardware(deferred);
  recv_cq_->ReleaseHeld(*this, &deferred->receive);
  {
    const std::lock_guard<SpinLock> sends(send_lock_);
    const std::lock_guard<SpinLock> receives(receive_lock_);
    // What the hardware never saw, or has not given back.
    std::vector<Completion> flushed;
    const uint32_t sent = sends_posted_.load(std::memory_order_relaxed);
    for (uint32_t i = completions.sends_retired.load(std::memory_order_relaxed); i != sent; ++i) {
      SendSlot& slot = send_slots_[i & send_mask_];
      slot.early = false;  // the one in front of it was not completed
      if (slot.marker) continue;
      flushed.push_back(slot.done);
      flushed.back().length = 0;
      flushed.back().status = WorkStatus::kFlushed;
    }
    completions.early = 0;
    completions.sends_retired.store(sent, std::memory_order_release);
    send_cq_->Push(flushed, &deferred->send);
    send_cq_->Push(std::exchange(late_sends_, {}), &deferred->send);
    flushed.clear();
    const uint32_t received = receives_posted_.load(std::memory_order_relaxed);
    for (uint32_t i = completions.receives_retired.load(std::memory_order_relaxed); i != received;
         ++i) {
      const ReceiveSlot& slot = receive_slots_[i & receive_mask_];
      flushed.push_back({.context = completions.context,
                         .cookie = slot.cookie,
                         .op = Op::kReceive,
                         .status = WorkStatus::kFlushed,
                         .flags = slot.flags});
    }
    completions.receives_retired.store(received, std::memory_order_release);
    recv_cq_->Push(flushed, &deferred->receive);
    recv_cq_->Push(std::exchange(late_receives_, {}), &deferred->receive);
    unsignalled_ = 0;
    marker_pending_ = false;
    state_.store(State::kEnded, std::memory_order_release);
  }
  ++generation_;
  if (outcome_.failed) {
    deferred->upcall = Deferred::Upcall::kFailed;
    deferred->reject = outcome_.reject;
    deferred->data = outcome_.data;
  } else {
    deferred->upcall = Deferred::Upcall::kEnded;
    deferred->end = outcome_.end;
  }
  deferred->why = outcome_.why;
}

}  // namespace softdat::verbs
