// SPDX-License-Identifier: BSD-3-Clause
// Driver: the helper thread, which leads while no caller does.
#include <signal.h>

#include "provider_verbs/driver.h"

namespace softdat::verbs {
namespace {

// How long nobody must have led before the helper does. This is long compared with the pause
// between two waits of a busy program, so the helper never leads in a steady ping-pong.
constexpr auto kTick = std::chrono::milliseconds(2);

}  // namespace

void Driver::WakeHelper() {
  if (blocking_.load(std::memory_order_seq_cst)) {
    Interrupt();
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (leader_.load(std::memory_order_relaxed) != Leader::kNone) {
    // The leader looks at the news before it blocks and when it leaves.
    if (blocking_.load(std::memory_order_seq_cst)) Interrupt();
    return;
  }
  helper_urgent_ = true;
  helper_wanted_.notify_one();
}

void Driver::Help() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  const CancelOff off;
  std::unique_lock<std::mutex> lock(mutex_);
  uint64_t seen = leads_;
  while (!stop_) {
    if (leader_.load(std::memory_order_relaxed) == Leader::kNone && followers_.empty() &&
        (helper_urgent_ || seen == leads_)) {
      helper_urgent_ = false;
      leader_.store(Leader::kHelper, std::memory_order_relaxed);
      leader_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
      while (!stop_ && followers_.empty()) {
        lock.unlock();
        bool interrupted = false;
        Turn(transport::kForever, off, &interrupted);
        lock.lock();
      }
      ReleaseLocked();
      seen = leads_;
      continue;
    }
    // A caller that blocks for long needs no ticking helper beside it.
    const bool long_wait =
        leader_.load(std::memory_order_relaxed) == Leader::kCaller && seen == leads_;
    seen = leads_;
    if (long_wait) {
      helper_parked_ = true;
      helper_wanted_.wait(lock);
      helper_parked_ = false;
      seen = leads_ - 1;  // a whole tick must pass first
    } else {
      helper_wanted_.wait_for(lock, kTick);
    }
  }
}

}  // namespace softdat::verbs
