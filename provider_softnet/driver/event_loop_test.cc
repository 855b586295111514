// SPDX-License-Identifier: BSD-3-Clause
// The event loop by itself: timers that expire while somebody starts or stops them.
#include "provider_softnet/driver/event_loop.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <vector>

#include "dat/base/cancel.h"
#include "provider_softnet/driver/unique_fd.h"

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

// The earlier of two comes first, and neither comes before its time.
TEST_F(EventLoopTest, TimersExpireInTheOrderOfTheirTimes) {
  std::vector<int> order;
  LoopTimer late(&loop_, [&] { order.push_back(2); });
  LoopTimer soon(&loop_, [&] { order.push_back(1); });
  const LoopClock::time_point begun = LoopClock::now();
  late.Start(std::chrono::microseconds(300));
  soon.Start(std::chrono::microseconds(200));
  const CancelOff no_cancellation;
  while (order.size() < 2) {
    loop_.Block(LoopClock::time_point::max(), no_cancellation);
    loop_.Dispatch();
    const auto passed = LoopClock::now() - begun;
    EXPECT_TRUE(order.empty() || passed >= std::chrono::microseconds(200));
    EXPECT_TRUE(order.size() < 2 || passed >= std::chrono::microseconds(300));
  }
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

// No clock of whole milliseconds is asked, and libuv has nothing to do.
TEST_F(EventLoopTest, ATimerNeedsNothingOfLibuv) {
  for (int i = 0; i < 3; ++i) {
    timer_.Start(std::chrono::microseconds(1));
    AwaitExpiry();
    loop_.Dispatch();
  }
  EXPECT_EQ(fired_, 3);
  EXPECT_EQ(counters_.uv_runs.value(), 0u);
  timer_.Start(std::chrono::microseconds(-1));
  loop_.Look();
  loop_.Dispatch();
  EXPECT_EQ(fired_, 4) << "what is late is due at once";
  timer_.Start(std::chrono::microseconds::max());
  loop_.Look();
  loop_.Dispatch();
  EXPECT_EQ(fired_, 4);
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

class SocketWatchTest : public EventLoopTest {
 protected:
  void SetUp() override {
    EventLoopTest::SetUp();
    int fds[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    own_ = UniqueFd(fds[0]);
    peer_ = UniqueFd(fds[1]);
  }
  // What the handler is told now. 0: it is not called.
  int Told() {
    told_ = 0;
    loop_.Look();
    loop_.Dispatch();
    return told_;
  }

  UniqueFd own_, peer_;
  int told_ = 0;
  SocketWatch watch_{&loop_, [this](int events) { told_ = events; }};
};

TEST_F(SocketWatchTest, TellsWhatItWaitsForAndNothingElse) {
  ASSERT_TRUE(watch_.Start(own_.get(), kReadable).ok());
  EXPECT_EQ(Told(), 0);
  ASSERT_EQ(write(peer_.get(), "x", 1), 1);
  EXPECT_EQ(Told(), kReadable);
  EXPECT_EQ(Told(), kReadable) << "as long as it is so";
  watch_.Update(kWritable);
  EXPECT_EQ(Told(), kWritable);
  watch_.Update(kReadable | kHangup);
  shutdown(peer_.get(), SHUT_WR);
  EXPECT_EQ(Told(), kReadable | kHangup);
}

TEST_F(SocketWatchTest, AnErrorIsEverything) {
  ASSERT_TRUE(watch_.Start(own_.get(), kUrgent).ok());
  peer_.Close();
  EXPECT_EQ(Told(), kError);
}

TEST_F(SocketWatchTest, NothingIsNotEvenAnError) {
  ASSERT_TRUE(watch_.Start(own_.get(), 0).ok());
  peer_.Close();
  EXPECT_EQ(Told(), 0);
  watch_.Update(kReadable);
  EXPECT_EQ(Told(), kError);
  watch_.Update(0);
  EXPECT_EQ(Told(), 0);
  EXPECT_TRUE(watch_.active());
}

TEST_F(SocketWatchTest, AStopForgetsWhatHappened) {
  ASSERT_EQ(write(peer_.get(), "x", 1), 1);
  ASSERT_TRUE(watch_.Start(own_.get(), kReadable).ok());
  loop_.Look();
  watch_.Stop();
  loop_.Dispatch();
  EXPECT_EQ(told_, 0);
  EXPECT_EQ(Told(), 0);
  ASSERT_TRUE(watch_.Start(own_.get(), kReadable).ok());
  EXPECT_EQ(Told(), kReadable);
}

TEST_F(SocketWatchTest, AnotherOneGoesOn) {
  int told_other = 0;
  SocketWatch other(&loop_, [&](int events) { told_other = events; });
  watch_.TakeOver(&other);
  EXPECT_FALSE(watch_.active()) << "it watched nothing";
  ASSERT_EQ(write(peer_.get(), "x", 1), 1);
  ASSERT_TRUE(other.Start(own_.get(), kReadable).ok());
  loop_.Look();
  watch_.TakeOver(&other);
  EXPECT_FALSE(other.active());
  EXPECT_EQ(Told(), kReadable);
  EXPECT_EQ(told_other, 0);
  other.Stop();
  EXPECT_EQ(Told(), kReadable);
  watch_.Update(kWritable);
  EXPECT_EQ(Told(), kWritable);
}

TEST_F(SocketWatchTest, WhatCannotBeWatchedIsAFailure) {
  const UniqueFd file(memfd_create("file", MFD_CLOEXEC));
  EXPECT_EQ(watch_.Start(file.get(), kReadable).code(), Code::kNoResources);
  EXPECT_FALSE(watch_.active());
}

}  // namespace
}  // namespace softdat::softnet
