// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_counts.h"

#include <gtest/gtest.h>

#include <memory>

namespace softdat::tools {
namespace {

TEST(StressCounts, EveryTimeHasItsBucket) {
  EXPECT_EQ(RttBucket(-5), 0u);
  size_t last = 0;
  for (int64_t ns = 0; ns < 100000; ++ns) {
    const size_t bucket = RttBucket(ns);
    EXPECT_TRUE(bucket == last || bucket == last + 1) << ns;
    EXPECT_LE(RttOfBucket(bucket), ns);
    EXPECT_GT(RttOfBucket(bucket + 1), ns);
    last = bucket;
  }
  EXPECT_EQ(RttBucket(INT64_MAX), kRttBuckets - 1);
}

TEST(StressCounts, Percentiles) {
  const auto shared = std::make_unique<SharedCounts>();
  EXPECT_EQ(shared->Read().RttUsec(0.5), 0);
  for (int i = 0; i < 99; ++i) shared->AddRtt(10000);
  shared->AddRtt(1000000);
  const StressCounts counts = shared->Read();
  EXPECT_NEAR(counts.RttUsec(0.5), 10, 1.5);
  EXPECT_NEAR(counts.RttUsec(0.98), 10, 1.5);
  EXPECT_NEAR(counts.RttUsec(1), 1000, 150);
  EXPECT_EQ(counts[kAcksReceived], 100u);
}

TEST(StressCounts, SumsAndDifferences) {
  const auto shared = std::make_unique<SharedCounts>();
  shared->Add(kRequestsSent, 3);
  shared->AddRtt(100);
  const StressCounts earlier = shared->Read();
  shared->Add(kRequestsSent, 4);
  const StressCounts difference = shared->Read() - earlier;
  EXPECT_EQ(difference[kRequestsSent], 4u);
  EXPECT_EQ(difference[kAcksReceived], 0u);
  EXPECT_EQ(difference.rtts[RttBucket(100)], 0u);
  StressCounts sum = earlier;
  sum += difference;
  EXPECT_EQ(sum[kRequestsSent], 7u);
  EXPECT_EQ(sum.rtts[RttBucket(100)], 1u);
}

TEST(StressRates, AreThoseOfASecond) {
  StressCounts counts;
  counts.counts[kRequestsSent] = 100;
  counts.counts[kRequestsReceived] = 50;
  counts.counts[kBytesSent] = 3072;
  counts.counts[kBytesReceived] = 1024;
  counts.counts[kRdmaBytesIn] = 2048;
  counts.counts[kRdmaBytesOut] = 4096;
  counts.counts[kSendCalls] = 4;
  counts.counts[kSendNs] = 8000;
  counts.counts[kAcksReceived] = 10;
  counts.counts[kRttNs] = 50000;
  const StressRates rates = RatesOf(counts, 2);
  EXPECT_DOUBLE_EQ(rates.requests_sent, 50);
  EXPECT_DOUBLE_EQ(rates.requests_received, 25);
  EXPECT_DOUBLE_EQ(rates.kib, 2);
  EXPECT_DOUBLE_EQ(rates.rdma_in_kib, 1);
  EXPECT_DOUBLE_EQ(rates.rdma_out_kib, 2);
  EXPECT_DOUBLE_EQ(rates.send_usec, 2);
  EXPECT_DOUBLE_EQ(rates.rtt_usec, 5);
}

TEST(StressRates, OfNothingAreZero) {
  const StressRates rates = RatesOf({}, 0);
  EXPECT_EQ(rates.requests_sent, 0);
  EXPECT_EQ(rates.send_usec, 0);
  EXPECT_EQ(rates.rtt_usec, 0);
}

TEST(CpuPercent, IsWhatWasNotIdle) {
  const std::string before = "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 2 3\n";
  EXPECT_DOUBLE_EQ(CpuPercent(before, "cpu  150 0 125 775 100 0 50 0 0 0\n"), 62.5);
  EXPECT_DOUBLE_EQ(CpuPercent(before, "cpu  100 0 100 900 100 0 0 0\n"), 0);
  EXPECT_EQ(CpuPercent(before, before), -1);
  EXPECT_EQ(CpuPercent("", before), -1);
  EXPECT_EQ(CpuPercent(before, "intr 5"), -1);
}

}  // namespace
}  // namespace softdat::tools
