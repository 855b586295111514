// SPDX-License-Identifier: BSD-3-Clause
// How long a wait polls before it sleeps in the kernel.
//
// To sleep and be woken costs more than most answers take, above all where a processor that has
// nothing to do is slow to begin again. And when one end sleeps, its answer comes so late that the
// other one sleeps as well. So a sleep that was short doubles the time, up to `longest`; a long one
// puts it back, because then polling would have been in vain.
//
// Between two polls a thread yields, so that a peer on the same processor can answer. If another
// program is busy on that processor, it has it for a whole turn of the scheduler then, which is
// some milliseconds. A thread that sleeps instead is woken as soon as something comes. But where
// many programs wait as ours do, and yield to each other, some yields take as long, and who sleeps
// falls behind. Nobody tells which it is. So a long yield is followed by a pause, in which waits do
// not poll, and then the numbers of waits per time are compared. If the pause was better, the next
// one is twice as long, until the tries cost one percent of the time. If not, so many of the next
// long yields are no reason for a pause, and twice as many when that happens again.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_SPIN_LIMIT_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_SPIN_LIMIT_H_

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "dat/base/mutex.h"
#include "provider_softnet/driver/caller_activity.h"
#include "provider_softnet/driver/striped_counter.h"

namespace softdat::softnet {

// Any thread. When several of them sleep at once, one of two updates may be lost, which does no
// harm.
class SpinLimit {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr int kLongest = 10;  // times the first one
  // A yield is long if it took so much of the processor's own counter (CycleCount): half a
  // millisecond or less.
  static constexpr int64_t kLong = int64_t{1} << 20;
  // The pause, in times of the yield in front of it.
  static constexpr uint32_t kFirstPause = 2;
  static constexpr uint32_t kLongestPause = 256;
  // So many times as many waits make a pause worth while. It is much, because a thread that sleeps
  // also gets ahead of others that yield, and all of them lose.
  static constexpr double kWorthWhile = 4;
  // The number of long yields that bring about no pause.
  static constexpr uint32_t kFirstPatience = 4;
  static constexpr uint32_t kMostPatience = 4096;

  // `first`: 0 for waits that never poll.
  explicit SpinLimit(Duration first) : first_(first), now_(first.count()) {}

  // Whether a wait may poll. The counter is read only during a pause.
  bool spins() {
    return first_.count() > 0 &&
           (pause_.load(std::memory_order_relaxed) == 0 || !IsPaused(CycleCount()));
  }
  Duration now() const { return Duration(now_.load(std::memory_order_relaxed)); }
  Duration longest() const { return first_ * kLongest; }

  // A wait has polled in vain, and then slept so long until something came.
  void Slept(Duration slept) {
    const Duration before = now();
    if (slept > longest()) {
      Set(first_);
    } else if (before + slept <= longest()) {
      Set(std::min(2 * before, longest()));
    }
  }

  // A wait begins.
  void CountWait() { waits_.Add(); }
  uint64_t waits() const { return waits_.Sum(); }
  // A wait has yielded, between these two looks at the counter. They may be of two processors,
  // whose counters differ a little.
  void Yielded(uint64_t before, uint64_t after) {
    const auto away = static_cast<int64_t>(after - before);
    if (away >= kLong) [[unlikely]]
      YieldedForLong(static_cast<uint64_t>(away), after);
  }
  // Ends the pause when its time has come. A counter that was set back ends it, too.
  bool IsPaused(uint64_t count);

 private:
  // The number of waits in a time.
  struct Rate {
    uint64_t waits = 0, time = 0;
    bool IsAtLeast(double times, const Rate& other) const {
      return static_cast<double>(waits) * static_cast<double>(other.time) >=
             times * static_cast<double>(other.waits) * static_cast<double>(time);
    }
  };
  struct Span {
    uint64_t waits = 0, begin = 0;  // both when it began
  };

  void YieldedForLong(uint64_t away, uint64_t now);
  Rate NextSpan(uint64_t now);  // ends span_, and begins another one
  void Set(Duration limit) {
    if (limit != now()) now_.store(limit.count(), std::memory_order_relaxed);
  }

  const Duration first_;
  std::atomic<Duration::rep> now_;
  // The pause, by the counter: its beginning and its length, which is 0 while there is none.
  std::atomic<uint64_t> paused_at_{0};
  std::atomic<uint64_t> pause_{0};

  // Guards what follows.
  Mutex mutex_;
  bool compares_ = false;  // the next pause with what was since span_ began
  Span span_;
  Rate polled_;  // before the pause
  uint32_t next_pause_ = kFirstPause;
  uint32_t patience_ = 2 * kFirstPatience;  // to_ignore_ behind a pause that was no better
  uint32_t to_ignore_ = kFirstPatience;     // long yields

  StripedCounter waits_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_SPIN_LIMIT_H_
