// SPDX-License-Identifier: BSD-3-Clause
// SpinLimit: pauses behind long yields.
#include "provider_softnet/driver/spin_limit.h"

#include <mutex>
#include <utility>

namespace softdat::softnet {

SpinLimit::Rate SpinLimit::NextSpan(uint64_t now) {
  const uint64_t count = waits();
  const Rate rate{count - span_.waits, now - span_.begin};
  span_ = {count, now};
  return rate;
}

// Of several threads at once, one is enough.
void SpinLimit::YieldedForLong(uint64_t away, uint64_t now) {
  const std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || pause_.load(std::memory_order_relaxed) != 0) return;
  // The comparison begins here. A program may have done something else since the pause before.
  if (!std::exchange(compares_, true)) NextSpan(now);
  if (to_ignore_ > 0) {
    --to_ignore_;
    return;
  }
  polled_ = NextSpan(now);
  ++polled_.waits;  // the one that is under way
  compares_ = false;
  paused_at_.store(now, std::memory_order_relaxed);
  pause_.store(next_pause_ * away, std::memory_order_relaxed);
}

bool SpinLimit::IsPaused(uint64_t count) {
  if (count - paused_at_.load(std::memory_order_relaxed) < pause_.load(std::memory_order_relaxed)) {
    return true;
  }
  const std::unique_lock<Mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || pause_.load(std::memory_order_relaxed) == 0) return false;
  if (NextSpan(count).IsAtLeast(kWorthWhile, polled_)) {
    next_pause_ = std::min(2 * next_pause_, kLongestPause);
    patience_ = kFirstPatience;
    to_ignore_ = 1;
  } else {
    next_pause_ = kFirstPause;
    to_ignore_ = patience_;
    patience_ = std::min(2 * patience_, kMostPatience);
  }
  pause_.store(0, std::memory_order_relaxed);
  return false;
}

}  // namespace softdat::softnet
