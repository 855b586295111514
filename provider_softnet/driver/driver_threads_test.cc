// SPDX-License-Identifier: BSD-3-Clause
// What threads of one driver see of each other: progress, and what they leave to each other.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "provider_softnet/driver/driver_fixture.h"

namespace softdat::softnet {
namespace {

using transport::Waiter;

// -------------------------------------------------------------------------------------------------
// Progress, as the gathering of sends sees it

class EpochTest : public DriverTest {
 protected:
  // The helper makes progress when it comes to sleep in the loop, and none from then on.
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_TRUE(HelperDrives());
    before_ = Now();
  }
  // As a post of this thread sees it.
  Epoch Now() const { return driver_->EpochFor(sends_.get(), receives_.get()); }
  bool Progress() const { return Now().IsBehind(before_); }
  static RefPtr<HotSet> NewSet() { return RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kNo)); }
  // The set is not empty, or the driver's own would count.
  void Poll(HotSet* set) {
    set->OnFoundByTurn(channel_.get());
    driver_->Poll(set);
  }
  static void Elsewhere(const std::function<void()>& work) { std::thread(work).join(); }

  const RefPtr<HotSet> sends_ = NewSet(), receives_ = NewSet(), others_ = NewSet();
  Epoch before_;
};

TEST_F(EpochTest, PostsInARowSeeNoProgress) { EXPECT_FALSE(Progress()); }

TEST_F(EpochTest, APollOfTheSameThreadIsProgress) {
  Poll(others_.get());
  EXPECT_TRUE(Progress());
}

TEST_F(EpochTest, AnotherThreadsPollForTheSameQueuesIsProgress) {
  for (const RefPtr<HotSet>& set : {sends_, receives_}) {
    before_ = Now();
    Elsewhere([&] { Poll(set.get()); });
    EXPECT_TRUE(Progress());
  }
}

// It would end this thread's burst in the middle.
TEST_F(EpochTest, AnotherThreadsPollForOtherQueuesIsNone) {
  Elsewhere([&] { Poll(others_.get()); });
  EXPECT_FALSE(Progress());
}

// Two threads that post in turn go on with one burst.
TEST_F(EpochTest, APostOfAnotherThreadSeesNone) {
  Poll(others_.get());
  before_ = Now();
  Elsewhere([&] { EXPECT_FALSE(Progress()); });
}

TEST_F(EpochTest, AnotherThreadThatLooksAtNoQueueMakesProgress) {
  Elsewhere([&] { driver_->Progress(nullptr, LoopClock::now()); });
  EXPECT_TRUE(Progress());
}

TEST_F(EpochTest, AWaitIsProgress) {
  Elsewhere([&] {
    Waiter waiter;
    driver_->Progress(&waiter, LoopClock::now());
  });
  EXPECT_TRUE(Progress());
}

// -------------------------------------------------------------------------------------------------
// What others have

// A thread that polls has its own data to look for.
TEST_F(DriverTest, APollLeavesWhatIsOwedWhileAnotherThreadHasTheChannel) {
  channel_->in_use = true;
  driver_->Owe(channel_.get());
  for (int i = 0; i < 3; ++i) driver_->Progress(nullptr, LoopClock::now());
  EXPECT_GE(channel_->left, 3);
  EXPECT_EQ(channel_->payments, 0);
  channel_->in_use = false;
  EXPECT_TRUE(Until([&] {
    driver_->Progress(nullptr, LoopClock::now());
    return channel_->payments == 1;
  }));
}

// The helper of this one does nothing unless it is woken.
class PassiveHelperTest : public DriverTest {
 protected:
  PassiveHelperTest() { options_.helper_tick = std::chrono::hours(1); }
};

// The helper was woken for it, and goes on to watch what a poll has left.
TEST_F(PassiveHelperTest, TheHelperWatchesWhatAPollHasLeft) {
  channel_->in_use = true;
  driver_->DeferSends(channel_.get(), Driver::Wake::kHelper);
  driver_->Progress(nullptr, LoopClock::now());
  channel_->in_use = false;
  EXPECT_TRUE(Until([&] { return channel_->flushes > 0; }));
}

// Its caller sleeps when it has found nothing, so it must not leave a socket to another thread.
TEST_F(DriverTest, ALookAroundIsNotInPassing) {
  for (int i = 1; i <= 20; ++i) {
    channel_->PeerSends();
    EXPECT_TRUE(Until([&] {
      driver_->LookAround();
      return channel_->received == i;
    }));
    const TokenHold token(&driver_->token());
    driver_->DropHot(channel_.get());  // or the next one is found there
  }
  EXPECT_EQ(channel_->found_in_passing, 0);
}

TEST_F(DriverTest, APollLooksInPassing) {
  for (int i = 1; channel_->found_in_passing == 0 && i <= 1000; ++i) {
    channel_->PeerSends();
    EXPECT_TRUE(Until([&] {
      driver_->Progress(nullptr, LoopClock::now());
      return channel_->received == i;
    }));
    const TokenHold token(&driver_->token());
    driver_->DropHot(channel_.get());
  }
  EXPECT_GT(channel_->found_in_passing, 0);
}

// The process exits while a thread is about to leave what is owed to the one that has the channel.
TEST_F(PassiveHelperTest, WhatIsLeftWhileTheProcessExitsIsPaid) {
  std::atomic<bool> leaving{false};
  channel_->in_use = true;
  channel_->before_leaving = [&] {
    leaving = true;
    // The exit comes in between. If it comes later, there is nothing to see.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  driver_->Owe(channel_.get());
  std::thread polling([&] { driver_->Progress(nullptr, LoopClock::now()); });
  ASSERT_TRUE(Until([&] { return leaving.load(); }));
  driver_->PayAtExit();
  EXPECT_GE(channel_->payments, 1);
  polling.join();
}

}  // namespace
}  // namespace softdat::softnet
