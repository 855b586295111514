// SPDX-License-Identifier: BSD-3-Clause
// Mutex: what happens when two threads meet.
#include "dat/base/mutex.h"

namespace softdat {

// A thread that slept takes the mutex as contended, because it cannot know whether others still
// sleep.
void Mutex::LockContended() {
  while (state_.exchange(kContended, std::memory_order_acquire) != kFree) {
    state_.wait(kContended, std::memory_order_relaxed);
  }
}

void Mutex::WakeOne() { state_.notify_one(); }

}  // namespace softdat
