// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/signalling.h"

#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

int SignalsAmong(Signalling* signalling, int suppressed) {
  int signals = 0;
  for (int i = 0; i < suppressed; ++i) signals += signalling->Wants(/*suppressed=*/true) ? 1 : 0;
  return signals;
}

TEST(SignallingTest, EachIsSignalledThatIsReported) {
  Signalling signalling;
  signalling.Adopt(32);
  EXPECT_TRUE(signalling.Wants(/*suppressed=*/false));
  EXPECT_TRUE(signalling.Wants(/*suppressed=*/false));
  EXPECT_EQ(signalling.unsignalled(), 0u);
}

// Two per length of a short queue, and every sixteenth in a long one.
TEST(SignallingTest, OfSuppressedOnesSomeAre) {
  Signalling signalling;
  signalling.Adopt(8);
  EXPECT_EQ(SignalsAmong(&signalling, 8), 2);
  signalling.Adopt(1000);
  EXPECT_EQ(SignalsAmong(&signalling, 160), 10);
  signalling.Adopt(1);
  EXPECT_EQ(SignalsAmong(&signalling, 3), 3);
}

TEST(SignallingTest, AFailedPostIsNotCounted) {
  Signalling signalling;
  signalling.Adopt(8);
  SignalsAmong(&signalling, 2);
  const uint32_t before = signalling.unsignalled();
  EXPECT_FALSE(signalling.Wants(/*suppressed=*/true));
  signalling.SetBack(before);
  EXPECT_EQ(signalling.unsignalled(), 2u);
}

TEST(SignallingTest, AMarkerIsInFlightUntilItsSequenceIsRetired) {
  Signalling signalling;
  signalling.Adopt(8);
  SignalsAmong(&signalling, 3);
  constexpr uint32_t kLast = UINT32_MAX;  // sequence numbers wrap
  signalling.MarkerPosted(kLast);
  EXPECT_EQ(signalling.unsignalled(), 0u);
  EXPECT_TRUE(signalling.MarkerInFlight(kLast - 3));
  EXPECT_TRUE(signalling.MarkerInFlight(kLast));
  EXPECT_FALSE(signalling.MarkerInFlight(kLast + 1));
  EXPECT_TRUE(signalling.marker_pending());
  signalling.ForgetMarker();
  EXPECT_FALSE(signalling.MarkerInFlight(kLast - 3));
}

}  // namespace
}  // namespace softdat::verbs
