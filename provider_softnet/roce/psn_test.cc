// SPDX-License-Identifier: BSD-3-Clause
// Packet sequence numbers that wrap on the wire and do not wrap inside.
#include "provider_softnet/roce/psn.h"

#include <gtest/gtest.h>

namespace softdat::softnet {
namespace {

constexpr uint32_t kTurn = 1u << 24, kHalf = 1u << 23;

TEST(PsnTest, TheFirstOneHasATurnBehindIt) {
  EXPECT_EQ(FirstPsn(0), Psn{kTurn});
  EXPECT_EQ(FirstPsn(0xffffff), Psn{kTurn} + 0xffffff);
  EXPECT_EQ(FirstPsn(0x12000003), Psn{kTurn} + 3)
      << "the upper octet is of the word, not of the PSN";
}

TEST(PsnTest, OnTheWireItHas24Bits) {
  EXPECT_EQ(WirePsn(FirstPsn(0xffffff)), 0xffffffu);
  EXPECT_EQ(WirePsn(FirstPsn(0xffffff) + 1), 0u);
  EXPECT_EQ(WirePsn(Psn{5} * kTurn + 77), 77u);
}

// Up to half a turn ahead is meant, and up to half a turn behind.
TEST(PsnTest, TheNearestOneIsMeant) {
  for (const uint32_t wire : {0u, 1u, kHalf - 1, kHalf, kHalf + 1, 0xfffffeu, 0xffffffu}) {
    for (const Psn turns : {Psn{1}, Psn{2}, Psn{1000}}) {
      const Psn expected = turns * kTurn + wire;
      for (const uint32_t off : {0u, 1u, 2u, 1000u, kHalf - 1}) {
        EXPECT_EQ(NearestPsn(WirePsn(expected + off), expected), expected + off) << wire;
        EXPECT_EQ(NearestPsn(WirePsn(expected - off), expected), expected - off) << wire;
      }
      EXPECT_EQ(NearestPsn(WirePsn(expected + kHalf), expected), expected - kHalf) << "behind";
    }
  }
}

TEST(PsnTest, APacketFromBeforeTheConnectionIsNotNegative) {
  EXPECT_EQ(NearestPsn(0xffffff, FirstPsn(0)), Psn{kTurn} - 1);
  EXPECT_EQ(NearestPsn(kHalf, FirstPsn(0)), Psn{kHalf});
}

}  // namespace
}  // namespace softdat::softnet
