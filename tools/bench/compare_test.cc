// SPDX-License-Identifier: BSD-3-Clause
// Tests of medians, interleaving and verdicts, with units that keep their own time.
#include "tools/bench/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::DoubleEq;
using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

TEST(Median, OddEvenNone) {
  EXPECT_DOUBLE_EQ(Median({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(Median({}), 0);
}

TEST(ScaleIterations, ProportionalAndBounded) {
  EXPECT_EQ(ScaleIterations(100, 1.0, 0.5), 50u);
  EXPECT_EQ(ScaleIterations(1, 10.0, 0.1), 1u);
  EXPECT_EQ(ScaleIterations(4, 1e-9, 1.0), 4000u);
  EXPECT_EQ(ScaleIterations(4, 0, 1.0), 4000u);
}

// Takes a fixed time for each iteration and notes who ran.
class FakeUnit : public Unit {
 public:
  FakeUnit(std::string name, double each, std::string* order)
      : name_(std::move(name)), each_(each), order_(*order) {}
  std::string name() const override { return name_; }
  Outcome Run(uint64_t iterations, double* seconds) override {
    order_ += name_;
    if (fail_) return Outcome::Fail("broken");
    *seconds = each_ * static_cast<double>(iterations);
    return {};
  }
  bool fail_ = false;

 private:
  const std::string name_;
  const double each_;
  std::string& order_;
};

TEST(RunInterleaved, TakesTurnsAndChangesWhoIsFirst) {
  std::string order;
  FakeUnit a("a", 1e-6, &order);
  FakeUnit b("b", 2e-6, &order);
  Samples samples_a;
  Samples samples_b;
  ASSERT_TRUE(RunInterleaved(&a, &b, {3, 0.1}, &samples_a, &samples_b).ok());
  EXPECT_EQ(order,
            "aaabbb"
            "ab"
            "ba"
            "ab");
  EXPECT_THAT(samples_a, SizeIs(3));
  EXPECT_NEAR(Median(samples_a), 1e-6, 1e-12);
  EXPECT_NEAR(Median(samples_b), 2e-6, 1e-12);
}

TEST(RunInterleaved, AFailureEndsIt) {
  std::string order;
  FakeUnit a("a", 1e-6, &order);
  FakeUnit b("b", 2e-6, &order);
  b.fail_ = true;
  Samples samples;
  EXPECT_EQ(RunInterleaved(&a, &b, {3, 0.1}, &samples, &samples).message(), "broken");
}

Comparison Row(Measure measure, double target, double floor, double dat) {
  Comparison row;
  row.what = "w";
  row.measure = measure;
  row.target = target;
  row.bytes_per_iteration = 1000000;
  row.floor = {floor, floor};
  row.dat = {dat, dat};
  return row;
}

TEST(Comparison, SmallLatencyAndLargeBandwidthAreGood) {
  EXPECT_TRUE(Row(Measure::kLatency, 1.2, 10e-6, 12e-6).Met());
  EXPECT_FALSE(Row(Measure::kLatency, 1.2, 10e-6, 12.1e-6).Met());
  EXPECT_DOUBLE_EQ(Row(Measure::kLatency, 1.2, 10e-6, 5e-6).Ratio(), 0.5);
  EXPECT_TRUE(Row(Measure::kBandwidth, 0.85, 1e-3, 1.1e-3).Met());
  EXPECT_FALSE(Row(Measure::kBandwidth, 0.85, 1e-3, 1.3e-3).Met());
  EXPECT_DOUBLE_EQ(Row(Measure::kBandwidth, 0.85, 1e-3, 2e-3).Ratio(), 0.5);
}

TEST(Comparison, WhatWasNotMeasuredIsNotMet) {
  Comparison row = Row(Measure::kLatency, 1.2, 10e-6, 10e-6);
  row.impossible = "one CPU";
  EXPECT_FALSE(row.Met());
  row.impossible.clear();
  row.dat.clear();
  EXPECT_FALSE(row.Met());
}

TEST(Render, TableAndJsonSayTheSame) {
  Comparison good = Row(Measure::kLatency, 1.2, 10e-6, 11e-6);
  Comparison bad = Row(Measure::kBandwidth, 0.85, 1e-3, 2e-3);
  Comparison none = Row(Measure::kLatency, 0.8, 1, 1);
  none.impossible = "one CPU";
  const std::string text = RenderComparisons({good, bad, none});
  EXPECT_THAT(text, HasSubstr("10.00 us (10.00..10.00)"));
  EXPECT_THAT(text, HasSubstr("1.10   <= 1.20  met\n"));
  EXPECT_THAT(text, HasSubstr("500 MB/s (500..500)"));
  EXPECT_THAT(text, HasSubstr("0.50   >= 0.85  NOT met\n"));
  EXPECT_THAT(text, HasSubstr("not measured: one CPU\n"));
  const auto json = ComparisonsJson({good, bad, none});
  EXPECT_EQ(json[0]["met"], true);
  EXPECT_EQ(json[1]["met"], false);
  EXPECT_TRUE(json[2]["ratio"].is_null());
  EXPECT_DOUBLE_EQ(json[1]["dat_median"], 500);
  EXPECT_THAT(json[1]["dat_samples"].get<std::vector<double>>(), Each(DoubleEq(500)));
}

}  // namespace
}  // namespace softdat::tools
