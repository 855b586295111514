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

}  // namespace
}  // namespace softdat::softnet
