// SPDX-License-Identifier: BSD-3-Clause
// What channels owe, and when it is paid.
#include "provider_softnet/driver/driver.h"

namespace softdat::softnet {

// Threads in the loop look at the stack before they sleep, and the helper looks at its ticks. So
// only a thread that already sleeps in the loop must be told. If that is the helper, it is woken:
// callers come and go, and this caller may be the last. If it is a waiting thread, the helper may
// be asleep without ticks, and then the helper is woken.
[[gnu::hot]] void Driver::Owe(Channel* channel) {
  if (!owing_.Push(channel)) return;
  if (blocked_.load(std::memory_order_seq_cst) != Blocked::kLong) return;
  if (token_.holder() == DriverToken::Holder::kHelper) {
    Kick();
  } else if (helper_sleep_.kind() == HelperSleep::Kind::kDeep) {
    WakeHelper();
  }
}

bool Driver::PayOwed(Channel::Patience patience) {
  if (owing_.empty()) return false;
  busy_turns_.store(0, std::memory_order_relaxed);
  bool worked = false;
  paying_.fetch_add(1, std::memory_order_seq_cst);  // before the take: see PayAtExit
  owing_.TakeAll([&worked, patience](Channel* channel) { worked |= channel->PayOwed(patience); });
  paying_.fetch_sub(1, std::memory_order_release);
  return worked;
}

// Runs after a turn. A turn that found nothing pays what is owed. So does the last of many turns in
// a row that found something, because they may have found it on other streams.
[[gnu::hot]] bool Driver::PayAfterTurn(bool worked) {
  constexpr uint32_t kMostBusyTurns = 16;
  if (owing_.empty()) return false;
  const uint32_t busy = busy_turns_.load(std::memory_order_relaxed) + 1;
  if (!worked || busy >= kMostBusyTurns) return PayOwed(Channel::Patience::kLeave);
  busy_turns_.store(busy, std::memory_order_relaxed);
  return false;
}

bool Driver::PayOrLeave() {
  if (owing_.empty()) {
    ride_until_ = {};
    return false;
  }
  const LoopClock::time_point now = LoopClock::now();
  const bool worked =
      PayOwed(EventLoop::SleepsExactly() ? Channel::Patience::kRide : Channel::Patience::kWait);
  if (owing_.empty()) {
    ride_until_ = {};
  } else if (now >= ride_until_) {
    ride_until_ = now + options_.ride;
  }
  return worked;
}

}  // namespace softdat::softnet
