// SPDX-License-Identifier: BSD-3-Clause
// Where a wait looks while it spins. Each of its rounds ends with a sched_yield(), and this
// program's own stands in front of the C library's, so that something can happen after as many
// rounds as a test likes.
#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <functional>
#include <thread>

#include "provider_softnet/driver/counting_channel.h"
#include "provider_softnet/driver/driver.h"

namespace {

// Of the spinning thread alone.
thread_local int rounds = 0;
thread_local std::function<void()> after_round;

}  // namespace

extern "C" [[gnu::visibility("default")]] int sched_yield() noexcept {
  ++rounds;
  if (after_round) after_round();
  return 0;
}

namespace softdat::softnet {
namespace {

using transport::ProgressResult;
using transport::Waiter;

class DriverSpinTest : public testing::Test {
 protected:
  // It spins for as long as any of these tests takes, and no helper steps in.
  DriverSpinTest()
      : driver_(
            DriverOptions{.spin = std::chrono::seconds(60), .helper_tick = std::chrono::hours(1)}) {
    EXPECT_TRUE(driver_.Start().ok());
    channel_ = RefPtr<CountingChannel>::Adopt(new CountingChannel(&driver_));
    other_ = RefPtr<CountingChannel>::Adopt(new CountingChannel(&driver_));
  }
  ~DriverSpinTest() override {
    after_round = nullptr;
    channel_->Close();
    other_->Close();
    driver_.Stop();
  }

  // A wait whose data come on `channel` after so many rounds. Returns how many rounds later it has
  // them.
  int RoundsToFind(CountingChannel* channel, int silent) {
    Waiter waiter;
    channel->waiter = &waiter;
    rounds = 0;
    after_round = [&] {
      if (rounds == silent) channel->PeerSends();
    };
    EXPECT_EQ(driver_.Progress(&waiter, Patience()), ProgressResult::kSignalled);
    after_round = nullptr;
    channel->waiter = nullptr;
    return rounds - silent;
  }

  Driver driver_;
  RefPtr<CountingChannel> channel_, other_;
};

// Nothing is hot while a connection is being made.
TEST_F(DriverSpinTest, WithNoHotStreamEachRoundLooksEverywhere) {
  ASSERT_TRUE(driver_.hot().empty());
  EXPECT_EQ(RoundsToFind(&*channel_, 3), 0);
}

TEST_F(DriverSpinTest, AHotStreamIsFoundInTheNextRound) {
  RoundsToFind(&*channel_, 1);
  ASSERT_FALSE(driver_.hot().empty());
  EXPECT_EQ(RoundsToFind(&*channel_, 3), 0);
  EXPECT_EQ(RoundsToFind(&*channel_, 100), 0);
}

TEST_F(DriverSpinTest, WhenHotStreamsAreSilentTheRestIsSoonLookedAt) {
  RoundsToFind(&*channel_, 1);
  ASSERT_FALSE(driver_.hot().empty());
  const int found_after = RoundsToFind(&*other_, 20);
  EXPECT_GE(found_after, 0);
  EXPECT_LT(found_after, 4);
}

// The same for a wait that polls the set of a queue: nothing has come for the queue yet, or what is
// hot is silent.
TEST_F(DriverSpinTest, AWaitOfAQueueLooksEverywhereToo) {
  const auto own = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kNo));
  const auto rounds_to_find = [&](CountingChannel* channel, int silent) {
    const int before = channel->received;
    rounds = 0;
    after_round = [&] {
      if (rounds == silent) channel->PeerSends();
    };
    LoopClock::time_point until{};
    while (driver_.Spin(own.get(), Patience(), &until) == ProgressResult::kIdle) {
    }
    after_round = nullptr;
    EXPECT_EQ(channel->received, before + 1);
    return rounds - silent;
  };
  EXPECT_EQ(rounds_to_find(&*channel_, 3), 0);
  ASSERT_FALSE(driver_.hot().empty());
  EXPECT_LT(rounds_to_find(&*other_, 20), 4);
}

// Another program is busy on this processor, and gets a whole turn by each yield.
class BusyProcessorTest : public DriverSpinTest {
 protected:
  // Brings about a pause.
  void YieldForLong() {
    static constexpr auto kTurn = std::chrono::milliseconds(3);
    // The pause is twice as long, which is enough for a test on a busy machine.
    static constexpr auto kLastTurn = std::chrono::milliseconds(300);
    RoundsToFind(&*channel_, 1);
    after_round = [] {
      const bool last = rounds == static_cast<int>(SpinLimit::kFirstPatience) + 1;
      std::this_thread::sleep_for(last ? kLastTurn : kTurn);
    };
    rounds = 0;
    LoopClock::time_point until{};
    while (driver_.Spin(own_.get(), Patience(), &until) == ProgressResult::kIdle) {
    }
    after_round = nullptr;
    EXPECT_EQ(rounds, SpinLimit::kFirstPatience + 1);
    rounds = 0;
  }

  const RefPtr<HotSet> own_ = RefPtr<HotSet>::Adopt(new HotSet(HotSet::Tells::kNo));
};

TEST_F(BusyProcessorTest, BothKindsOfWaitSleep) {
  YieldForLong();
  LoopClock::time_point until{};
  EXPECT_EQ(driver_.Spin(own_.get(), Patience(), &until), ProgressResult::kTimedOut);
  Waiter waiter;
  EXPECT_EQ(driver_.Progress(&waiter, LoopClock::now() + std::chrono::milliseconds(1)),
            ProgressResult::kTimedOut);
  EXPECT_EQ(rounds, 0);
}

TEST_F(BusyProcessorTest, AfterAWhileTheySpinAgain) {
  YieldForLong();
  LoopClock::time_point until{};
  EXPECT_TRUE(
      Until([&] { return driver_.Spin(own_.get(), Patience(), &until) == ProgressResult::kIdle; }));
}

}  // namespace
}  // namespace softdat::softnet
