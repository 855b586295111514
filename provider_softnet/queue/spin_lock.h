// SPDX-License-Identifier: BSD-3-Clause
// A lock for critical sections of a few nanoseconds: one atomic exchange to take, a plain store to
// give back. Spins briefly, then yields the processor, so that a holder that was preempted gets to
// run.
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_SPIN_LOCK_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_SPIN_LOCK_H_

#include <atomic>
#include <thread>

namespace softdat::softnet {

class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) {
      int spins = 0;
      while (taken_.load(std::memory_order_relaxed)) {
        if (++spins > 64) {
          std::this_thread::yield();
          spins = 0;
        }
      }
    }
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_SPIN_LOCK_H_
