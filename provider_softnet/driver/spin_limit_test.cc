// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/driver/spin_limit.h"

#include <gtest/gtest.h>

namespace softdat::softnet {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(SpinLimitTest, AShortSleepDoublesIt) {
  SpinLimit limit(microseconds(20));
  EXPECT_EQ(limit.now(), microseconds(20));
  limit.Slept(microseconds(50));
  EXPECT_EQ(limit.now(), microseconds(40));
  limit.Slept(microseconds(50));
  EXPECT_EQ(limit.now(), microseconds(80));
}

TEST(SpinLimitTest, NotBeyondTheLongest) {
  SpinLimit limit(microseconds(20));
  for (int i = 0; i < 10; ++i) limit.Slept(microseconds(0));
  EXPECT_EQ(limit.now(), microseconds(200));
  EXPECT_EQ(limit.now(), limit.longest());
}

// The longest poll would not have been long enough.
TEST(SpinLimitTest, WhatWouldHaveBeenInVainChangesNothing) {
  SpinLimit limit(microseconds(20));
  limit.Slept(microseconds(181));
  EXPECT_EQ(limit.now(), microseconds(20));
  limit.Slept(microseconds(180));
  EXPECT_EQ(limit.now(), microseconds(40));
  limit.Slept(microseconds(200));
  EXPECT_EQ(limit.now(), microseconds(40));
}

TEST(SpinLimitTest, ALongSleepPutsItBack) {
  SpinLimit limit(microseconds(20));
  for (int i = 0; i < 3; ++i) limit.Slept(microseconds(1));
  limit.Slept(milliseconds(1));
  EXPECT_EQ(limit.now(), microseconds(20));
}

TEST(SpinLimitTest, WhoNeverPollsDoesNotBegin) {
  SpinLimit limit(microseconds(0));
  EXPECT_FALSE(limit.spins());
  limit.Slept(microseconds(0));
  limit.Slept(microseconds(1));
  EXPECT_EQ(limit.now(), microseconds(0));
}

// -------------------------------------------------------------------------------------------------
// Pauses behind long yields. Times are those of a counter.

constexpr auto kLong = static_cast<uint64_t>(SpinLimit::kLong);

class SpinPauseTest : public testing::Test {
 protected:
  // A yield that takes so long.
  void Yield(uint64_t took) {
    limit_.Yielded(now_, now_ + took);
    now_ += took;
  }
  // A wait in which the thread yields, or sleeps for so long.
  void WaitWithAYield(uint64_t took) {
    limit_.CountWait();
    Yield(took);
  }
  // The pause, if there is one, with so many waits in the time of a long yield. Returns how long it
  // was.
  uint64_t Pause(uint32_t waits) {
    constexpr uint32_t kSteps = 8;
    const uint64_t begin = now_;
    for (uint32_t step = 0; limit_.IsPaused(now_); ++step) {
      for (uint32_t i = waits * step / kSteps; i < waits * (step + 1) / kSteps; ++i)
        limit_.CountWait();
      now_ += kLong / kSteps;
    }
    return now_ - begin;
  }
  // So many long yields, one in each wait.
  void LongYields(uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      EXPECT_FALSE(limit_.IsPaused(now_)) << i << " of " << count;
      WaitWithAYield(kLong);
    }
  }

  // How long the pauses are behind so many long yields, with so many waits in the time of each.
  uint64_t PausesBehind(uint64_t yields, uint32_t waits) {
    uint64_t paused = 0;
    for (uint64_t i = 0; i < yields; ++i) {
      WaitWithAYield(kLong);
      paused += Pause(waits);
    }
    return paused;
  }

  SpinLimit limit_{microseconds(20)};
  uint64_t now_ = uint64_t{1} << 40;
};

TEST_F(SpinPauseTest, QuickYieldsAreNoReason) {
  for (int i = 0; i < 1000; ++i) WaitWithAYield(kLong - 1);
  EXPECT_FALSE(limit_.IsPaused(now_));
}

TEST_F(SpinPauseTest, AFewLongYieldsAreNoReason) {
  LongYields(SpinLimit::kFirstPatience);
  EXPECT_FALSE(limit_.IsPaused(now_));
}

TEST_F(SpinPauseTest, ThePauseIsInTimesOfTheYieldBefore) {
  LongYields(SpinLimit::kFirstPatience);
  WaitWithAYield(3 * kLong);
  EXPECT_EQ(Pause(1), SpinLimit::kFirstPause * 3 * kLong);
}

// Another program is busy: who sleeps is woken at once, who yields waits for its turn.
TEST_F(SpinPauseTest, WhilePausesAreBetterTheTriesCostOnePercent) {
  constexpr uint64_t kTries = 1000;
  const uint64_t paused = PausesBehind(kTries, 40);
  EXPECT_GT(paused, 99 * kTries * kLong);
  EXPECT_LE(paused, SpinLimit::kLongestPause * kTries * kLong);
}

// Many programs yield to each other: who sleeps waits as long.
TEST_F(SpinPauseTest, WhilePausesAreNoBetterTheyBecomeRare) {
  constexpr uint64_t kYields = 4000;
  const uint64_t paused = PausesBehind(kYields, 1);
  EXPECT_GT(paused, 0U);
  EXPECT_LT(paused, kYields * kLong / 100);
}

// An hour in which nothing happened before says nothing about polls.
TEST_F(SpinPauseTest, TwiceAsManyWaitsAreNotWorthAPause) {
  for (uint32_t patience = SpinLimit::kFirstPatience; patience < 64; patience *= 2) {
    now_ += uint64_t{1} << 44;
    LongYields(patience);
    WaitWithAYield(kLong);
    EXPECT_EQ(Pause(2), SpinLimit::kFirstPause * kLong);
  }
}

TEST_F(SpinPauseTest, WhenTheOtherProgramLeavesWaitsPollAgain) {
  EXPECT_GT(PausesBehind(20, 40), 0U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(limit_.IsPaused(now_));
    WaitWithAYield(kLong / 100);
  }
}

// The thread came back on another processor, whose counter is behind.
TEST_F(SpinPauseTest, ACounterThatIsBehindIsNoLongYield) {
  for (uint32_t i = 0; i < 2 * SpinLimit::kFirstPatience; ++i) limit_.Yielded(now_, now_ - 1);
  EXPECT_FALSE(limit_.IsPaused(now_));
}

// A virtual machine went to another host.
TEST_F(SpinPauseTest, ACounterThatIsSetBackEndsThePause) {
  LongYields(SpinLimit::kFirstPatience + 1);
  EXPECT_TRUE(limit_.IsPaused(now_));
  EXPECT_FALSE(limit_.IsPaused(1));
}

// By the real counter.
TEST_F(SpinPauseTest, WaitsPollAgainAfterThePause) {
  LongYields(SpinLimit::kFirstPatience);
  EXPECT_TRUE(limit_.spins());
  const uint64_t now = CycleCount();
  limit_.Yielded(now - kLong, now);
  EXPECT_FALSE(limit_.spins());
  while (!limit_.spins()) {
  }
  EXPECT_GE(CycleCount() - now, SpinLimit::kFirstPause * kLong);
}

}  // namespace
}  // namespace softdat::softnet
