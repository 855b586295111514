// SPDX-License-Identifier: BSD-3-Clause
// PathWatch: a kernel timer in the loop, so that waits need no deadline for it.
#include "provider_softnet/connection/path_watch.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "dat/base/log.h"
#include "provider_softnet/driver/descriptor_limit.h"

namespace softdat::softnet {
namespace {

// Looks within the limit. A dead path is noticed at most two looks late.
constexpr int kLooks = 8;

}  // namespace

bool PathJudge::IsDead(const PathSample& sample, LoopClock::time_point now,
                       std::chrono::milliseconds limit) {
  if (!sample.outstanding || !sample.asked) {
    Forget();
    return false;
  }
  if (silent_since_ == LoopClock::time_point{} || now - sample.since_answer > silent_since_) {
    silent_since_ = now;  // the peer lived then, or this is the first look
    return false;
  }
  return now - silent_since_ >= limit;
}

PathWatch::PathWatch(EventLoop* loop, std::chrono::milliseconds limit)
    : loop_(loop), limit_(limit) {}

bool PathWatch::Open() {
  if (timer_.valid()) return true;
  UniqueFd timer;
  do {
    timer = UniqueFd(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  } while (!timer.valid() && errno == EMFILE && RaiseDescriptorLimit());
  if (!timer.valid()) {
    SOFTDAT_LOG(Warning, "dead paths are not noticed: {}", strerror(errno));
    return false;
  }
  watch_.emplace(loop_, [this](int) { OnDue(); });
  if (const Status s = watch_->Start(timer.get(), kReadable); !s.ok()) {
    SOFTDAT_LOG(Warning, "dead paths are not noticed: {}", s.reason());
    watch_.reset();
    return false;
  }
  timer_ = std::move(timer);
  timer_set_.store(false, std::memory_order_release);
  return true;
}

void PathWatch::Add(WatchedPath* path) {
  if (limit_.count() == 0 || !Open() || path->listed()) return;
  paths_.Add(path);
  NoteSent();  // some bytes may have left already
}

void PathWatch::Remove(WatchedPath* path) { paths_.Remove(path); }

void PathWatch::SetTimer() {
  if (timer_set_.exchange(true, std::memory_order_acq_rel)) return;
  const std::chrono::nanoseconds period =
      std::max<std::chrono::nanoseconds>(limit_ / kLooks, std::chrono::milliseconds(1));
  itimerspec once{};
  once.it_value.tv_sec = static_cast<time_t>(period.count() / 1'000'000'000);
  once.it_value.tv_nsec = static_cast<long>(period.count() % 1'000'000'000);
  timerfd_settime(timer_.get(), 0, &once, nullptr);
}

void PathWatch::OnDue() {
  uint64_t expirations;
  [[maybe_unused]] const ssize_t n = ::read(timer_.get(), &expirations, sizeof(expirations));
  timer_set_.store(false, std::memory_order_seq_cst);
  const LoopClock::time_point now = LoopClock::now();
  bool outstanding = false;
  paths_.ForEach([&](WatchedPath* path) { outstanding |= path->LookAtPath(now); });
  if (outstanding) NoteSent();
}

}  // namespace softdat::softnet
