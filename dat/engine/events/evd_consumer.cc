// SPDX-License-Identifier: BSD-3-Clause
// The consumer's side of an event dispatcher: dat_evd_wait, and the slow half of dat_evd_dequeue
// (semantics 5.3, 5.4). The quick half is in evd_dequeue.h.
#include <algorithm>
#include <array>
#include <utility>

#include "dat/engine/events/evd.h"
#include "dat/engine/events/evd_dequeue.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

using transport::Clock;
using transport::Completion;
using transport::ProgressResult;

// Counts requests that this end or the other one refused, by the status of the completion.
void Evd::CountFailure(const Completion& completion) {
  AdapterCounters& counters = ia().counters();
  switch (completion.status) {
    case transport::WorkStatus::kRemoteAccess:
      return counters.Count(DCNT_IA_DIAG_ERR_SQ_RAE);
    case transport::WorkStatus::kRemoteResponder:
      return counters.Count(DCNT_IA_DIAG_ERR_SQ_RIRE);
    case transport::WorkStatus::kReceiverNotReady:
      return counters.Count(DCNT_IA_DIAG_ERR_SQ_RREE);
    case transport::WorkStatus::kTransport:
      return counters.Count(DCNT_IA_DIAG_ERR_SQ_TREE);
    default:
      return;
  }
}

bool Evd::ArmCompletions() {
  if (!cq_->Arm(solicited_only())) return false;
  armed_for_solicited_ = solicited_only();
  return true;
}

[[gnu::hot]] void Evd::CountReceived(const Completion& completion) {
  ReceiveTally* const tally = tallies_.Find(completion.context);
  if (tally == nullptr) return;
  tally->Count(completion.op == transport::Op::kReceiveImmediate, completion.length);
}

size_t Evd::DrainCompletions() {
  const auto notifies = [solicited = solicited_only()](const Completion& c) {
    return c.status != transport::WorkStatus::kSuccess || (solicited ? c.solicited : !c.quiet());
  };
  size_t notifications = 0;
  std::array<Completion, 16> batch;
  while (!ring_->full()) {
    const size_t room = std::min(batch.size(), ring_->capacity() - ring_->size());
    const size_t n = cq_->Poll({batch.data(), room});
    for (size_t i = 0; i < n; ++i) {
      Take(batch[i], ring_->Push());
      if (notifies(batch[i])) ++notifications;
    }
    if (n < room) break;
  }
  return notifications;
}

[[gnu::hot]] bool Evd::PopOne(DAT_EVENT* event) {
  if (!ring_->empty()) {
    ring_->Pop(event);
    overflowed_ = false;
    if (tallies_.any_srq()) [[unlikely]]
      tallies_.OnReaped(*event);
    return true;
  }
  if (cq_ == nullptr) return false;
  Completion completion;
  if (cq_->Poll({&completion, 1}) == 0) return false;
  Take(completion, event);
  overflowed_ = false;
  if (tallies_.any_srq()) [[unlikely]]
    tallies_.OnReaped(*event);
  return true;
}

[[gnu::hot]] bool Evd::TakeAtOnce(DAT_EVENT* event, DAT_COUNT* nmore) {
  std::array<Completion, 2> pair;
  const size_t n = cq_->Poll(pair);
  if (n == 0) return false;
  Take(pair[0], event);
  overflowed_ = false;
  if (tallies_.any_srq()) [[unlikely]]
    tallies_.OnReaped(*event);
  if (n == 2) {
    Take(pair[1], ring_->Push());
    DrainCompletions();
  }
  *nmore = static_cast<DAT_COUNT>(ring_->size());
  return true;
}

DAT_RETURN Evd::WaitRefusal(DAT_COUNT threshold) {
  if (aborted_) return Error(DAT_ABORT);
  if (!waitable_) return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE);
  if (threshold > 1 && all_may_be_quiet()) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_CONFIG_NOTIFY);
  }
  return DAT_SUCCESS;
}

namespace {

// Reads the clock only if needed.
Clock::time_point Deadline(const transport::Adapter& adapter, DAT_TIMEOUT timeout_us) {
  return timeout_us == DAT_TIMEOUT_INFINITE ? transport::kForever
                                            : adapter.Now() + std::chrono::microseconds(timeout_us);
}

}  // namespace

// The body of dat_evd_wait. There is one object per call, so that a thread which is cancelled in
// Progress leaves the EVD without a waiter: the destructor runs while the stack unwinds.
class Evd::WaitScope {
 public:
  explicit WaitScope(Evd* evd) : evd_(evd), lock_(evd->mu_) {}
  ~WaitScope() {
    if (!waiting_) return;
    if (!lock_.owns_lock()) lock_.lock();
    evd_->waiting_.store(false, std::memory_order_release);
    const bool has_cno = static_cast<bool>(evd_->cno_);
    lock_.unlock();
    // The wait may have used up a notification that was promised to the CNO.
    if (has_cno) evd_->RearmForCno(Announce::kArrivals);
  }
  WaitScope(const WaitScope&) = delete;
  WaitScope& operator=(const WaitScope&) = delete;

  // Returns false when another thread already waits.
  bool Enter() {
    if (waiting_) return true;
    if (evd_->waiting_.load(std::memory_order_relaxed)) return false;
    evd_->waiting_.store(true, std::memory_order_release);
    evd_->waiter_.spun = false;
    waiting_ = true;
    return true;
  }

  // Waits actively, while nothing is armed. An answer that is on its way is then taken as by a
  // polling thread, without arming, upcall and wake-up. Returns false when it is time to block.
  bool Spin(Clock::time_point deadline) {
    // Data that are all for others must not keep this thread from its deadline.
    constexpr int kMostRounds = 64;
    if (evd_->waiter_.spun) return false;
    lock_.unlock();
    ProgressResult result = ProgressResult::kIdle;
    while (result == ProgressResult::kIdle && !evd_->waiter_.signalled())
      result = evd_->ia().adapter().Spin(*evd_->cq_, deadline, &spin_until_);
    lock_.lock();
    evd_->waiter_.spun = result == ProgressResult::kTimedOut || ++spin_rounds_ == kMostRounds;
    return result != ProgressResult::kTimedOut;
  }

  ProgressResult Progress(bool block, Clock::time_point deadline) {
    lock_.unlock();
    transport::Adapter& adapter = evd_->ia().adapter();
    const ProgressResult result = block ? adapter.Progress(&evd_->waiter_, deadline)
                                  : evd_->cq_ != nullptr ? adapter.Poll(*evd_->cq_)
                                                         : adapter.Progress(nullptr, deadline);
    lock_.lock();
    return result;
  }

 private:
  Evd* const evd_;
  std::unique_lock<FastMutex> lock_;
  bool waiting_ = false;
  Clock::time_point spin_until_{};
  int spin_rounds_ = 0;
};

[[gnu::hot]] DAT_RETURN Evd::Wait(DAT_TIMEOUT timeout_us, DAT_COUNT threshold, DAT_EVENT* event,
                                  DAT_COUNT* nmore) {
  WaitScope scope(this);
  const auto enough = static_cast<size_t>(threshold);
  if (threshold > qlen()) return BadArgument(3);
  counters_.AddAlone(DCNT_EVD_WAIT);
  Clock::time_point deadline{};  // set when the thread really has to wait
  bool last_look = false;
  bool blocked = false;
  for (;;) {
    const DAT_RETURN refusal = WaitRefusal(threshold);
    if (refusal != DAT_SUCCESS) [[unlikely]]
      return refusal;
    if (!scope.Enter()) return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
    waiter_.Clear();
    if (cq_ != nullptr) {
      if (enough == 1 && ring_->empty()) {
        if (TakeAtOnce(event, nmore)) return DAT_SUCCESS;
      } else {
        DrainCompletions();
      }
    }
    *nmore = static_cast<DAT_COUNT>(ring_->size());
    if (ring_->size() >= enough) {
      PopOne(event);
      --*nmore;
      return DAT_SUCCESS;
    }
    if (last_look) return Error(DAT_TIMEOUT_EXPIRED);
    if (timeout_us == 0) {
      scope.Progress(false, {});
      last_look = true;
      continue;
    }
    if (deadline == Clock::time_point{}) deadline = Deadline(ia().adapter(), timeout_us);
    // While nothing is armed, any completion ends the spin. That is wrong with a threshold, or if
    // only some completions notify.
    const bool any = enough == 1 && !some_are_quiet();
    if (cq_ != nullptr && any && scope.Spin(deadline)) continue;
    if (cq_ != nullptr) {
      if (!ArmCompletions()) continue;
      counters_.AddAlone(DCNT_EVD_WAIT_NOTIFY);
    }
    if (!std::exchange(blocked, true)) counters_.AddAlone(DCNT_EVD_WAIT_BLOCKED);
    ProgressResult result = scope.Progress(true, deadline);
    // If a stream notifies only of some completions, the others stay queued until one of those
    // comes.
    while (some_are_quiet() && !waiter_.signalled() &&
           (result == ProgressResult::kWorked || result == ProgressResult::kIdle)) {
      result = scope.Progress(true, deadline);
    }
    if (result == ProgressResult::kTimedOut) last_look = true;
    if (result == ProgressResult::kInterrupted) {
      *nmore = static_cast<DAT_COUNT>(ring_->size());
      return Error(DAT_INTERRUPTED_CALL);
    }
  }
}

// `looked`: nothing was there just now.
[[gnu::hot]] DAT_RETURN Evd::DequeueAny(DAT_EVENT* event, bool looked) {
  DAT_RETURN result = DAT_QUEUE_EMPTY;
  if (!looked) result = DequeueOnce(event);
  if (result != DAT_QUEUE_EMPTY) return result;
  // The polling thread moves the data itself. If nothing moved, there is nothing to look for.
  transport::Adapter& adapter = ia().adapter();
  const ProgressResult moved = cq_ != nullptr ? adapter.Poll(*cq_) : adapter.Progress(nullptr, {});
  if (moved != ProgressResult::kIdle) result = DequeueOnce(event);
  if (result != DAT_QUEUE_EMPTY) return result;
  counters_.Add(DCNT_EVD_DEQUEUE_NOT_FOUND);
  // Programs compare the whole word on DTO EVDs (semantics 1, dtest -p), so it has no class bits
  // there.
  if ((flags_ & (DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG)) != 0) return DAT_QUEUE_EMPTY;
  return Error(DAT_QUEUE_EMPTY);
}

// Returns DAT_QUEUE_EMPTY without class bits when there is nothing.
[[gnu::hot]] DAT_RETURN Evd::DequeueOnce(DAT_EVENT* event) {
  {
    const std::lock_guard<FastMutex> lock(mu_);
    if (aborted_) return Error(DAT_ABORT);
    if (waiting_.load(std::memory_order_relaxed)) {
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER);
    }
    const bool from_ring = !ring_->empty();
    if (!PopOne(event)) return DAT_QUEUE_EMPTY;
    counters_.AddAlone(DCNT_EVD_DEQUEUE_FOUND);
    if (from_ring) ++dequeued_from_ring_;
    if (!rearm_when_room_) return DAT_SUCCESS;
  }
  RearmForCno(Announce::kArrivals);
  return DAT_SUCCESS;
}

}  // namespace softdat::engine
