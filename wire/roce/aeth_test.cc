// SPDX-License-Identifier: BSD-3-Clause
// AETH syndromes: all 256, credit codes and RNR timers.

#include "wire/roce/aeth.h"

#include <gtest/gtest.h>

namespace softdat::roce {
namespace {

TEST(AethTest, EveryOctetIsOneKind) {
  int acks = 0;
  int rnr_naks = 0;
  int naks = 0;
  for (int octet = 0; octet < 256; ++octet) {
    const Syndrome s = ParseSyndrome(static_cast<uint8_t>(octet));
    switch (s.kind) {
      case AethKind::kAck:
        EXPECT_EQ(AckSyndrome(s.code), octet);
        ++acks;
        break;
      case AethKind::kRnrNak:
        EXPECT_EQ(RnrNakSyndrome(s.code), octet);
        ++rnr_naks;
        break;
      case AethKind::kNak:
        EXPECT_EQ(NakSyndrome(static_cast<NakCode>(s.code)), octet);
        ++naks;
        break;
      case AethKind::kReserved:
        EXPECT_EQ(s.code, octet);
        break;
    }
  }
  EXPECT_EQ(acks, 32);
  EXPECT_EQ(rnr_naks, 32);
  EXPECT_EQ(naks, 5);
}

TEST(AethTest, TheOctetsThatPeersSend) {
  EXPECT_EQ(ParseSyndrome(0x1f), (Syndrome{AethKind::kAck, kCreditsUnused}));
  EXPECT_EQ(ParseSyndrome(0x2e), (Syndrome{AethKind::kRnrNak, 14}));
  EXPECT_EQ(NakSyndrome(NakCode::kPsnSequence), 0x60);
  EXPECT_EQ(NakSyndrome(NakCode::kInvalidRequest), 0x61);
  EXPECT_EQ(NakSyndrome(NakCode::kRemoteAccess), 0x62);
  EXPECT_EQ(NakSyndrome(NakCode::kRemoteOperational), 0x63);
  EXPECT_EQ(ParseSyndrome(0x65).kind, AethKind::kReserved);
  EXPECT_EQ(ParseSyndrome(0x40).kind, AethKind::kReserved);
  EXPECT_EQ(ParseSyndrome(0xe0).kind, AethKind::kReserved);
}

TEST(AethTest, CreditCodes) {
  const uint32_t first[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  for (uint8_t code = 0; code < std::size(first); ++code) EXPECT_EQ(CreditsOf(code), first[code]);
  EXPECT_EQ(CreditsOf(29), 24576u);
  EXPECT_EQ(CreditsOf(30), 32768u);
  EXPECT_FALSE(CreditsOf(kCreditsUnused).has_value());
  EXPECT_FALSE(CreditsOf(255).has_value());
}

TEST(AethTest, RnrTimers) {
  EXPECT_EQ(RnrTimerUs(0), 655360u);
  EXPECT_EQ(RnrTimerUs(1), 10u);
  EXPECT_EQ(RnrTimerUs(14), 1280u);
  EXPECT_EQ(RnrTimerUs(31), 491520u);
  EXPECT_EQ(RnrTimerUs(32), RnrTimerUs(0));
  for (uint8_t code = 2; code < 32; ++code) EXPECT_GT(RnrTimerUs(code), RnrTimerUs(code - 1));
}

TEST(AethTest, TheCodeOfATimeIsNotBelowIt) {
  EXPECT_EQ(RnrTimerCode(0), 1);
  for (uint8_t code = 0; code < 32; ++code) EXPECT_EQ(RnrTimerCode(RnrTimerUs(code)), code);
  EXPECT_EQ(RnrTimerCode(11), 2);
  EXPECT_EQ(RnrTimerCode(491521), 0);
  EXPECT_EQ(RnrTimerCode(0xffffffff), 0);
}

}  // namespace
}  // namespace softdat::roce
