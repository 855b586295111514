// SPDX-License-Identifier: BSD-3-Clause
// The part of Driver that makes progress for threads that poll, or wait actively.
#include <sched.h>

#include <algorithm>
#include <utility>

#include "dat/base/thread_local.h"
#include "provider_softnet/driver/driver.h"

namespace softdat::softnet {

constinit thread_local uint32_t Driver::t_polls SOFTDAT_EARLY_TLS = 0;

namespace {

// How many polls this thread had made when it last looked at all sockets. Each queue counts its own
// polls. A thread that polls many of them in turn would look late if nobody counted them all.
constinit thread_local uint32_t t_looked_at SOFTDAT_EARLY_TLS = 0;

}  // namespace

using Result = transport::ProgressResult;

[[gnu::hot]] Result Driver::Poll(HotSet* hot) { return started() ? PollOnce(hot) : Result::kIdle; }

// A queue's set is empty as long as nothing has come for it, or where one socket serves all queues.
[[gnu::hot]] Result Driver::PollOnce(HotSet* hot, Look look) {
  if (hot->empty()) hot = hot_.get();
  activity_.Note();
  const bool flushed = FlushDeferred(Channel::Flusher::kPoller);
  const HotSet::Polled polled = hot->Poll();
  const bool received = polled == HotSet::Polled::kMoved;
  bool worked = flushed || received;
  if (worked && !found_by_poll_.load(std::memory_order_relaxed))
    found_by_poll_.store(true, std::memory_order_relaxed);
  // If the hot streams had something, that was what made the descriptor readable. If not, it still
  // is readable, and the poll must look everywhere.
  const bool everywhere = look != Look::kHotStreams && !received;
  // The interval is one of time. Polls that look at nothing take hardly any.
  const bool counts = polled != HotSet::Polled::kRested;
  t_polls += counts ? 1 : 0;
  const bool due = (counts && (hot->CountPoll(options_.look.of_a_queue) ||
                               t_polls - t_looked_at >= options_.look.of_a_thread)) ||
                   everywhere || !attention_.empty() || have_tasks_.load(std::memory_order_relaxed);
  if (due) worked |= LookForPoller(hot, look == Look::kThoroughly ? Busy::kAwait : Busy::kLeave);
  worked |= PayAfterTurn(worked);
  return worked ? Result::kWorked : Result::kIdle;
}

// One look at all sockets, if this thread may have the token at once.
[[gnu::hot]] bool Driver::LookForPoller(HotSet* hot, Busy busy) {
  const RefPtr<HotSet> keep(hot);  // an upcall may destroy the queue
  if (token_.HeldByMe()) return TurnInUpcall(hot, busy);
  hot->CountLook();
  t_looked_at = t_polls;
  const CancelOff no_cancellation;
  if (token_.TryAcquire(DriverToken::Holder::kPoller)) {
    polling_ = hot;
    const bool worked = Turn(busy);
    polling_ = nullptr;
    hot->DropServed();
    token_.Release();
    return worked;
  }
  if (token_.holder() == DriverToken::Holder::kHelper) AskHelperToLeave();
  return false;
}

// An upcall may poll for what comes on any socket, and nobody else can look while its thread has
// the token. Its own upcalls may poll in turn, but not without end. A control operation that has
// the token may be in the midst of anything, so it is left alone.
bool Driver::TurnInUpcall(HotSet* hot, Busy busy) {
  constexpr int kMostNested = 8;
  if (handlers_running_ == 0 || handlers_running_ > kMostNested) return false;
  hot->CountLook();
  const CancelOff no_cancellation;
  const bool worked = Turn(busy);
  worked_ = true;  // the turn outside is in a handler
  return worked;
}

void Driver::FoundByTurn(Channel* channel, HotSet* own, HotSet* other_own) {
  worked_ = true;
  if (other_own == own) other_own = nullptr;
  hot_->OnFoundByTurn(channel);
  if (own != nullptr) own->OnFoundByTurn(channel);
  if (other_own != nullptr) other_own->OnFoundByTurn(channel);
  if (polling_ == nullptr || polling_ == hot_.get()) return;
  if (polling_ == own || polling_ == other_own) return;
  // If its own queues are polled, too, they find it by themselves.
  const uint32_t polls = channel->OwnPolls();
  if (std::exchange(channel->polls_when_found_, polls) != polls) return;
  adopters_.Add(polling_);
  polling_->OnFoundByTurn(channel, HotSet::Kind::kAdopted);
}

void Driver::DropHot(Channel* channel, HotSet* own, HotSet* other_own) {
  hot_->Drop(channel);
  if (own != nullptr) own->Drop(channel);
  if (other_own != nullptr) other_own->Drop(channel);
  adopters_.Drop(channel);
}

// Waking the helper makes the loop's descriptor readable, and a program that sleeps in that
// descriptor would be woken for nothing. So when the descriptor is lent, the helper is left alone
// as long as callers find no data. Once they find data, every message would wake the helper too, so
// it must leave at once. It needs no wake-up when the descriptor is readable now, because that has
// woken it already. It may need the processor of this thread to leave, and would get it at the next
// tick of the scheduler only: until then the sockets that are not hot would be nobody's.
void Driver::AskHelperToLeave() {
  const bool kick = found_by_poll_.exchange(false, std::memory_order_relaxed) ||
                    !descriptor_lent_.load(std::memory_order_relaxed);
  if (!kick && !loop_.Readable()) return;
  evict_helper_.store(true, std::memory_order_seq_cst);
  if (kick) Interrupt();
  Yield();
}

[[gnu::hot]] Result Driver::Spin(HotSet* hot, LoopClock::time_point deadline,
                                 LoopClock::time_point* until) {
  const bool first_try = *until == LoopClock::time_point{};
  if (first_try) spin_limit_.CountWait();
  if (!started() || !spin_limit_.spins()) return Result::kTimedOut;
  const bool yielded = first_try && hot->YieldFirst();
  if (yielded) Yield();
  const bool worked = PollOnce(hot, WhereToSpin(*hot)) == Result::kWorked;
  if (first_try && !yielded) hot->NoteFirstTry(!worked);
  if (worked) return Result::kWorked;
  const LoopClock::time_point now = LoopClock::now();
  if (first_try) *until = std::min(now + spin_limit_.now(), deadline);
  if (now >= *until || (yielded && !spin_limit_.spins())) return Result::kTimedOut;
  Yield();
  return Result::kIdle;
}

// Lets a peer on the same processor answer.
[[gnu::hot]] void Driver::Yield() {
  const uint64_t before = CycleCount();
  sched_yield();
  spin_limit_.Yielded(before, CycleCount());
}

// As SpinInterval, for a wait that polls the set of a queue.
[[gnu::hot]] Driver::Look Driver::WhereToSpin(const HotSet& own) const {
  const HotSet& hot = own.empty() ? *hot_ : own;
  if (hot.empty()) return Look::kEverywhere;
  const bool later = hot.SilentFor(kForHotStreams) && hot.polls() % kLater == 0;
  return later ? Look::kEverywhere : Look::kHotStreams;
}

}  // namespace softdat::softnet
