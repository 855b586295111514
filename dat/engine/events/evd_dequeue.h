// SPDX-License-Identifier: BSD-3-Clause
// The path of a completion from the back end to the consumer's event, inline in dat_evd_dequeue.
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_EVD_DEQUEUE_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_EVD_DEQUEUE_H_

#include <mutex>

#include "dat/engine/events/dto_event.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/object/dat_error.h"

namespace softdat::engine {

[[gnu::always_inline]] inline void Evd::Take(const transport::Completion& completion,
                                             DAT_EVENT* event) {
  FillDtoEvent(completion, handle(), event);
  if (completion.status != transport::WorkStatus::kSuccess) [[unlikely]]
    return CountFailure(completion);
  if (completion.op >= transport::Op::kReceive) CountReceived(completion);
}

// The case that most calls find, in one piece: a completion, and nothing else to consider. Returns
// false when it is another one. `looked`: then, whether the completion queue was empty just now.
// The caller holds mu_.
[[gnu::always_inline]] inline bool Evd::DequeueQuickly(DAT_EVENT* event, bool* looked) {
  if (!ring_->empty() || cq_ == nullptr || aborted_ || rearm_when_room_ || tallies_.any_srq() ||
      waiting_.load(std::memory_order_relaxed)) [[unlikely]] {
    return false;
  }
  transport::Completion completion;
  *looked = cq_->Poll({&completion, 1}) == 0;
  if (*looked) return false;
  Take(completion, event);
  overflowed_ = false;
  counters_.AddAlone(DCNT_EVD_DEQUEUE_FOUND);
  return true;
}

// dat_evd_dequeue. The mutex keeps the EVD as a pin would (Cell), and has to be taken anyway. A
// dead handle is seen before that, because a child of fork may have it with a mutex that stays
// taken.
[[gnu::always_inline]] inline DAT_RETURN Evd::Dequeue(DAT_EVD_HANDLE handle, DAT_EVENT* event) {
  Cell* const cell = CellOf(handle);
  if (cell == nullptr || !IsLive(*cell, kHandleType)) [[unlikely]]
    return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  if (event == nullptr) [[unlikely]]
    return BadArgument(2);
  bool looked = false;
  {
    const std::lock_guard<FastMutex> lock(cell->mutex);
    if (IsLive(*cell, kHandleType) &&
        static_cast<Evd*>(cell->object)->DequeueQuickly(event, &looked)) [[likely]] {
      return DAT_SUCCESS;
    }
  }
  const Pinned<Evd> evd(handle);
  if (!evd) return BadHandle(DAT_INVALID_HANDLE_EVD_REQUEST);
  return evd->DequeueAny(event, looked);
}

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_EVD_DEQUEUE_H_
