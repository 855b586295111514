// SPDX-License-Identifier: BSD-3-Clause
// Tests of interleaving, with units that keep their own time.
#include "tools/bench/interleave.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace softdat::tools {
namespace {

using testing::SizeIs;

TEST(ScaleIterations, ProportionalAndBounded) {
  EXPECT_EQ(ScaleIterations(100, 1.0, 0.5), 50u);
  EXPECT_EQ(ScaleIterations(1, 10.0, 0.1), 1u);
  EXPECT_EQ(ScaleIterations(4, 1e-9, 1.0), 4000u);
  EXPECT_EQ(ScaleIterations(4, 0, 1.0), 4000u);
  EXPECT_EQ(ScaleIterations(1'000'000'000'000, 0, 1.0), 1'000'000'000'000u);
}

// Takes a fixed time for each iteration, and notes its name in `order`.
Runnable Fake(const std::string& name, double each, std::string* order) {
  return [=](uint64_t iterations, JobResult* result) {
    *order += name;
    result->seconds = each * static_cast<double>(iterations);
    result->client_cpu = result->seconds;
    result->server_cpu = 2 * result->seconds;
    return Outcome();
  };
}

TEST(RunInterleaved, TakesTurnsAndChangesWhoIsFirst) {
  std::string order;
  std::vector<Series> series;
  ASSERT_TRUE(
      RunInterleaved({Fake("a", 1e-6, &order), Fake("b", 2e-6, &order), Fake("c", 3e-6, &order)},
                     {3, 0.1}, &series)
          .ok());
  EXPECT_EQ(order,
            "aaaabbbbcccc"
            "abc"
            "bca"
            "cab");
  ASSERT_THAT(series, SizeIs(3));
  EXPECT_THAT(series[0].seconds, SizeIs(3));
  EXPECT_NEAR(Median(series[0].seconds), 1e-6, 1e-12);
  EXPECT_NEAR(Median(series[1].seconds), 2e-6, 1e-12);
  EXPECT_NEAR(Median(series[1].cpu), 6e-6, 1e-12);
}

TEST(RunInterleaved, SlicesAreAsLongAsTheyShouldBe) {
  constexpr double kBeginning = 0.009;  // of a run, however long
  constexpr double kSlice = 0.05;
  double longest = 0, last = 0;
  std::vector<Series> series;
  const Runnable slow_to_begin = [&](uint64_t iterations, JobResult* result) {
    last = result->seconds = kBeginning + 1e-6 * static_cast<double>(iterations);
    longest = std::max(longest, last);
    return Outcome();
  };
  ASSERT_TRUE(RunInterleaved({slow_to_begin}, {3, kSlice}, &series).ok());
  EXPECT_GT(last, 0.7 * kSlice);
  EXPECT_LT(longest, 1.5 * kSlice);
}

TEST(RunInterleaved, ARunThatTakesNoTimeIsTriedSomeTimes) {
  int runs = 0;
  std::vector<Series> series;
  const Runnable no_time = [&runs](uint64_t, JobResult* result) {
    ++runs;
    *result = {};
    return Outcome();
  };
  ASSERT_TRUE(RunInterleaved({no_time}, {3, 0.05}, &series).ok());
  EXPECT_LT(runs, 20);
}

TEST(RunInterleaved, AFailureEndsIt) {
  std::string order;
  std::vector<Series> series;
  const Runnable broken = [](uint64_t, JobResult*) { return Outcome::Fail("broken"); };
  EXPECT_EQ(RunInterleaved({Fake("a", 1e-6, &order), broken}, {3, 0.1}, &series).message(),
            "broken");
}

}  // namespace
}  // namespace softdat::tools
