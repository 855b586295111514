// SPDX-License-Identifier: BSD-3-Clause
// A place where a thread waits. The engine signals it when the event that the thread waits for may
// have happened. The back end parks the thread on it, or lets the thread drive the back end's own
// loop. In the latter case a signal interrupts that loop. Signals are sticky: one that comes before
// parking is not lost.
#ifndef SOFTDAT_DAT_TRANSPORT_WAITER_H_
#define SOFTDAT_DAT_TRANSPORT_WAITER_H_

#include <semaphore.h>

#include <atomic>
#include <chrono>
#include <cstdint>

namespace softdat::transport {

// Something that can wake a thread from a blocking call (a loop's wake-up descriptor).
class Interruptible {
 public:
  virtual ~Interruptible() = default;
  // Any thread, no lock needed. Cheap when nobody blocks.
  virtual void Interrupt() = 0;
};

class Waiter {
 public:
  enum class ParkResult : uint8_t { kSignalled, kTimedOut, kInterrupted };

  Waiter() { sem_init(&parking_, 0, 0); }
  ~Waiter() { sem_destroy(&parking_); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Any thread. Wakes the thread that parks or drives. Costs one atomic exchange when it does
  // neither.
  void Signal();

  bool signalled() const { return signalled_.load(std::memory_order_acquire); }

  // For the waiting thread, before it looks at what it waits for: forgets earlier signals. Without
  // a signal it stores nothing, so that a signal that comes meanwhile stays.
  void Clear() {
    if (signalled()) signalled_.store(false, std::memory_order_seq_cst);
  }

  // Set only by the waiting thread, before it calls Progress(): it has already waited actively
  // (Adapter::Spin), and wants to block.
  bool spun = false;

  // Back ends only. Blocks until the signal or the deadline. A cancellation point. With `nudged`, a
  // set flag ends it, too (as kSignalled; signalled() tells which it was).
  ParkResult Park(std::chrono::steady_clock::time_point deadline,
                  const std::atomic<bool>* nudged = nullptr);

  // Back ends only, any thread: makes a parked thread look at its `nudged` flag, which the caller
  // has set (seq_cst) before. It is not sticky, and not a signal.
  void Nudge();

  // Back ends only, around a blocking call of their own. While it is set, Signal() also calls
  // loop->Interrupt(). After SetLoop(loop), check signalled() again before blocking.
  void SetLoop(Interruptible* loop) { loop_.store(loop, std::memory_order_seq_cst); }

 private:
  // The sticky signal.
  std::atomic<bool> signalled_{false};
  // Whether a thread sleeps in Park(). It spares Signal() the semaphore.
  std::atomic<bool> parked_{false};
  // Park() sleeps here. It is a semaphore because such a wait ends for signal handlers, uses the
  // monotonic clock, and is a cancellation point. Posts may be stale; signalled_ is what counts.
  sem_t parking_;
  // The loop that the waiting thread drives now, or null.
  std::atomic<Interruptible*> loop_{nullptr};
};

}  // namespace softdat::transport

#endif  // SOFTDAT_DAT_TRANSPORT_WAITER_H_
