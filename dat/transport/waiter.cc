// SPDX-License-Identifier: BSD-3-Clause
// Waiter: a sticky signal, and a semaphore to sleep on.
#include "dat/transport/waiter.h"

#include <errno.h>
#include <time.h>

namespace softdat::transport {
namespace {

// Marks the thread as sleeping while this object lives, even when the thread is cancelled in its
// sleep.
class ParkedMark {
 public:
  explicit ParkedMark(std::atomic<bool>* parked) : parked_(parked) {
    parked_->store(true, std::memory_order_seq_cst);
  }
  ~ParkedMark() { parked_->store(false, std::memory_order_seq_cst); }
  ParkedMark(const ParkedMark&) = delete;
  ParkedMark& operator=(const ParkedMark&) = delete;

 private:
  std::atomic<bool>* parked_;
};

timespec ToTimespec(std::chrono::steady_clock::time_point t) {
  // steady_clock is CLOCK_MONOTONIC in libstdc++.
  const auto ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(t.time_since_epoch()).count();
  timespec ts{};
  ts.tv_sec = static_cast<time_t>(ns / 1'000'000'000);
  ts.tv_nsec = static_cast<long>(ns % 1'000'000'000);
  return ts;
}

}  // namespace

void Waiter::Signal() {
  // seq_cst on both sides: either we see loop_ and parked_, or the waiting thread sees signalled_.
  if (signalled_.exchange(true, std::memory_order_seq_cst)) return;
  if (Interruptible* loop = loop_.load(std::memory_order_seq_cst)) loop->Interrupt();
  if (parked_.load(std::memory_order_seq_cst)) sem_post(&parking_);
}

void Waiter::Nudge() {
  if (parked_.load(std::memory_order_seq_cst)) sem_post(&parking_);
}

Waiter::ParkResult Waiter::Park(std::chrono::steady_clock::time_point deadline,
                                const std::atomic<bool>* nudged) {
  const ParkedMark mark(&parked_);
  const bool forever = deadline == std::chrono::steady_clock::time_point::max();
  const timespec until = forever ? timespec{} : ToTimespec(deadline);
  while (!signalled_.load(std::memory_order_seq_cst) &&
         (nudged == nullptr || !nudged->load(std::memory_order_seq_cst))) {
    const int rc =
        forever ? sem_wait(&parking_) : sem_clockwait(&parking_, CLOCK_MONOTONIC, &until);
    if (rc == 0) continue;
    if (errno == ETIMEDOUT) return ParkResult::kTimedOut;
    if (errno == EINTR) return ParkResult::kInterrupted;
  }
  return ParkResult::kSignalled;
}

}  // namespace softdat::transport
