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

}  // namespace
}  // namespace softdat::softnet
