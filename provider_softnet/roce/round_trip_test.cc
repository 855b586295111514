// SPDX-License-Identifier: BSD-3-Clause
// The time after which a packet counts as lost.
#include "provider_softnet/roce/round_trip.h"

#include <gtest/gtest.h>

namespace softdat::softnet {
namespace {

constexpr uint64_t kLongestUs = 500000;

TEST(RoundTripTest, BeforeTheFirstSampleItIsAGuess) {
  EXPECT_EQ(RoundTrip(kLongestUs).timeout_us(), RoundTrip::kFirstUs);
  EXPECT_EQ(RoundTrip(1000).timeout_us(), 1000u) << "within what the peer's code allows";
}

TEST(RoundTripTest, FollowsWhatIsMeasured) {
  RoundTrip r(kLongestUs);
  r.OnSample(10000);
  EXPECT_EQ(r.timeout_us(), 10000u + 4 * 5000u);
  for (int i = 0; i < 100; ++i) r.OnSample(10000);
  EXPECT_GE(r.timeout_us(), 10000u);
  EXPECT_LE(r.timeout_us(), 10020u) << "nothing varies any more";
  r.OnSample(50000);
  EXPECT_GT(r.timeout_us(), 50000u) << "one late answer widens it";
}

TEST(RoundTripTest, AFastPeerIsGivenTheShortestTime) {
  RoundTrip r(kLongestUs);
  for (const uint64_t us : {0, 1, 5, 0, 0, 20}) r.OnSample(us);
  EXPECT_EQ(r.timeout_us(), RoundTrip::kShortestUs);
}

TEST(RoundTripTest, DoublesWhileNothingComes) {
  RoundTrip r(kLongestUs);
  r.OnSample(100);
  uint64_t expect_us = RoundTrip::kShortestUs;
  for (int i = 0; i < 7; ++i, expect_us *= 2) {
    EXPECT_EQ(r.timeout_us(), expect_us);
    r.OnTimeout();
  }
  for (int i = 0; i < 100; ++i) r.OnTimeout();
  EXPECT_EQ(r.timeout_us(), kLongestUs);
  r.OnProgress();
  EXPECT_EQ(r.timeout_us(), RoundTrip::kShortestUs);
}

TEST(RoundTripTest, AQuickProbeComesEarlierWhereTheRoundTripIsKnown) {
  RoundTrip r(kLongestUs);
  EXPECT_EQ(r.quick_probe_us(), r.probe_us());
  for (int i = 0; i < 100; ++i) r.OnSample(10);
  EXPECT_EQ(r.quick_probe_us(), RoundTrip::kShortestQuickProbeUs);
  for (int i = 0; i < 100; ++i) r.OnSample(400);
  EXPECT_GE(r.quick_probe_us(), 800u);
  EXPECT_LT(r.quick_probe_us(), r.probe_us());
  r.OnSample(5000);
  EXPECT_EQ(r.quick_probe_us(), r.probe_us()) << "it varies too much";
}

TEST(RoundTripTest, AProbeComesAfterTwoRoundTripsAndNeverBehindTheTimeOut) {
  RoundTrip r(kLongestUs);
  EXPECT_EQ(r.probe_us(), RoundTrip::kFirstProbeUs);
  r.OnSample(10);
  EXPECT_EQ(r.probe_us(), RoundTrip::kShortestProbeUs);
  for (int i = 0; i < 100; ++i) r.OnSample(10000);
  EXPECT_EQ(r.probe_us(), r.timeout_us()) << "a steady path has a time-out below two round trips";
  r.OnSample(30000);
  EXPECT_GT(r.probe_us(), 20000u);
  EXPECT_LT(r.probe_us(), r.timeout_us());
}

}  // namespace
}  // namespace softdat::softnet
