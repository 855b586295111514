// SPDX-License-Identifier: BSD-3-Clause
// The path of a completion from the back end to the consumer's event, inline in dat_evd_dequeue.
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_EVD_DEQUEUE_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_EVD_DEQUEUE_H_

#include <mutex>

#include "dat/engine/events/dto_event.h"
#include "dat/engine/events/evd.h"

namespace softdat::engine {

[[gnu::always_inline]] inline void Evd::Take(const transport::Completion& completion,
                                             DAT_EVENT* event) {
  FillDtoEvent(completion, handle(), event);
  if (completion.status != transport::WorkStatus::kSuccess) [[unlikely]]
    return CountFailure(completion);
  if (completion.op >= transport::Op::kReceive) CountReceived(completion);
}

// The case that most calls find, in one piece: a completion, and nothing else to consider.
[[gnu::always_inline]] inline DAT_RETURN Evd::Dequeue(DAT_EVENT* event) {
  bool looked = false;
  {
    const std::lock_guard<FastMutex> lock(mu_);
    if (ring_->empty() && cq_ != nullptr && !aborted_ && !rearm_when_room_ && !tallies_.any_srq() &&
        !waiting_.load(std::memory_order_relaxed)) [[likely]] {
      transport::Completion completion;
      if (cq_->Poll({&completion, 1}) == 1) [[likely]] {
        Take(completion, event);
        overflowed_ = false;
        counters_.AddAlone(DCNT_EVD_DEQUEUE_FOUND);
        return DAT_SUCCESS;
      }
      looked = true;
    }
  }
  return DequeueAny(event, looked);
}

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_EVD_DEQUEUE_H_
