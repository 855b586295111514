// SPDX-License-Identifier: BSD-3-Clause
// Reads and atomics of the peer that are due, and those that are remembered.
#include "provider_softnet/roce/peer_reads.h"

#include <gtest/gtest.h>

namespace softdat::softnet {
namespace {

PeerRead Of(Psn first, uint32_t packets, bool answered = false) {
  PeerRead r;
  r.first = first;
  r.packets = r.stop = packets;
  r.answered = answered;
  if (answered) r.next = packets;
  return r;
}

TEST(PeerReadsTest, WithoutSlotsThereIsNoRoom) {
  PeerReads reads(0);
  EXPECT_FALSE(reads.HasRoom());
  EXPECT_EQ(reads.Find(1), nullptr);
  EXPECT_EQ(reads.Due(), nullptr);
}

TEST(PeerReadsTest, RoomEndsWhereTheOldestIsNotAnswered) {
  PeerReads reads(2);
  reads.Add(Of(10, 3));
  EXPECT_TRUE(reads.HasRoom());
  reads.Add(Of(13, 1, /*answered=*/true));
  EXPECT_FALSE(reads.HasRoom()) << "although a younger one is answered";
  reads.Find(10)->answered = true;
  EXPECT_TRUE(reads.HasRoom());
}

TEST(PeerReadsTest, TheOldestIsForgottenFirst) {
  PeerReads reads(3);
  for (Psn psn = 10; psn < 17; ++psn) reads.Add(Of(psn, 1, true));
  for (Psn psn = 10; psn < 14; ++psn) EXPECT_EQ(reads.Find(psn), nullptr) << psn;
  for (Psn psn = 14; psn < 17; ++psn) {
    ASSERT_NE(reads.Find(psn), nullptr) << psn;
    EXPECT_EQ(reads.Find(psn)->first, psn);
  }
}

TEST(PeerReadsTest, FoundByEachOfItsPsns) {
  PeerReads reads(2);
  reads.Add(Of(10, 3));
  EXPECT_EQ(reads.Find(9), nullptr);
  EXPECT_EQ(reads.Find(13), nullptr);
  for (Psn psn = 10; psn < 13; ++psn) ASSERT_NE(reads.Find(psn), nullptr) << psn;
}

TEST(PeerReadsTest, ResponsesAreDueInTheOrderOfTheirPsns) {
  PeerReads reads(3);
  for (const Psn psn : {10, 20, 30, 40}) reads.Add(Of(psn, 2, true));  // a ring that has turned
  EXPECT_EQ(reads.Due(), nullptr);
  reads.Find(40)->next = 1;
  EXPECT_EQ(reads.Due()->first, 40u);
  reads.Find(20)->next = 0;
  EXPECT_EQ(reads.Due()->first, 20u);
  reads.Find(20)->next = 2;
  EXPECT_EQ(reads.Due()->first, 40u);
}

TEST(PeerReadsTest, WhatIsHeldIsRememberedAndNotDue) {
  PeerReads reads(2);
  reads.Add(Of(10, 2));
  reads.Add(Of(12, 2));
  reads.Hold();
  EXPECT_EQ(reads.Due(), nullptr);
  EXPECT_NE(reads.Find(10), nullptr);
  reads.Forget();
  EXPECT_EQ(reads.Find(10), nullptr);
  EXPECT_TRUE(reads.HasRoom());
}

}  // namespace
}  // namespace softdat::softnet
