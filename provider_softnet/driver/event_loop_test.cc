// SPDX-License-Identifier: BSD-3-Clause
// The event loop by itself: timers that expire while somebody starts or stops them.
#include "provider_softnet/driver/event_loop.h"

#include <gtest/gtest.h>

#include "dat/backend_kit/cancel.h"

namespace softdat::softnet {
namespace {

class EventLoopTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(loop_.Open().ok()); }
  void TearDown() override { timer_.Close(); }

  // Sleeps until the timer has expired, but its handler has not run yet.
  void AwaitExpiry() {
    const CancelOff no_cancellation;
    while (timer_.running()) loop_.Block(LoopClock::time_point::max(), no_cancellation);
  }

  DriverCounters counters_;
  EventLoop loop_{&counters_};
  int fired_ = 0;
  LoopTimer timer_{&loop_, [this] { ++fired_; }};
};

TEST_F(EventLoopTest, AnExpiryIsDispatchedOnce) {
  timer_.Start(std::chrono::milliseconds(1));
  AwaitExpiry();
  EXPECT_EQ(fired_, 0);
  loop_.Dispatch();
  loop_.Dispatch();
  EXPECT_EQ(fired_, 1);
}

TEST_F(EventLoopTest, ANewStartReplacesAnExpiryWhoseTurnHasNotCome) {
  timer_.Start(std::chrono::milliseconds(1));
  AwaitExpiry();
  timer_.Start(std::chrono::hours(1));
  loop_.Dispatch();
  EXPECT_EQ(fired_, 0);
  EXPECT_TRUE(timer_.running());
}

TEST_F(EventLoopTest, SoDoesAStop) {
  timer_.Start(std::chrono::milliseconds(1));
  AwaitExpiry();
  timer_.Stop();
  loop_.Dispatch();
  EXPECT_EQ(fired_, 0);
}

// What a handler waits for may have happened together with what the handler is for.
TEST_F(EventLoopTest, AHandlerThatDispatchesGetsWhatHappenedTogetherWithItsEvent) {
  int seen_inside = -1;
  LoopTimer first(&loop_, [&] {
    EXPECT_TRUE(loop_.HasWork());
    loop_.Dispatch();
    seen_inside = fired_;
    EXPECT_FALSE(loop_.HasWork());
  });
  first.Start(std::chrono::milliseconds(1));
  timer_.Start(std::chrono::milliseconds(1));
  const CancelOff no_cancellation;
  while (first.running()) loop_.Block(LoopClock::time_point::max(), no_cancellation);
  AwaitExpiry();
  loop_.Dispatch();
  EXPECT_EQ(seen_inside, 1);
  EXPECT_EQ(fired_, 1);
  first.Close();
}

}  // namespace
}  // namespace softdat::softnet
