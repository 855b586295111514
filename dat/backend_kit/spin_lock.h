// SPDX-License-Identifier: BSD-3-Clause
// A lock for the few dozen instructions of a post or a poll, which take less time than a mutex
// does. It takes one atomic exchange to lock and a plain store to unlock.
#ifndef SOFTDAT_DAT_BACKEND_KIT_SPIN_LOCK_H_
#define SOFTDAT_DAT_BACKEND_KIT_SPIN_LOCK_H_

#include <sched.h>

#include <atomic>

namespace softdat {

// Lockable. It yields the processor when the lock is not free soon: the holder may have been
// preempted, or be in a system call when the device is a kernel module (soft-RoCE, soft-iWARP).
class SpinLock {
 public:
  void lock() {
    if (!locked_.exchange(true, std::memory_order_acquire)) return;
    LockSlowly();
  }
  bool try_lock() { return !locked_.exchange(true, std::memory_order_acquire); }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  __attribute__((noinline)) void LockSlowly() {
    do {
      for (int i = 0; locked_.load(std::memory_order_relaxed); ++i) {
        if (i < 64) {
          __builtin_ia32_pause();
        } else {
          sched_yield();
        }
      }
    } while (locked_.exchange(true, std::memory_order_acquire));
  }

  std::atomic<bool> locked_{false};
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BACKEND_KIT_SPIN_LOCK_H_
