// SPDX-License-Identifier: BSD-3-Clause
// Birth and death of DAT objects.
#include "dat/engine/object/object.h"

#include <sched.h>

#include <mutex>

#include "dat/base/cancel.h"
#include "dat/base/fast_mutex.h"
#include "dat/engine/object/consumer_call.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

bool Object::ReserveHandle() {
  if (cell_ == nullptr) cell_ = AllocateCell();
  return cell_ != nullptr;
}

void Object::Discard() {
  if (cell_ != nullptr) ReleaseCell(cell_);
  DropRef();
}

bool Object::Publish() {
  if (!ReserveHandle()) return false;
  cell_->provider = ia_->provider_table();
  cell_->object = this;
  if (type_ != DAT_HANDLE_TYPE_IA) ia_->objects().Link(this);
  if (CreatedWhenPublished()) ia_->counters().CountCreated(type_);
  cell_->state.store(kLiveBit | (static_cast<uint64_t>(type_) << kTypeShift),
                     std::memory_order_release);
  return true;
}

bool Object::AddUse() {
  int32_t uses = uses_.load(std::memory_order_acquire);
  do {
    if (uses < 0) return false;
  } while (!uses_.compare_exchange_weak(uses, uses + 1, std::memory_order_acq_rel));
  return true;
}

bool Object::KillHandle() {
  return (cell_->state.fetch_and(~kLiveBit, std::memory_order_acq_rel) & kLiveBit) != 0;
}

namespace {
// So far below zero that DropUse() of the remaining dependants never makes it positive again.
constexpr int32_t kRetired = INT32_MIN / 2;
}  // namespace

bool Object::Retire() {
  int32_t none = 0;
  if (!uses_.compare_exchange_strong(none, kRetired, std::memory_order_acq_rel)) return false;
  if (!KillHandle()) return false;
  ia_->counters().CountFreed(type_);
  return true;
}

bool Object::RetireAnyway() {
  if (!KillHandle()) return false;
  int32_t uses = uses_.load(std::memory_order_acquire);
  while (uses >= 0 &&
         !uses_.compare_exchange_weak(uses, uses + kRetired, std::memory_order_acq_rel)) {
  }
  return true;
}

void Object::Destroy(uint32_t own_pins) {
  EndWaits();
  own_pins += UpcallPin::CountOnThisThread(cell_);
  if (ConsumerCall::Active()) {
    if (DoomCell(cell_, own_pins)) return;
  } else {
    // The others are in short calls, or in an agent that waits for nobody.
    while ((cell_->state.load(std::memory_order_acquire) & kPinMask) > own_pins) sched_yield();
  }
  Finish();
}

void Object::Finish() {
  const CancelOff no_cancellation;
  // Whoever has seen the object live with the mutex taken, and no pin, is done with it then.
  { const std::lock_guard<FastMutex> others_leave(cell_->mutex); }
  Teardown();
  if (type_ != DAT_HANDLE_TYPE_IA) ia_->objects().Unlink(this);
  // This thread may still have pins on the cell. The cell is not reused while it does.
  ReleaseCell(cell_);
  DropRef();
}

void Object::Delete() { delete this; }

constinit thread_local UpcallPin* UpcallPin::innermost_ SOFTDAT_EARLY_TLS = nullptr;

UpcallPin::UpcallPin(Object* object)
    : object_(object),
      cell_(object->cell_),
      pinned_(cell_ != nullptr && PinLiveCell(cell_)),
      outer_(innermost_) {
  if (pinned_) innermost_ = this;
}

UpcallPin::~UpcallPin() {
  if (!pinned_) return;
  innermost_ = outer_;
  Object::Unpin(cell_, object_.get());
}

uint32_t UpcallPin::CountOnThisThread(const Cell* cell) {
  uint32_t count = 0;
  for (const UpcallPin* pin = innermost_; pin != nullptr; pin = pin->outer_) {
    if (pin->cell_ == cell) ++count;
  }
  return count;
}

}  // namespace softdat::engine
