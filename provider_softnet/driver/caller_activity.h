// SPDX-License-Identifier: BSD-3-Clause
// When the program's threads last called the driver, for the helper thread. A poll that found
// nothing takes some tens of nanoseconds, so to note its time may take a few. What counts is the
// processor's own counter, and the helper, which knows the time at each of its looks, works out how
// fast that goes.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_CALLER_ACTIVITY_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_CALLER_ACTIVITY_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

namespace softdat::softnet {

// Reads a counter that goes on at an even pace and is the same on all processors, or nearly so.
inline uint64_t CycleCount() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

class CallerActivity {
 public:
  using Duration = std::chrono::nanoseconds;
  using Time = std::chrono::time_point<std::chrono::steady_clock, Duration>;
  static constexpr Duration kLongest = std::chrono::hours(24);

  explicit CallerActivity(Time now = std::chrono::steady_clock::now(),
                          uint64_t count = CycleCount())
      : looked_(now), count_then_(count) {}

  // Any thread. Threads that call all the time store now and then only, so that they do not take
  // the line from each other.
  void Note(uint64_t count = CycleCount()) {
    if (count - last_.load(std::memory_order_relaxed) >= kGrain)
      last_.store(count, std::memory_order_relaxed);
  }

  // The helper, at each of its looks: how long nobody has called, at most kLongest. It is too long
  // by what kGrain counts, at most.
  Duration SilentFor(Time now, uint64_t count = CycleCount()) {
    const Duration passed = now - looked_;
    const uint64_t counted = count - count_then_;
    const bool went_on = passed.count() > 0 && count > count_then_;
    looked_ = now;
    count_then_ = count;
    const uint64_t last = last_.load(std::memory_order_relaxed);
    const bool called = std::exchange(last_then_, last) != last;
    // Counters of two processors may differ. A counter that was set back, as when a virtual machine
    // goes to another host, tells nothing of what was before.
    if (last > count) return called ? Duration(0) : kLongest;
    if (!went_on) return kLongest;
    const auto silent = static_cast<double>(count - last);
    const double ns = silent * static_cast<double>(passed.count()) / static_cast<double>(counted);
    return ns < static_cast<double>(kLongest.count()) ? Duration(static_cast<Duration::rep>(ns))
                                                      : kLongest;
  }

 private:
  // Some tens of microseconds of a counter of some gigahertz.
  static constexpr uint64_t kGrain = uint64_t{1} << 16;

  std::atomic<uint64_t> last_{0};
  // Of the helper thread:
  Time looked_;
  uint64_t count_then_;
  uint64_t last_then_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_CALLER_ACTIVITY_H_
