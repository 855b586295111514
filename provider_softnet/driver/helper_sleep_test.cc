// SPDX-License-Identifier: BSD-3-Clause
// Whatever happens while the helper falls asleep, somebody must serve the sockets afterwards.
#include "provider_softnet/driver/helper_sleep.h"

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <thread>

#include "dat/transport/waiter.h"

namespace softdat::softnet {
namespace {

using Kind = HelperSleep::Kind;
using std::chrono::microseconds;
using std::chrono::steady_clock;

// Only a test in which a wake-up was lost reaches this limit.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr microseconds kTick{50};

class Nobody final : public transport::Interruptible {
 public:
  void Interrupt() override {}
};

// A thread that waits for an event and drives, as in Driver::Wait().
class DrivingWaiter {
 public:
  explicit DrivingWaiter(DriverToken* token) : token_(token) {
    EXPECT_TRUE(token_->AcquireOrQueue(&self_));
  }
  void Leave(HelperSleep* sleep) {
    token_->Release();
    if (sleep->kind() == Kind::kDeep) sleep->Wake();
  }

 private:
  DriverToken* const token_;
  transport::Waiter waiter_;
  ParkedThread self_{&waiter_};
};

class HelperSleepTest : public testing::Test {
 protected:
  // Starts a helper thread for one sleep.
  void GoToSleep(Kind kind, microseconds tick) {
    over_ = false;
    helper_ = std::thread([this, kind, tick] {
      sleep_.Sleep(kind, tick);
      over_ = true;
    });
  }
  // Whether the sleep ends by itself. A sleep that does not is ended here, so that the test ends.
  bool Ends() {
    const bool ends = Until([this] { return over_.load(); });
    if (!ends) sleep_.Wake();
    helper_.join();
    return ends;
  }
  static bool Until(const std::function<bool()>& done) {
    const auto deadline = steady_clock::now() + kPatience;
    while (!done()) {
      if (steady_clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  Nobody nobody_;
  DriverToken token_{&nobody_};
  ChannelStack deferred_{0};
  std::atomic<bool> announced_{false};
  ChannelStack owing_{3};
  HelperSleep sleep_{&token_, &deferred_, &announced_, &owing_};
  std::atomic<bool> over_{false};
  std::thread helper_;
};

// The waiting thread left between the helper's decision and its sleep, and saw the helper awake.
TEST_F(HelperSleepTest, IsATickWhenTheWaitingThreadHasLeft) {
  DrivingWaiter waiter(&token_);
  waiter.Leave(&sleep_);
  GoToSleep(Kind::kDeep, kTick);
  EXPECT_TRUE(Ends());
}

TEST_F(HelperSleepTest, IsATickWhenAControlCallHoldsTheToken) {
  const TokenHold token(&token_);
  GoToSleep(Kind::kDeep, kTick);
  EXPECT_TRUE(Ends());
}

TEST_F(HelperSleepTest, EndsWhenTheWaitingThreadLeaves) {
  DrivingWaiter waiter(&token_);
  GoToSleep(Kind::kDeep, kTick);
  ASSERT_TRUE(Until([this] { return sleep_.kind() == Kind::kDeep; }));
  EXPECT_FALSE(over_);
  waiter.Leave(&sleep_);
  EXPECT_TRUE(Ends());
}

// The helper falls asleep and the thread leaves at the same time, in every order that the machine
// produces.
TEST_F(HelperSleepTest, SurvivesEveryMomentOfLeaving) {
  constexpr uint32_t kRounds = 2000;
  std::atomic<uint32_t> begun{0}, ended{0};
  helper_ = std::thread([&] {
    for (uint32_t round = 1; round <= kRounds; ++round) {
      while (begun.load() < round) std::this_thread::yield();
      sleep_.Sleep(Kind::kDeep, kTick);
      ended = round;
    }
  });
  uint32_t lost = 0;
  for (uint32_t round = 1; round <= kRounds; ++round) {
    DrivingWaiter waiter(&token_);
    begun = round;
    for (uint32_t i = 0; i < round % 512; ++i) begun.load();
    waiter.Leave(&sleep_);
    while (!Until([&] { return ended.load() >= round; })) {
      ++lost;
      sleep_.Wake();
    }
    if (lost > 0) break;
  }
  begun = kRounds;
  while (ended.load() < kRounds) sleep_.Wake();
  helper_.join();
  EXPECT_EQ(lost, 0u);
}

TEST_F(HelperSleepTest, KeepsAWakeUpForTheNextSleep) {
  DrivingWaiter waiter(&token_);
  sleep_.Wake();
  GoToSleep(Kind::kDeep, kTick);
  EXPECT_TRUE(Ends());
  waiter.Leave(&sleep_);
}

// A caller may be late when it wants to wake a sleep. What is deferred quietly must not rely on
// ticks then.
TEST_F(HelperSleepTest, AWakeDoesNotHideThatTheHelperDrives) {
  sleep_.BeginDrive();
  sleep_.Wake();
  EXPECT_EQ(sleep_.kind(), Kind::kDriving);
  sleep_.EndDrive();
  EXPECT_EQ(sleep_.kind(), Kind::kAwake);
  GoToSleep(Kind::kTick, microseconds(std::chrono::hours(1)));
  EXPECT_TRUE(Ends()) << "the wake counts for the next sleep";
}

}  // namespace
}  // namespace softdat::softnet
