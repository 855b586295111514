// SPDX-License-Identifier: BSD-3-Clause
// Completion upcalls run without any lock, so the object they go to could be destroyed under them.
// A gate counts the upcalls that run or are about to; closing it waits for those of other threads,
// not for the caller's own (a consumer may free an EVD inside its own upcall).
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_UPCALL_GATE_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_UPCALL_GATE_H_

#include <atomic>
#include <cstdint>

namespace softdat::softnet {

class UpcallGate {
 public:
  UpcallGate() = default;
  UpcallGate(const UpcallGate&) = delete;
  UpcallGate& operator=(const UpcallGate&) = delete;

  // Under a lock that keeps the object alive; Leave() follows without it.
  void Enter() { entered_.fetch_add(1, std::memory_order_relaxed); }
  void Leave() {
    entered_.fetch_sub(1, std::memory_order_release);
    entered_.notify_all();
  }

  // Around the upcall itself, on the stack of the thread that makes it.
  class Running {
   public:
    explicit Running(const UpcallGate* gate) : gate_(gate), outer_(innermost_) {
      innermost_ = this;
    }
    ~Running() { innermost_ = outer_; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    friend class UpcallGate;
    const UpcallGate* const gate_;
    Running* const outer_;
    static constinit thread_local Running* innermost_;
  };

  // Waits until no other thread is inside. Nobody enters any more. What the calling thread has
  // entered without running yet has left before (PendingUpcalls::Forgive).
  void Close() const {
    uint32_t own = 0;
    for (const Running* r = Running::innermost_; r != nullptr; r = r->outer_)
      own += r->gate_ == this;
    while (true) {
      const uint32_t entered = entered_.load(std::memory_order_acquire);
      if (entered <= own) return;
      entered_.wait(entered, std::memory_order_acquire);
    }
  }

 private:
  std::atomic<uint32_t> entered_{0};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_UPCALL_GATE_H_
