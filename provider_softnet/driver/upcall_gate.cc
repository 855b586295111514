// SPDX-License-Identifier: BSD-3-Clause
// UpcallGate: the calling thread's stack of upcalls, and closing.
#include "provider_softnet/driver/upcall_gate.h"

namespace softdat::softnet {

constinit thread_local UpcallGate::Running* UpcallGate::Running::innermost_ SOFTDAT_EARLY_TLS =
    nullptr;
constinit thread_local UpcallGate::Owing* UpcallGate::Owing::innermost_ SOFTDAT_EARLY_TLS = nullptr;

UpcallGate::Aside::Aside() {
  for (const Running* r = Running::innermost_; r != nullptr; r = r->outer_)
    if (r->gate_ != nullptr) r->gate_->StepAside();
  for (Owing* o = Owing::innermost_; o != nullptr; o = o->outer_) o->StepAside();
}

UpcallGate::Aside::~Aside() {
  for (const Running* r = Running::innermost_; r != nullptr; r = r->outer_)
    if (r->gate_ != nullptr) r->gate_->StepBack();
  for (Owing* o = Owing::innermost_; o != nullptr; o = o->outer_) o->StepBack();
}

bool UpcallGate::CloseWith(uint32_t own, bool without_aside) {
  uint32_t state = state_.load(std::memory_order_acquire);
  while (true) {
    const uint32_t aside = without_aside ? state / kAside & kInside : 0;
    if ((state & kInside) - aside > own) return false;
    if (state_.compare_exchange_weak(state, state | kClosed, std::memory_order_acq_rel,
                                     std::memory_order_acquire)) {
      return true;
    }
  }
}

void UpcallGate::Close() {
  uint32_t own = 0;
  for (const Running* r = Running::innermost_; r != nullptr; r = r->outer_) own += r->gate_ == this;
  const bool inside = Running::innermost_ != nullptr;
  if (CloseWith(own, /*without_aside=*/false)) return;
  const Aside aside;  // steps aside in its own upcalls of this gate, too
  while (true) {
    const uint32_t state = state_.load(std::memory_order_acquire);
    if (CloseWith(0, /*without_aside=*/inside)) return;
    state_.wait(state, std::memory_order_acquire);
  }
}

}  // namespace softdat::softnet
