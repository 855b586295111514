// SPDX-License-Identifier: BSD-3-Clause
// A mutex for the objects that each operation locks. To lock it is one atomic instruction. To
// unlock it is a plain store, which costs next to nothing, where a Mutex needs a second atomic
// instruction. It is not recursive, and never a cancellation point. Use it with std::lock_guard and
// std::unique_lock.
//
// There is a price. After the store, unlock() looks whether somebody sleeps. So the mutex has to
// outlive each unlock(): whoever destroys it knows, by a pin or a counted reference, that no thread
// is inside.
#ifndef SOFTDAT_DAT_BASE_FAST_MUTEX_H_
#define SOFTDAT_DAT_BASE_FAST_MUTEX_H_

#include <atomic>
#include <cstdint>

namespace softdat {

class FastMutex {
 public:
  FastMutex() = default;
  FastMutex(const FastMutex&) = delete;
  FastMutex& operator=(const FastMutex&) = delete;

  void lock() {
    if (!try_lock()) [[unlikely]]
      LockContended();
  }
  bool try_lock() { return taken_.exchange(1, std::memory_order_acquire) == 0; }
  void unlock() {
    taken_.store(0, std::memory_order_release);
    if (asleep_.load(std::memory_order_relaxed)) [[unlikely]]
      WakeOne();
  }

 private:
  void LockContended();
  void WakeOne();

  std::atomic<uint32_t> taken_{0};
  // Threads may sleep until it is free. The processor may look at it before others see that the
  // mutex is free. So the look may come too early, and nobody sleeps without a limit.
  std::atomic<bool> asleep_{false};
};

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_FAST_MUTEX_H_
