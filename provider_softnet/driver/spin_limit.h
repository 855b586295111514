// SPDX-License-Identifier: BSD-3-Clause
// How long a wait polls before it sleeps in the kernel.
//
// To sleep and be woken costs more than most answers take, above all where a processor that has
// nothing to do is slow to begin again. And when one end sleeps, its answer comes so late that the
// other one sleeps as well. So a sleep that was short doubles the time, up to `longest`; a long one
// puts it back, because then polling would have been in vain.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_SPIN_LIMIT_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_SPIN_LIMIT_H_

#include <algorithm>
#include <atomic>
#include <chrono>

namespace softdat::softnet {

// Any thread. When several of them sleep at once, one of two updates may be lost, which does no
// harm.
class SpinLimit {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr int kLongest = 10;  // times the first one

  // `first`: 0 for waits that never poll.
  explicit SpinLimit(Duration first) : first_(first), now_(first.count()) {}

  bool spins() const { return first_.count() > 0; }
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

 private:
  void Set(Duration limit) {
    if (limit != now()) now_.store(limit.count(), std::memory_order_relaxed);
  }

  const Duration first_;
  std::atomic<Duration::rep> now_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_SPIN_LIMIT_H_
