// SPDX-License-Identifier: BSD-3-Clause
// A function of slots.h as a registry calls it. Running out of memory becomes a return value. A
// thread is not cancelled inside, unless the function is a wait.
#ifndef SOFTDAT_DAT_ENGINE_GUARDED_SLOT_H_
#define SOFTDAT_DAT_ENGINE_GUARDED_SLOT_H_

#include "dat/base/cancel.h"
#include "dat/base/no_memory.h"
#include "dat/engine/object/dat_error.h"

namespace softdat::engine {

inline constexpr DAT_RETURN kNoMemory = Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);

template <auto kSlot>
struct WaitingSlot;

template <typename... Args, DAT_RETURN (*kSlot)(Args...)>
struct WaitingSlot<kSlot> {
  static DAT_RETURN DAT_API Call(Args... args) {
    // Enumerations are passed on unchanged, because the slot finds out whether the value is valid.
    return OrNoMemory(
        [&]() __attribute__((no_sanitize("enum"))) { return kSlot(args...); }, kNoMemory);
  }
};

template <auto kSlot>
struct GuardedSlot;

template <typename... Args, DAT_RETURN (*kSlot)(Args...)>
struct GuardedSlot<kSlot> {
  static DAT_RETURN DAT_API Call(Args... args) {
    const CancelOff no_cancellation;
    return WaitingSlot<kSlot>::Call(args...);
  }
};

template <auto kSlot>
inline constexpr auto* kGuarded = &GuardedSlot<kSlot>::Call;
template <auto kSlot>
inline constexpr auto* kWaiting = &WaitingSlot<kSlot>::Call;

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_GUARDED_SLOT_H_
