// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/objects/queue_cores.h"

#include <gtest/gtest.h>

#include <chrono>

#include "dat/transport/transport.h"
#include "provider_softnet/driver/caller_activity.h"

namespace softdat::softnet {
namespace {

struct Nobody final : transport::CompletionSink {
  void OnCompletion() override {}
  void OnOverflow() override {}
};

// With many completions to take, a program does not come to the driver for some milliseconds. The
// helper thread must not take it for a silent one, or both are in each other's way.
TEST(SoftnetCompletionQueueTest, WhoTakesCompletionsIsActive) {
  constexpr size_t kEach = SoftnetCompletionQueue::kTakenForACall;
  constexpr auto kAMoment = std::chrono::minutes(1);
  Nobody sink;
  CallerActivity callers;
  SoftnetCompletionQueue queue(2 * kEach, &sink, &callers);
  const auto is_active = [&] {
    return callers.SilentFor(std::chrono::steady_clock::now()) < kAMoment;
  };
  const auto take = [&](size_t count) {
    for (size_t i = 0; i < count; ++i) {
      transport::Completion completion;
      static_cast<void>(queue.core()->ring.Push({}));  // nobody is to be told
      EXPECT_EQ(queue.Poll({&completion, 1}), 1u);
      EXPECT_EQ(queue.Poll({&completion, 1}), 0u);
    }
  };
  take(kEach - 1);
  EXPECT_FALSE(is_active());
  take(1);
  EXPECT_TRUE(is_active());
}

}  // namespace
}  // namespace softdat::softnet
