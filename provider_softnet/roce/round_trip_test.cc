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
  EXPECT_LT(r.quick_probe_us(), r.probe_us());
  for (int i = 0; i < 100; ++i) r.OnSample(400);
  EXPECT_GE(r.quick_probe_us(), 800u);
}

TEST(RoundTripTest, AProbeComesAfterTwoRoundTripsAndNeverBehindTheTimeOut) {
  RoundTrip r(kLongestUs);
  EXPECT_EQ(r.probe_us(), RoundTrip::kFirstProbeUs);
  for (int i = 0; i < 100; ++i) r.OnSample(10);
  EXPECT_EQ(r.probe_us(), RoundTrip::kShortestProbeUs);
  for (int i = 0; i < 100; ++i) r.OnSample(1000);
  EXPECT_GE(r.probe_us(), 2000u);
  EXPECT_LE(r.probe_us(), 2020u);
  for (int i = 0; i < 100; ++i) r.OnSample(10000);
  EXPECT_EQ(r.probe_us(), r.timeout_us()) << "a steady path has a time-out below two round trips";
}

// Its answers come behind the probes, and show no round trip. Each probe in vain makes the next one
// wait for longer, until an answer comes first.
TEST(RoundTripTest, APeerThatBeginsToComputeIsNotProbedForLong) {
  constexpr uint64_t kAnswerUs = 1000;
  RoundTrip r(kLongestUs);
  for (int i = 0; i < 100; ++i) r.OnSample(10);
  int probes = 0;
  for (int message = 0; message < 100; ++message) {
    if (r.probe_us() < kAnswerUs) {
      r.OnProbe();
      ++probes;
    } else {
      r.OnSample(kAnswerUs);
    }
  }
  EXPECT_LE(probes, 6);
  EXPECT_GE(r.probe_us(), 2 * kAnswerUs - 20);
  // And back again.
  for (int i = 0; i < 100; ++i) r.OnSample(10);
  EXPECT_EQ(r.probe_us(), RoundTrip::kShortestProbeUs);
}

}  // namespace
}  // namespace softdat::softnet
