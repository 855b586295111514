// SPDX-License-Identifier: BSD-3-Clause
// The helper's sleep. No wake-up may be lost while the helper falls asleep.
#include "provider_softnet/driver/helper_sleep.h"

namespace softdat::softnet {

void HelperSleep::Sleep(Kind kind, std::chrono::microseconds tick) {
  std::unique_lock<std::mutex> lock(mutex_);
  kind_.store(kind, std::memory_order_seq_cst);
  // A waiting thread that drives wakes a deep sleep when it leaves, but it may have left before the
  // store. It first returns the token and then loads kind_. Here kind_ is stored first, and then
  // the holder is read. Returning the token and reading the holder are both critical sections of
  // the token's mutex, so one of them comes first. If ours is first, the store happens before the
  // waiter's load. The waiter then finds kDeep and wakes us. It needs mutex_ for that, and so waits
  // until we sleep. If the waiter's is first, we see that it does not hold the token, and sleep for
  // a tick only.
  if (kind == Kind::kDeep && token_->HolderInOrder() != DriverToken::Holder::kWaiter) {
    kind = Kind::kTick;
    kind_.store(kind, std::memory_order_seq_cst);
  }
  // A send that was deferred before the store has not woken us. A send that was deferred quietly
  // relies on ticks, and so does what is owed, but a deep sleep has none.
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
  // The caller saw a sleep that has become a drive since. The drive goes on.
  if (kind() != Kind::kDriving) kind_.store(Kind::kAwake, std::memory_order_seq_cst);
  wake_.notify_one();
}

}  // namespace softdat::softnet
