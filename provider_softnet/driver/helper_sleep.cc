// SPDX-License-Identifier: BSD-3-Clause
// The helper's sleep: no wake-up may be lost on the way into it.
#include "provider_softnet/driver/helper_sleep.h"

namespace softdat::softnet {

void HelperSleep::Sleep(Kind kind, std::chrono::microseconds tick) {
  std::unique_lock<std::mutex> lock(mutex_);
  kind_.store(kind, std::memory_order_seq_cst);
  // A waiting thread that drives wakes a deep sleep when it leaves, and may have left before the
  // store. It gives the token back, then loads kind_; here kind_ is stored, then the holder is
  // read. Both the giving back and this reading are critical sections of the token's mutex, so one
  // comes first. If it is ours, the store happens before the waiter's load, which finds kDeep: the
  // waiter wakes us, for which it needs mutex_ and therefore waits until we sleep. If it is the
  // waiter's, we see that it does not hold the token, and sleep for a tick only.
  if (kind == Kind::kDeep && token_->HolderInOrder() != DriverToken::Holder::kWaiter) {
    kind = Kind::kTick;
    kind_.store(kind, std::memory_order_seq_cst);
  }
  // A send that was deferred before the store has not woken us. One that was deferred quietly, and
  // what is owed, count on ticks, which a deep sleep has not.
  const bool pending = (kind != Kind::kShortTick && announced_->load(std::memory_order_seq_cst)) ||
                       (kind == Kind::kDeep && !(deferred_->empty() && owing_->empty()));
  if (!woken_ && !pending) {
    if (kind == Kind::kDeep) {
      wake_.wait(lock);
    } else {
      wake_.wait_for(lock, tick);
    }
  }
  woken_ = false;
  kind_.store(Kind::kAwake, std::memory_order_seq_cst);
}

void HelperSleep::BeginDrive() {
  const std::lock_guard<std::mutex> lock(mutex_);
  kind_.store(Kind::kDriving, std::memory_order_seq_cst);
}

void HelperSleep::EndDrive() {
  const std::lock_guard<std::mutex> lock(mutex_);
  kind_.store(Kind::kAwake, std::memory_order_seq_cst);
}

void HelperSleep::Wake() {
  const std::lock_guard<std::mutex> lock(mutex_);
  woken_ = true;
  // Somebody saw a sleep that has become a drive since: it goes on.
  if (kind() != Kind::kDriving) kind_.store(Kind::kAwake, std::memory_order_seq_cst);
  wake_.notify_one();
}

}  // namespace softdat::softnet
