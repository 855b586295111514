// SPDX-License-Identifier: BSD-3-Clause
// HandOnBacklog.
#include "provider_softnet/udp/hand_on_backlog.h"

#include <string.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <utility>

#include "provider_softnet/driver/patient_lock.h"

namespace softdat::softnet {
namespace {

constexpr std::chrono::milliseconds kPause{1};

bool IsSame(const MemberName& a, const MemberName& b) {
  return a.size == b.size && memcmp(&a.address, &b.address, a.size) == 0;
}

}  // namespace

HandOnBacklog::HandOnBacklog(Driver* driver, UdpCounters* counters, int fd)
    : driver_(driver), counters_(counters), fd_(fd), timer_(&driver->loop(), [this] { Retry(); }) {}

HandOnResult HandOnBacklog::HandOn(const MemberName& name, const sockaddr_storage& source,
                                   std::span<const uint8_t> datagram) {
  bool start = false;
  {
    std::unique_lock<Mutex> lock(mutex_, std::defer_lock);
    if (!LockPatiently(&lock, patience())) return HandOnResult::kFull;
    const bool behind = std::any_of(waiting_.begin(), waiting_.end(),
                                    [&](const Waiting& w) { return IsSame(w.name, name); });
    if (!behind) {
      const HandOnResult result = softnet::HandOn(fd_, name, source, datagram);
      if (result != HandOnResult::kFull) return result;
    }
    start = waiting_.empty();
    if (!Keep(name, source, datagram)) return HandOnResult::kFull;
  }
  if (start) {
    driver_->Post([weak = weak_from_this()] {
      if (const std::shared_ptr<HandOnBacklog> self = weak.lock()) self->Retry();
    });
  }
  return HandOnResult::kDone;
}

bool HandOnBacklog::Keep(const MemberName& name, const sockaddr_storage& source,
                         std::span<const uint8_t> datagram) {
  if (waiting_.size() >= kMost) return false;
  waiting_.push_back({name, source, {datagram.begin(), datagram.end()}, LoopClock::now()});
  return true;
}

void HandOnBacklog::Retry() {
  if (closed_) return;
  std::unique_lock<Mutex> lock(mutex_, std::defer_lock);
  if (!LockPatiently(&lock, patience())) return;
  RetryLocked();
  if (!waiting_.empty()) timer_.Start(kPause);
}

// A member that is full delays what is for others not at all.
void HandOnBacklog::RetryLocked() {
  const LoopClock::time_point oldest = LoopClock::now() - kLongest;
  std::vector<MemberName> full;
  std::deque<Waiting> still;
  for (Waiting& w : waiting_) {
    const bool blocked = std::any_of(full.begin(), full.end(),
                                     [&](const MemberName& name) { return IsSame(name, w.name); });
    const HandOnResult result =
        blocked ? HandOnResult::kFull : softnet::HandOn(fd_, w.name, w.source, w.datagram);
    if (result == HandOnResult::kNobody) counters_->nobodys.Add();
    if (result != HandOnResult::kFull) continue;
    if (!blocked) full.push_back(w.name);
    if (w.since < oldest) {
      counters_->member_full.Add();
    } else {
      still.push_back(std::move(w));
    }
  }
  waiting_ = std::move(still);
}

void HandOnBacklog::Drain(LoopClock::time_point deadline) {
  for (;;) {
    {
      std::unique_lock<Mutex> lock(mutex_, std::defer_lock);
      if (!LockPatiently(&lock, patience())) return;
      RetryLocked();
      if (waiting_.empty() || LoopClock::now() >= deadline) return;
    }
    std::this_thread::sleep_for(kPause);
  }
}

void HandOnBacklog::Close() {
  Drain(LoopClock::now() + kLongestAtTheEnd);
  closed_ = true;
  timer_.Close();
}

}  // namespace softdat::softnet
