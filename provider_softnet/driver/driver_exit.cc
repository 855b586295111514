// SPDX-License-Identifier: BSD-3-Clause
// The part of Driver that serves the last words of a process that exits.
#include <time.h>

#include <future>
#include <memory>
#include <utility>

#include "provider_softnet/driver/driver.h"

namespace softdat::softnet {

void Driver::PayAtExit() {
  constexpr auto kLongest = std::chrono::milliseconds(100);
  constexpr timespec kLook{.tv_sec = 0, .tv_nsec = 100'000};
  const LoopClock::time_point until = LoopClock::now() + kLongest;
  while (true) {
    owing_.TakeAll([](Channel* channel) { channel->PayOwed(Channel::Patience::kTry); });
    // A channel that is not in the stack any more was taken by a thread that has not paid it yet,
    // and that may put it back. If no thread pays, it has done so.
    const bool is_done = paying_.load(std::memory_order_seq_cst) == 0 && owing_.empty();
    if (is_done || LoopClock::now() >= until) return;
    nanosleep(&kLook, nullptr);
  }
}

void Driver::RunAtExit(LoopClock::time_point deadline, std::function<void()> task) {
  if (token_is_lent_.load(std::memory_order_seq_cst)) return task();
  if (token_.TryAcquire(DriverToken::Holder::kControl)) {
    task();
    token_.Release();
    return;
  }
  const auto ended = std::make_shared<std::promise<void>>();
  const bool posted = Post([task = std::move(task), ended] {
    task();
    ended->set_value();
  });
  if (posted) ended->get_future().wait_until(deadline);
}

}  // namespace softdat::softnet
