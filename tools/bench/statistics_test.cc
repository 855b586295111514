// SPDX-License-Identifier: BSD-3-Clause
// Tests of the statistics.
#include "tools/bench/statistics.h"

#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

TEST(Quantile, LiesBetweenNeighboursInProportion) {
  EXPECT_EQ(Quantile({}, 0.5), 0);
  EXPECT_EQ(Quantile({7}, 0.99), 7);
  EXPECT_DOUBLE_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({10, 0}, 0.25), 2.5);
  EXPECT_DOUBLE_EQ(Quantile({3, 1, 2}, 1), 3);
  EXPECT_DOUBLE_EQ(Median({5, 1, 9}), 5);
}

TEST(Summarize, AllColumns) {
  Samples samples;
  for (int i = 1000; i >= 1; --i) samples.push_back(i);
  const Distribution result = Summarize(samples);
  EXPECT_EQ(result.least, 1);
  EXPECT_EQ(result.most, 1000);
  EXPECT_DOUBLE_EQ(result.typical, 500.5);
  EXPECT_DOUBLE_EQ(result.average, 500.5);
  EXPECT_NEAR(result.deviation, 288.675, 0.001);
  EXPECT_NEAR(result.percent_99, 990.01, 0.001);
  EXPECT_NEAR(result.percent_99_9, 999.001, 0.001);
  EXPECT_EQ(Summarize({}).most, 0);
}

}  // namespace
}  // namespace softdat::tools
