// SPDX-License-Identifier: BSD-3-Clause
// A mutex for the data path. An uncontended lock or unlock is one inline atomic instruction,
// without a call into the C library. A thread that finds the mutex taken sleeps in the kernel. It
// is not recursive, and never a cancellation point. Use it with std::lock_guard and
// std::unique_lock.
#ifndef SOFTDAT_DAT_BASE_MUTEX_H_
#define SOFTDAT_DAT_BASE_MUTEX_H_

#include <atomic>
#include <cstdint>

namespace softdat {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    if (!try_lock()) [[unlikely]]
      LockContended();
  }
  bool try_lock() {
    uint32_t expected = kFree;
    return state_.compare_exchange_strong(expected, kTaken, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kContended) [[unlikely]]
      WakeOne();
  }

 private:
  // kContended: taken, and threads may be asleep until it is free.
  enum : uint32_t { kFree, kTaken, kContended };

  void LockContended();
  void WakeOne();

  std::atomic<uint32_t> state_{kFree};
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_MUTEX_H_
