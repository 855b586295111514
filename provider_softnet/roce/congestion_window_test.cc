// SPDX-License-Identifier: BSD-3-Clause
// How the number of packets on their way grows and shrinks.
#include "provider_softnet/roce/congestion_window.h"

#include <gtest/gtest.h>

namespace softdat::softnet {
namespace {

TEST(CongestionWindowTest, DoublesInEachRoundAtFirst) {
  CongestionWindow w(4, 100);
  EXPECT_EQ(w.packets(), 4u);
  w.OnAcknowledged(4);
  EXPECT_EQ(w.packets(), 8u);
  for (int i = 0; i < 8; ++i) w.OnAcknowledged(1);
  EXPECT_EQ(w.packets(), 16u);
}

TEST(CongestionWindowTest, HasAnUpperBound) {
  CongestionWindow w(4, 10);
  w.OnAcknowledged(1000);
  EXPECT_EQ(w.packets(), 10u);
  w.OnAcknowledged(1000);
  EXPECT_EQ(w.packets(), 10u);
  EXPECT_EQ(CongestionWindow(50, 10).packets(), 10u) << "from the beginning";
}

TEST(CongestionWindowTest, ALossTakesAThirtySecondAndThenItGrowsByOneInEachRound) {
  CongestionWindow large(100, 100);
  large.OnLossyRound();
  large.OnLoss();
  EXPECT_EQ(large.packets(), 97u);
  CongestionWindow w(16, 100);
  w.OnLossyRound();
  w.OnLoss();
  EXPECT_EQ(w.packets(), 15u) << "one at least";
  w.OnAcknowledged(14);
  EXPECT_EQ(w.packets(), 15u);
  w.OnAcknowledged(1);
  EXPECT_EQ(w.packets(), 16u);
  w.OnAcknowledged(15);
  EXPECT_EQ(w.packets(), 16u);
  w.OnAcknowledged(1);
  EXPECT_EQ(w.packets(), 17u);
}

TEST(CongestionWindowTest, ALossOfOnePercentLeavesMostOfIt) {
  CongestionWindow w(32, 64);
  for (int packet = 1; packet <= 10000; ++packet) {
    w.OnAcknowledged(1);
    if (packet % 100 != 0) continue;
    w.OnLossyRound();
    w.OnLoss();
    EXPECT_TRUE(packet < 5000 || w.packets() >= 60) << w.packets() << " at " << packet;
  }
}

TEST(CongestionWindowTest, ManyLossesInOneRoundTakeThreeTenths) {
  CongestionWindow w(100, 100);
  w.OnLossyRound();
  for (int i = 0; i < 50; ++i) w.OnLoss();
  EXPECT_EQ(w.packets(), 70u);
  w.OnLossyRound();
  w.OnLossOfMany();
  EXPECT_EQ(w.packets(), 49u);
}

TEST(CongestionWindowTest, ATimeOutBeginsAnewAndDoublesUpToHalfOfWhatWas) {
  CongestionWindow w(40, 100);
  w.OnTimeout();
  EXPECT_EQ(w.packets(), 2u);
  w.OnAcknowledged(2);
  w.OnAcknowledged(4);
  w.OnAcknowledged(8);
  EXPECT_EQ(w.packets(), 16u);
  w.OnAcknowledged(4);
  EXPECT_EQ(w.packets(), 20u);
  w.OnAcknowledged(19);
  EXPECT_EQ(w.packets(), 20u) << "one by one from here on";
}

TEST(CongestionWindowTest, TwoPacketsAreLeftWhateverIsLost) {
  CongestionWindow w(4, 100);
  for (int i = 0; i < 5; ++i) w.OnLoss();
  EXPECT_EQ(w.packets(), 2u);
  for (int i = 0; i < 5; ++i) w.OnTimeout();
  EXPECT_EQ(w.packets(), 2u);
}

}  // namespace
}  // namespace softdat::softnet
