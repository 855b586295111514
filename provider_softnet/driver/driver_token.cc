// SPDX-License-Identifier: BSD-3-Clause
// DriverToken: direct hand-over, so that no thread can overtake one that queued before it.
#include "provider_softnet/driver/driver_token.h"

#include "provider_softnet/driver/upcall_gate.h"

namespace softdat::softnet {

void DriverToken::Take(const void* thread, Holder as) {
  owner_.store(thread, std::memory_order_relaxed);
  holder_.store(as, std::memory_order_relaxed);
  depth_ = 1;
}

[[gnu::hot]] bool DriverToken::TryAcquire(Holder as) {
  if (HeldByMe()) {
    ++depth_;
    return true;
  }
  if (holder() != Holder::kNobody) return false;
  std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || owner_.load(std::memory_order_relaxed) != nullptr) return false;
  Take(Me(), as);
  return true;
}

void DriverToken::Acquire(Holder as) {
  if (HeldByMe()) {
    ++depth_;
    return;
  }
  const CancelOff no_cancellation;
  std::unique_lock<Mutex> lock(mutex_);
  if (owner_.load(std::memory_order_relaxed) == nullptr) {
    Take(Me(), as);
    return;
  }
  ControlWaiter self{Me(), as, false, nullptr, {}};
  (control_tail_ != nullptr ? control_tail_->next : control_head_) = &self;
  control_tail_ = &self;
  control_waiting_.fetch_add(1, std::memory_order_seq_cst);
  blocked_holder_->Interrupt();
  const UpcallGate::Aside aside;  // the holder may be closing the gate of this thread's upcall
  while (!self.granted) self.ready.wait(lock);
}

[[gnu::hot]] void DriverToken::Release() {
  if (--depth_ > 0) return;
  const std::lock_guard<Mutex> lock(mutex_);
  HandOn();
}

[[gnu::hot]] void DriverToken::HandOn() {
  if (ControlWaiter* next = control_head_; next != nullptr) {
    control_head_ = next->next;
    if (control_head_ == nullptr) control_tail_ = nullptr;
    control_waiting_.fetch_sub(1, std::memory_order_seq_cst);
    Take(next->thread, next->as);
    next->granted = true;
    next->ready.notify_one();
    return;
  }
  if (ParkedThread* next = parked_head_; next != nullptr) {
    Unlink(next);
    Take(next->thread, Holder::kWaiter);
    next->granted.store(true, std::memory_order_seq_cst);
    hand_overs_.fetch_add(1, std::memory_order_relaxed);
    next->waiter->Nudge();
    return;
  }
  owner_.store(nullptr, std::memory_order_relaxed);
  holder_.store(Holder::kNobody, std::memory_order_relaxed);
}

void DriverToken::Unlink(ParkedThread* parked) {
  (parked->previous != nullptr ? parked->previous->next : parked_head_) = parked->next;
  (parked->next != nullptr ? parked->next->previous : parked_tail_) = parked->previous;
  parked->next = parked->previous = nullptr;
  parked->queued = false;
  parked_waiting_.fetch_sub(1, std::memory_order_seq_cst);
}

bool DriverToken::AcquireOrQueue(ParkedThread* self) {
  if (HeldByMe()) {  // a wait inside an upcall: this thread drives the loop
    ++depth_;
    return true;
  }
  const std::lock_guard<Mutex> lock(mutex_);
  if (owner_.load(std::memory_order_relaxed) == nullptr) {
    Take(Me(), Holder::kWaiter);
    return true;
  }
  self->thread = Me();
  self->granted.store(false, std::memory_order_relaxed);
  self->queued = true;
  self->previous = parked_tail_;
  (parked_tail_ != nullptr ? parked_tail_->next : parked_head_) = self;
  parked_tail_ = self;
  parked_waiting_.fetch_add(1, std::memory_order_seq_cst);
  if (holder() == Holder::kHelper) blocked_holder_->Interrupt();
  return false;
}

bool DriverToken::LeaveQueue(ParkedThread* self) {
  const std::lock_guard<Mutex> lock(mutex_);
  if (self->queued) Unlink(self);
  return self->granted.load(std::memory_order_relaxed);
}

bool DriverToken::GiveWay(ParkedThread* self) {
  if (depth_ != 1) return false;
  const std::lock_guard<Mutex> lock(mutex_);
  self->thread = Me();
  self->granted.store(false, std::memory_order_relaxed);
  self->queued = true;
  self->previous = nullptr;
  self->next = parked_head_;
  (parked_head_ != nullptr ? parked_head_->previous : parked_tail_) = self;
  parked_head_ = self;
  parked_waiting_.fetch_add(1, std::memory_order_seq_cst);
  depth_ = 0;
  HandOn();
  return true;
}

}  // namespace softdat::softnet
