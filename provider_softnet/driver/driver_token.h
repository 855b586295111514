// SPDX-License-Identifier: BSD-3-Clause
// The driver token decides who may touch the uv loop of an adapter. One thread holds it at a time,
// recursively (for a control call from inside an upcall). It is handed on in this order:
//   1. control calls (Acquire) in the order of their arrival,
//   2. parked waiters, first the thread that gave way for a control call,
//   3. the helper, when nobody else wants it (TryAcquire).
// A holder that blocks in the loop asks WantedBy...() after each wake-up. Whoever queues wakes it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_TOKEN_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_TOKEN_H_

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "dat/base/cancel.h"
#include "dat/base/mutex.h"
#include "dat/transport/waiter.h"

namespace softdat::softnet {

// A waiting thread in the queue of the token. It lives on the thread's stack.
struct ParkedThread {
  explicit ParkedThread(transport::Waiter* w) : waiter(w) {}
  transport::Waiter* waiter;
  std::atomic<bool> granted{false};  // the thread now has the token; written under its mutex
  // Guarded by the token's mutex:
  const void* thread = nullptr;
  bool queued = false;
  ParkedThread* next = nullptr;
  ParkedThread* previous = nullptr;
};

class DriverToken {
 public:
  enum class Holder : uint8_t { kNobody, kControl, kPoller, kWaiter, kHelper };

  // `blocked_holder` is interrupted whenever somebody queues. It decides whether that needs a
  // system call.
  explicit DriverToken(transport::Interruptible* blocked_holder)
      : blocked_holder_(blocked_holder) {}
  DriverToken(const DriverToken&) = delete;
  DriverToken& operator=(const DriverToken&) = delete;

  // Takes the token when it is free and nobody queues, or when this thread already has it. Never
  // blocks.
  bool TryAcquire(Holder as);
  // Takes the token, and blocks until its turn has come. Not a cancellation point.
  void Acquire(Holder as);
  // To be called once for each successful acquisition of any kind.
  void Release();

  // For a thread that waits for an event. Takes the token, or queues `self` and returns false. In
  // the latter case the thread parks on its waiter, and finds self->granted set when the token was
  // handed to it. A helper in the loop is asked to leave. A waiting thread that drives is not.
  bool AcquireOrQueue(ParkedThread* self);
  // Leaves the queue. Returns true when the token had been granted, and so belongs to the caller.
  bool LeaveQueue(ParkedThread* self);
  // The driving waiter steps aside for control calls, and queues at the front. Returns false, and
  // does nothing, when it drives from inside an upcall.
  bool GiveWay(ParkedThread* self);

  bool HeldByMe() const { return owner_.load(std::memory_order_relaxed) == Me(); }
  // For the holder: whether somebody with a better right queues. A driving waiter ignores parked
  // waiters. The helper must leave for anybody.
  bool WantedByControl() const { return control_waiting_.load(std::memory_order_seq_cst) != 0; }
  bool WantedByAnybody() const {
    return WantedByControl() || parked_waiting_.load(std::memory_order_seq_cst) != 0;
  }
  bool HasParked() const { return parked_waiting_.load(std::memory_order_relaxed) != 0; }
  Holder holder() const { return holder_.load(std::memory_order_relaxed); }
  // The same, but ordered with every acquisition and release by the token's mutex.
  Holder HolderInOrder() {
    const std::lock_guard<Mutex> lock(mutex_);
    return holder();
  }
  uint64_t hand_overs() const { return hand_overs_.load(std::memory_order_relaxed); }

 private:
  struct ControlWaiter {
    const void* thread;
    Holder as;
    bool granted = false;
    ControlWaiter* next = nullptr;
    std::condition_variable_any ready;
  };

  // Identifies living threads. It is cheaper than the address of a thread-local object.
  static const void* Me() { return reinterpret_cast<const void*>(pthread_self()); }
  void Take(const void* thread, Holder as);
  void Unlink(ParkedThread* parked);
  void HandOn();  // mutex held: passes the token to the next in line, if any

  transport::Interruptible* const blocked_holder_;
  // Protects the queues and every change of owner.
  Mutex mutex_;
  // Identity of the holder. Written under mutex_. It is read without the mutex only for the
  // question "is it me", whose answer no other thread can change.
  std::atomic<const void*> owner_{nullptr};
  std::atomic<Holder> holder_{Holder::kNobody};
  int depth_ = 0;  // the holder's
  ControlWaiter* control_head_ = nullptr;
  ControlWaiter* control_tail_ = nullptr;
  ParkedThread* parked_head_ = nullptr;
  ParkedThread* parked_tail_ = nullptr;
  // Lengths of the two queues, so that the holder can ask without the mutex.
  std::atomic<int> control_waiting_{0};
  std::atomic<int> parked_waiting_{0};
  std::atomic<uint64_t> hand_overs_{0};
};

// Holds the token for a scope (control calls). It switches cancellation off, because a thread that
// is cancelled in close() or connect() would leave an object half changed.
class TokenHold {
 public:
  explicit TokenHold(DriverToken* token) : token_(token) {
    token_->Acquire(DriverToken::Holder::kControl);
  }
  ~TokenHold() { token_->Release(); }
  TokenHold(const TokenHold&) = delete;
  TokenHold& operator=(const TokenHold&) = delete;

 private:
  const CancelOff no_cancellation_;
  DriverToken* const token_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_DRIVER_TOKEN_H_
