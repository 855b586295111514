// SPDX-License-Identifier: BSD-3-Clause
// Dispatcher: a queue, a timer table and a worker.
#include "provider_toy/dispatcher.h"

#include <signal.h>

namespace softdat::toy {

// The right to make upcalls. It ends with the scope, also when the thread is cancelled inside an
// upcall.
class Dispatcher::Turn {
 public:
  // `lock` holds mutex_, and holds it again when the turn ends.
  Turn(Dispatcher& dispatcher, std::unique_lock<std::mutex>& lock)
      : dispatcher_(dispatcher), lock_(lock) {
    dispatcher_.busy_ = true;
  }
  ~Turn() {
    if (!lock_.owns_lock()) lock_.lock();
    dispatcher_.busy_ = false;
    dispatcher_.changed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  void RunFirst() {
    Upcall upcall = std::move(dispatcher_.queue_.front());
    dispatcher_.queue_.pop_front();
    lock_.unlock();
    {
      const UpcallGate::Pass pass(*upcall.gate);
      if (pass.open()) upcall.function();
    }
    // The objects that the upcall owns die here, without a lock. A connection request then rejects
    // itself.
    upcall = Upcall();
    lock_.lock();
  }

 private:
  Dispatcher& dispatcher_;
  std::unique_lock<std::mutex>& lock_;
};

transport::Clock::time_point DeadlineOf(std::chrono::microseconds timeout) {
  const auto now = transport::Clock::now();
  const auto left =
      std::chrono::duration_cast<std::chrono::microseconds>(transport::kForever - now);
  return timeout < left ? now + timeout : transport::kForever;
}

Dispatcher::Dispatcher() {
  // The worker takes no signals, which are for the consumer's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  worker_ = std::thread([this] { Work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Dispatcher::~Dispatcher() {
  if (abandoned_) {
    worker_.detach();
    return;
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  worker_.join();
}

void Dispatcher::Post(std::shared_ptr<UpcallGate> gate, std::function<void()> upcall) {
  const std::lock_guard<std::mutex> lock(mutex_);
  queue_.push_back({std::move(gate), std::move(upcall)});
  changed_.notify_all();
}

Dispatcher::TimerId Dispatcher::PostAt(transport::Clock::time_point when,
                                       std::shared_ptr<UpcallGate> gate,
                                       std::function<void()> upcall) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const TimerId timer(when, ++last_timer_);
  timers_[timer] = {std::move(gate), std::move(upcall)};
  changed_.notify_all();
  return timer;
}

void Dispatcher::Cancel(const TimerId& timer) {
  Upcall cancelled;  // must be destroyed after the lock
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = timers_.find(timer);
  if (found == timers_.end()) return;
  cancelled = std::move(found->second);
  timers_.erase(found);
}

bool Dispatcher::RunPending() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (busy_ || queue_.empty()) return false;
  Turn turn(*this, lock);
  while (!queue_.empty()) turn.RunFirst();
  return true;
}

void Dispatcher::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stop_) {
    while (!timers_.empty() && timers_.begin()->first.first <= transport::Clock::now()) {
      queue_.push_back(std::move(timers_.begin()->second));
      timers_.erase(timers_.begin());
    }
    if (!busy_ && !queue_.empty()) {
      Turn turn(*this, lock);
      turn.RunFirst();
    } else if (timers_.empty()) {
      changed_.wait(lock);
    } else {
      const transport::Clock::time_point next = timers_.begin()->first.first;
      changed_.wait_until(lock, next);
    }
  }
}

}  // namespace softdat::toy
