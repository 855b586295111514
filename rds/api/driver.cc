// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/driver.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <csignal>

namespace softdat::rds {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// How long the background thread leaves events alone after a call. While calls come, each time
// twice as long: it wakes in the middle of what they do.
constexpr Time kPatience = milliseconds(1), kMostPatience = milliseconds(4);
// After so many looks at the same waiting call, it looks no more.
constexpr int kLooks = 10;
// How often a process tries to become the one whom RDS's own service belongs to.
constexpr Time kHoldEvery = milliseconds(250);

DAT_TIMEOUT TimeoutUntil(std::optional<Time> until, Time now) {
  if (!until) return DAT_TIMEOUT_INFINITE;
  const auto left = std::chrono::ceil<microseconds>(*until - now).count();
  return static_cast<DAT_TIMEOUT>(std::clamp<int64_t>(left, 0, 3'600'000'000));
}

std::optional<Time> Sooner(std::optional<Time> a, std::optional<Time> b) {
  if (!a) return b;
  return b ? std::min(*a, *b) : *a;
}

}  // namespace

Time Now() {
  return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now().time_since_epoch());
}

Driver::Driver(Adapter* adapter, std::mutex* mutex, DriverHost* host)
    : adapter_(*adapter), mutex_(*mutex), host_(*host), patience_(kPatience) {
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  background_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Returns when to try again, if somebody else has the service.
std::optional<Time> Driver::TryToHold(Time now) {
  if (now < hold_at_) return hold_at_;
  if (adapter_.Hold()) {
    host_.OnHold(adapter_);
    return std::nullopt;
  }
  hold_at_ = now + kHoldEvery;
  return hold_at_;
}

// Returns whether a signal ended it.
bool Driver::Turn(std::unique_lock<std::mutex>& lock, std::optional<Time> until) {
  host_.BeforeWait();
  until = Sooner(until, host_.deadline());
  if (!adapter_.holds()) until = Sooner(until, TryToHold(Now()));
  DAT_EVENT event;
  const DAT_TIMEOUT timeout = TimeoutUntil(until, Now());
  lock.unlock();
  const Adapter::Arrived arrived = adapter_.Wait(timeout, &event);
  lock.lock();
  const Time now = Now();
  host_.AfterWait(now);
  // No look beyond the events that are there. It would acknowledge what has come by a packet of its
  // own, and the frames that leave after this turn carry that.
  for (int left = arrived.events; left > 0; --left) {
    adapter_.Handle(event);
    if (left > 1 && !adapter_.Next(&event)) break;
  }
  last_turn_ = now;
  return arrived.interrupted;
}

Driver::Result Driver::Drive(std::unique_lock<std::mutex>& lock, std::optional<Time> until) {
  if (holder_ == Holder::kCaller) return Result::kBusy;
  if (holder_ == Holder::kBackground) {
    ++callers_;
    adapter_.Wake();
    stepped_back_.wait(lock, [this] { return holder_ != Holder::kBackground; });
    --callers_;
    // Its turn may have brought what this call waits for.
    return Result::kTurn;
  }
  holder_ = Holder::kCaller;
  ++holds_;
  const bool interrupted = Turn(lock, until);
  holder_ = Holder::kNobody;
  last_call_ = last_turn_;
  if (parked_) wake_background_.notify_one();
  return interrupted ? Result::kInterrupted : Result::kTurn;
}

// While calls come, looking once in a while costs less than being woken by each of them.
void Driver::StepBack(std::unique_lock<std::mutex>& lock) {
  const uint64_t seen = holds_;
  for (int look = 0; look < kLooks; ++look) {
    wake_background_.wait_for(lock, patience_);
    if (holds_ != seen) patience_ = std::min(2 * patience_, kMostPatience);
    if (holder_ != Holder::kCaller || holds_ != seen) return;
  }
  parked_ = true;
  wake_background_.wait(lock, [this] { return holder_ != Holder::kCaller; });
  parked_ = false;
}

void Driver::Run() {
  pthread_setname_np(pthread_self(), "rds");
  std::unique_lock lock(mutex_);
  while (true) {
    if (holder_ == Holder::kCaller || callers_ > 0 || Now() - last_call_ < kPatience) {
      StepBack(lock);
      continue;
    }
    patience_ = kPatience;
    holder_ = Holder::kBackground;
    Turn(lock, std::nullopt);
    host_.EndTurn(*this, last_turn_);
    holder_ = Holder::kNobody;
    stepped_back_.notify_all();
    if (callers_ > 0) last_call_ = Now();
    host_.WakeProgram(lock);
  }
}

}  // namespace softdat::rds
