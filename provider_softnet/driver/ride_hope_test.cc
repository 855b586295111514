// SPDX-License-Identifier: BSD-3-Clause
// Which debts are left to the program's next send.
#include "provider_softnet/driver/ride_hope.h"

#include <gtest/gtest.h>

#include <string>

namespace softdat::softnet {
namespace {

constexpr std::chrono::microseconds kRide{100};
constexpr std::chrono::microseconds kJustBefore = kRide - std::chrono::microseconds(1);

class RideHopeTest : public testing::Test {
 protected:
  bool Leave(bool owes) { return hope_.Leave(owes, posted_, now_, kRide); }

  // `debts` after each other, behind posts by the program, and what becomes of them: r if the debt
  // was left and rode on a post, e if it was left and then expired, p if it was paid at once.
  std::string Debts(int debts, bool answers) {
    std::string fates;
    for (int i = 0; i < debts; ++i) {
      ++posted_;
      if (!Leave(true)) {
        fates += 'p';
        continue;
      }
      now_ += kJustBefore;
      EXPECT_TRUE(Leave(true));
      now_ += kRide - kJustBefore;
      if (answers) ++posted_;
      EXPECT_FALSE(Leave(!answers));
      fates += answers ? 'r' : 'e';
    }
    return fates;
  }

  RideHope hope_;
  uint64_t posted_ = 0;
  RideHope::Time now_{};
};

TEST_F(RideHopeTest, AProgramThatAnswersTakesAllAlong) { EXPECT_EQ(Debts(8, true), "rrrrrrrr"); }

TEST_F(RideHopeTest, AProgramThatSendsNothingIsNotWaitedFor) {
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(Leave(true));
}

TEST_F(RideHopeTest, AfterEachWaitInVainMoreArePaidAtOnce) {
  EXPECT_EQ(Debts(14, false), "epeppeppppeppp");
}

// However often a program let a debt expire, one in 65 tells whether it answers now.
TEST_F(RideHopeTest, HopeComesBack) {
  Debts(1000, false);
  const std::string fates = Debts(66, true);
  const size_t first = fates.find('r');
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(fates.substr(first), std::string(fates.size() - first, 'r'));
  EXPECT_EQ(Debts(4, false), "epep");
}

// What it rode on had been posted before, and waited in the queue.
TEST_F(RideHopeTest, ADebtMayRideOnAnEarlierPost) {
  ++posted_;
  ASSERT_TRUE(Leave(true));
  EXPECT_FALSE(Leave(false));
  ++posted_;
  EXPECT_TRUE(Leave(true));
}

// Nobody looked while nothing was owed. The second debt has its own time.
TEST_F(RideHopeTest, ADebtBehindARideIsANewOne) {
  for (int i = 0; i < 8; ++i) {
    ++posted_;
    EXPECT_TRUE(Leave(true)) << i;
    now_ += kJustBefore;
  }
  EXPECT_TRUE(Leave(true));
  now_ += kRide;
  EXPECT_FALSE(Leave(true));
}

// A caller came, and paid as callers do. That says nothing about the program's answers.
TEST_F(RideHopeTest, ADebtThatSomebodyPaidIsForgotten) {
  ++posted_;
  ASSERT_TRUE(Leave(true));
  hope_.Forget(posted_);
  EXPECT_FALSE(Leave(true)) << "nothing was posted since";
  ++posted_;
  EXPECT_TRUE(Leave(true));
}

}  // namespace
}  // namespace softdat::softnet
