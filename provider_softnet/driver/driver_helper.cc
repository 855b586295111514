// SPDX-License-Identifier: BSD-3-Clause
// Driver's helper thread. It serves a program that makes no DAT call, and flushes sends that nobody
// else flushes. It never spins: it sleeps in ticks while callers are active, and in the loop when
// they are not.
#include <pthread.h>

#include <algorithm>

#include "provider_softnet/driver/driver.h"

namespace softdat::softnet {
namespace {

// A waiting thread that drives needs no helper. After this many quiet ticks the helper sleeps until
// that thread leaves.
constexpr uint32_t kTicksBeforeDeepSleep = 32;
// Factor of the longest flush tick, which is reached while callers flush by themselves.
constexpr int kSlowestFlush = 4;

}  // namespace

void Driver::StopHelper() {
  if (!helper_.joinable() || abandoned_) return;
  stop_.store(true, std::memory_order_seq_cst);
  WakeHelper();
  Interrupt();
  helper_.join();
}

void Driver::WakeHelper() {
  counters_.helper_wakeups.Add();
  helper_sleep_.Wake();
}

// Whether callers have written gathered sends since the last look. If so, what is deferred now is
// young, and they will write it, too. This cannot go on for ever, because those who write and those
// who left something need not be the same.
bool Driver::CallersFlush() {
  constexpr int kMostInARow = 4;
  const uint32_t flushes = flushes_.load(std::memory_order_relaxed);
  const bool they_do = flushes != seen_flushes_ && left_to_callers_ < kMostInARow;
  // Our own flush follows and also counts, but it is not a caller's.
  seen_flushes_ = they_do ? flushes : flushes + 1;
  left_to_callers_ = they_do ? left_to_callers_ + 1 : 0;
  return they_do;
}

void Driver::RunHelper() {
  pthread_setname_np(pthread_self(), "softdat-helper");
  const CancelOff cancel;
  std::chrono::microseconds tick = options_.helper_tick;
  LoopClock::time_point flushing_until{};
  std::chrono::microseconds flush_tick = options_.flush_tick;
  uint32_t quiet_ticks = 0;
  while (!stop_.load(std::memory_order_seq_cst)) {
    LoopClock::time_point now = LoopClock::now();
    const bool flushing = now < flushing_until;
    const HelperSleep::Kind kind = flushing ? HelperSleep::Kind::kShortTick
                                   : quiet_ticks >= kTicksBeforeDeepSleep
                                       ? HelperSleep::Kind::kDeep
                                       : HelperSleep::Kind::kTick;
    helper_sleep_.Sleep(kind, flushing ? flush_tick : tick);
    if (stop_.load(std::memory_order_seq_cst)) return;
    now = LoopClock::now();

    // Callers have had a tick for it. The lock of a channel that a thread polls is hardly ever
    // free, and as long as the helper waits for it, that thread does not know that something is
    // owed.
    PayOwed(Channel::Patience::kLeave);
    if (!owing_.empty()) quiet_ticks = 0;  // the next tick looks again
    if (announced_.load(std::memory_order_seq_cst)) {
      flushing_until = now + options_.silence;
      if (!flushing) {
        flush_tick =
            options_.flush_tick;  // just woken for the first of them: give the caller this long
        continue;
      }
      if (CallersFlush()) {
        flush_tick = std::min(flush_tick * 2, options_.flush_tick * kSlowestFlush);
      } else {
        counters_.helper_flushes.Add();
        FlushDeferred(Channel::Flusher::kHelper);
        NoteProgress();
        flush_tick = options_.flush_tick;
      }
    } else if (!deferred_.empty() && !CallersFlush()) {  // deferred quietly, and left alone since
      counters_.helper_flushes.Add();
      FlushDeferred(Channel::Flusher::kHelper);
      NoteProgress();
    }

    const LoopClock::time_point looked = LoopClock::now();
    const CallerActivity::Duration silent = activity_.SilentFor(looked);
    if (silent < options_.silence) {
      counters_.helper_ticks.Add();
      quiet_ticks = 0;
      // Callers that have been silent for a part of it may have left.
      tick = silent < options_.silence / 4
                 ? options_.helper_tick
                 : std::chrono::ceil<std::chrono::microseconds>(options_.silence - silent);
      continue;
    }
    tick = options_.silence;
    if (token_.TryAcquire(DriverToken::Holder::kHelper)) {
      quiet_ticks = 0;
      HelperDrive(cancel);
      token_.Release();
    } else {
      ++quiet_ticks;
    }
  }
}

void Driver::HelperDrive(const CancelOff& cancel) {
  counters_.helper_drives.Add();
  helper_sleep_.BeginDrive();
  evict_helper_.store(false, std::memory_order_seq_cst);
  found_by_poll_.store(false, std::memory_order_relaxed);
  while (!stop_.load(std::memory_order_seq_cst) && !token_.WantedByAnybody() &&
         !evict_helper_.load(std::memory_order_seq_cst)) {
    BlockOnce(nullptr, LoopClock::time_point::max(), cancel);
  }
  PayOwed(Channel::Patience::kLeave);  // the next look may be a while away
  helper_sleep_.EndDrive();
}

void Driver::Abandon() {
  abandoned_ = true;
  // The thread exists in the parent only. A joinable handle would make the destructor end the
  // child.
  if (helper_.joinable()) helper_.detach();
}

}  // namespace softdat::softnet
