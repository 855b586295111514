// SPDX-License-Identifier: BSD-3-Clause
// Mutex: what happens when two threads meet.
#include "dat/base/mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace softdat {

namespace {

// The holder is in a short call, and may be about to leave it on another processor. This is about a
// microsecond, less than a sleep and a wake-up take.
constexpr int kLooks = 32;

}  // namespace

// A thread that slept takes the mutex as contended, because it cannot know whether others still
// sleep.
//
// This never yields, as std::atomic::wait() does before it sleeps. A thread that yields gives up
// what it has left of its turn. If a program spins on the same processor, that is some milliseconds
// for a lock that is held for one or two microseconds. A thread that sleeps gives up nothing.
void Mutex::LockContended() {
  for (int i = 0; i < kLooks; ++i) {
    if (state_.load(std::memory_order_relaxed) == kFree && try_lock()) return;
    __builtin_ia32_pause();
  }
  const int error = errno;
  while (state_.exchange(kContended, std::memory_order_acquire) != kFree) {
    syscall(SYS_futex, &state_, FUTEX_WAIT_PRIVATE, kContended, nullptr, nullptr, 0);
  }
  errno = error;
}

void Mutex::WakeOne() {
  const int error = errno;
  syscall(SYS_futex, &state_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = error;
}

}  // namespace softdat
