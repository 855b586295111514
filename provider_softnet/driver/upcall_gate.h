// SPDX-License-Identifier: BSD-3-Clause
// Completion upcalls run without any lock, so the object that they go to could be destroyed
// meanwhile. A gate counts the upcalls that run or are about to. Closing the gate waits for those
// of other threads, not for the caller's own (a consumer may free an EVD inside its own upcall).
//
// A thread that waits for a gate or for the driver token may be inside upcalls itself, and the
// thread that it waits for may be closing their gates. So it steps aside in its upcalls while it
// waits, and whoever closes a gate from inside an upcall does not wait for it. Its upcalls are at
// the consumer's call that waits. An object may be destroyed there, just as it may in its own
// upcall.
//
// This is not the gate of dat/backend_kit, which an upcall enters and runs in at once, under a
// mutex of its own. Here a thread enters under the lock that it holds anyway, gathers upcalls, and
// runs them when it has released the lock. Entering is one atomic addition, because it happens at
// every completion that is announced.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_UPCALL_GATE_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_UPCALL_GATE_H_

#include <atomic>
#include <cstdint>

#include "dat/base/thread_local.h"

namespace softdat::softnet {

class UpcallGate {
 public:
  UpcallGate() = default;
  UpcallGate(const UpcallGate&) = delete;
  UpcallGate& operator=(const UpcallGate&) = delete;

  // To be called under a lock that keeps the object alive. Leave() follows without the lock.
  void Enter() { state_.fetch_add(1, std::memory_order_relaxed); }
  void Leave() {
    state_.fetch_sub(1, std::memory_order_release);
    state_.notify_all();
  }
  // For an upcall that has entered, while its thread waits.
  void StepAside() {
    state_.fetch_add(kAside, std::memory_order_release);
    state_.notify_all();
  }
  // Returns false when the gate was closed meanwhile. An upcall that had not begun by then must not
  // begin.
  bool StepBack() { return (state_.fetch_sub(kAside, std::memory_order_acquire) & kClosed) == 0; }

  // Surrounds the upcall itself, on the stack of the thread that makes it. An upcall of another
  // kind has no gate.
  class Running {
   public:
    explicit Running(UpcallGate* gate = nullptr) : gate_(gate), outer_(innermost_) {
      innermost_ = this;
    }
    ~Running() { innermost_ = outer_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    friend class UpcallGate;
    UpcallGate* const gate_;
    Running* const outer_;
    static constinit thread_local Running* innermost_ SOFTDAT_EARLY_TLS;
  };

  // What a thread has entered and not begun (PendingUpcalls). The scopes of a thread nest.
  class Owing {
   public:
    Owing() : outer_(innermost_) { innermost_ = this; }
    virtual ~Owing() { innermost_ = outer_; }
    Owing(const Owing&) = delete;
    Owing& operator=(const Owing&) = delete;

   protected:
    virtual void StepAside() = 0;
    // Forgets the upcalls whose gate was closed meanwhile.
    virtual void StepBack() = 0;
    static Owing* innermost() { return innermost_; }
    Owing* outer() const { return outer_; }

   private:
    friend class UpcallGate;
    Owing* const outer_;
    static constinit thread_local Owing* innermost_ SOFTDAT_EARLY_TLS;
  };

  // The calling thread waits while this object lives.
  class Aside {
   public:
    Aside();
    ~Aside();
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;
  };

  // Waits until no other thread is inside. Nobody enters any more. The calling thread has already
  // left where it had entered without running (PendingUpcalls::Forgive).
  void Close();

 private:
  // Parts of state_: how many are inside, how many of these have stepped aside, whether it is
  // closed.
  static constexpr uint32_t kAside = uint32_t{1} << 15;
  static constexpr uint32_t kInside = kAside - 1;
  static constexpr uint32_t kClosed = uint32_t{1} << 31;

  // Closes the gate and returns true if at most `own` are inside (not counting those aside, on
  // request).
  bool CloseWith(uint32_t own, bool without_aside);

  std::atomic<uint32_t> state_{0};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_UPCALL_GATE_H_
