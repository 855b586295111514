// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

StressInterval Example() {
  StressInterval interval;
  interval.seconds = 1;
  interval.counts.counts[kRequestsSent] = 1454;
  interval.counts.counts[kRequestsReceived] = 1426;
  interval.counts.counts[kBytesSent] = 1024;
  interval.counts.counts[kSendCalls] = 1;
  interval.counts.counts[kSendNs] = 372080;
  interval.counts.counts[kAcksReceived] = 1;
  interval.counts.counts[kRttNs] = 4201480;
  interval.counts.rtts[RttBucket(4201480)] = 1;
  return interval;
}

TEST(StressReport, ColumnsAreThoseOfRdsStress) {
  EXPECT_EQ(StressHeading(),
            "tsks   tx/s   rx/s  tx+rx K/s    mbi K/s    mbo K/s tx us/c   rtt us cpu %\n");
  EXPECT_EQ(StressRow(2, Example()),
            "   2   1454   1426       1.00       0.00       0.00  372.08  4201.48 -1.00\n");
}

TEST(StressReport, AverageTellsOnlyWhatWasUnusual) {
  const StressInterval total = Example();
  const std::string usual = StressAverage(2, total, total.counts);
  EXPECT_THAT(usual, HasSubstr("---------------------------------------------\n   2   1454"));
  EXPECT_THAT(usual, HasSubstr("-1.00  (average)\n"));
  EXPECT_EQ(std::count(usual.begin(), usual.end(), '\n'), 2);
  StressCounts counts = total.counts;
  counts.counts[kCongestionMet] = 5;
  counts.counts[kKeysAgain] = 6;
  const std::string text = StressAverage(2, total, counts);
  EXPECT_THAT(text, HasSubstr("congested: 5 times, 0 of them"));
  EXPECT_THAT(text, HasSubstr("given out again: 6 times"));
}

TEST(StressReport, HistogramShowsEveryBucketThatIsNotEmpty) {
  EXPECT_EQ(StressHistogram({}), "no round trips\n");
  StressCounts counts;
  counts.rtts[RttBucket(1000)] = 1000000;
  counts.rtts[RttBucket(8000)] = 1;
  const std::string text = StressHistogram(counts);
  EXPECT_THAT(text, HasSubstr("       1000000  " + std::string(50, '#') + "\n"));
  EXPECT_THAT(text, HasSubstr("             1  #\n"));
  EXPECT_THAT(text, Not(HasSubstr(" 0  ")));
}

TEST(StressReport, Json) {
  StressResult result;
  result.active = true;
  result.address = "10.0.0.1";
  result.total = Example();
  result.intervals = {Example()};
  result.final_counts = Example().counts;
  const std::string text = StressJson(result);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["role"], "active");
  EXPECT_EQ(json["rds"], "library");
  EXPECT_EQ(json["job"]["tasks"], 1);
  EXPECT_EQ(json["average"]["requests_sent_per_second"], 1454);
  EXPECT_EQ(json["average"].count("cpu_percent"), 0u);
  EXPECT_EQ(json["counts"]["requests_received"], 1426);
  EXPECT_EQ(json["intervals"].size(), 1u);
  EXPECT_NEAR(json["rtt_usec"]["percentile_50"].get<double>(), 4201, 600);
}

TEST(StressReport, ParametersNameAll) {
  const std::string text = StressParameters({});
  EXPECT_THAT(text, HasSubstr("  tasks 1\n"));
  EXPECT_THAT(text, HasSubstr("  rdma_bytes 0\n"));
}

}  // namespace
}  // namespace softdat::tools
