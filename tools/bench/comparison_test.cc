// SPDX-License-Identifier: BSD-3-Clause
// Tests of ratios and verdicts.
#include "tools/bench/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

Comparison Row(Measure measure, double target, double floor, double dat) {
  Comparison row;
  row.what = "w";
  row.measure = measure;
  row.target = target;
  row.bytes_per_iteration = row.floor_bytes_per_iteration = 1000000;
  row.floor = {{floor, floor}, {2 * floor, 2 * floor}};
  row.series = {{dat, dat}, {2 * dat, 2 * dat}};
  return row;
}

TEST(Comparison, WhatIsGoodDependsOnTheMeasure) {
  EXPECT_TRUE(Row(Measure::kLatency, 1.2, 10e-6, 12e-6).Met());
  EXPECT_FALSE(Row(Measure::kLatency, 1.2, 10e-6, 12.1e-6).Met());
  EXPECT_TRUE(Row(Measure::kCpu, 1.2, 10e-6, 12e-6).Met());
  EXPECT_FALSE(Row(Measure::kCpu, 1.2, 10e-6, 12.1e-6).Met());
  EXPECT_TRUE(Row(Measure::kBandwidth, 0.85, 1e-3, 1.1e-3).Met());
  EXPECT_FALSE(Row(Measure::kBandwidth, 0.85, 1e-3, 1.3e-3).Met());
  EXPECT_TRUE(Row(Measure::kRate, 0.5, 1e-6, 2e-6).Met());
  EXPECT_FALSE(Row(Measure::kRate, 0.5, 1e-6, 2.1e-6).Met());
}

TEST(Comparison, AValueMayBeEnoughWhateverTheFloor) {
  Comparison row = Row(Measure::kBandwidth, 0.8, 1e-4, 4e-4);  // 10000 and 2500 MB/s
  EXPECT_FALSE(row.Met());
  row.enough = 2500;
  EXPECT_TRUE(row.Met());
  EXPECT_EQ(row.TargetText(), ">= 0.80 or >= 2500 MB/s");
  row.enough = 2501;
  EXPECT_FALSE(row.Met());
  row.target = 0;
  row.series = row.floor;
  row.enough = 10001;
  EXPECT_FALSE(row.Met());
  EXPECT_EQ(row.TargetText(), ">= 10001 MB/s");
  EXPECT_TRUE([] {
    Comparison fast = Row(Measure::kLatency, 1.2, 1e-6, 4e-6);
    fast.enough = 4;
    return fast.Met();
  }());
}

TEST(Comparison, AFloorMayHaveMessagesOfAnotherSize) {
  Comparison row = Row(Measure::kBandwidth, 0.8, 1e-3, 4e-3);
  row.floor_bytes_per_iteration = 250000;
  EXPECT_DOUBLE_EQ(row.Ratio().median, 1);
}

TEST(Comparison, TheRatioIsThatOfTheMediansAndItsSpreadThatOfTheSlices) {
  const Spread ratio = RatioOf({10, 20, 60}, {10, 10, 20});
  EXPECT_DOUBLE_EQ(ratio.median, 2);
  EXPECT_DOUBLE_EQ(ratio.low, 1.5);
  EXPECT_DOUBLE_EQ(ratio.high, 2.5);
  EXPECT_EQ(RatioOf({}, {}).median, 0);
}

TEST(Comparison, WhatWasNotMeasuredIsNotMet) {
  Comparison row = Row(Measure::kLatency, 1.2, 10e-6, 10e-6);
  row.impossible = "one CPU";
  EXPECT_FALSE(row.Met());
  row.impossible.clear();
  row.series = {};
  EXPECT_FALSE(row.Met());
}

TEST(Format, AsManyDigitsAsMeanSomething) {
  EXPECT_EQ(Format({7.351, 7.2, 7.61}), "7.35 (7.20..7.61)");
  EXPECT_EQ(Format({4321.5, 4000, 5000}), "4322 (4000..5000)");
  EXPECT_EQ(Format({0.0123, 0.01, 0.02}), "0.0123 (0.0100..0.0200)");
}

TEST(Render, TableAndJsonSayTheSame) {
  Comparison good = Row(Measure::kLatency, 1.2, 10e-6, 11e-6);
  Comparison bad = Row(Measure::kBandwidth, 0.85, 1e-3, 2e-3);
  Comparison none = Row(Measure::kLatency, 0.8, 1, 1);
  none.impossible = "one CPU";
  const std::string text = RenderComparisons({good, bad, none});
  EXPECT_THAT(text, HasSubstr("10.00 (10.00..10.00)"));
  EXPECT_THAT(text, HasSubstr("1.10 (1.10..1.10)  <= 1.20  met\n"));
  EXPECT_THAT(text, HasSubstr("500.00 (500.00..500.00)"));
  EXPECT_THAT(text, HasSubstr("0.50 (0.50..0.50)  >= 0.85  NOT met\n"));
  EXPECT_THAT(text, HasSubstr("not measured: one CPU\n"));
  const auto json = ComparisonsJson({good, bad, none});
  EXPECT_EQ(json[0]["met"], true);
  EXPECT_EQ(json[1]["met"], false);
  EXPECT_EQ(json[2]["not_measured"], "one CPU");
  EXPECT_DOUBLE_EQ(json[1]["dat_value"]["median"], 500);
}

}  // namespace
}  // namespace softdat::tools
