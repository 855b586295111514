// SPDX-License-Identifier: BSD-3-Clause
// FPDU sizes, trailers, CRC and the segment size of RFC 5044 §5.1.

#include "wire/iwarp/fpdu.h"

#include <gtest/gtest.h>

#include <array>

#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::TestRandom;
using wire_test::ToHex;

TEST(FpduTest, SizesOfEveryUlpdu) {
  for (size_t ulpdu = 0; ulpdu <= kMaxUlpdu; ++ulpdu) {
    const size_t pad = FpduPad(ulpdu);
    ASSERT_LE(pad, kFpduMaxPad);
    ASSERT_EQ((kFpduLengthSize + ulpdu + pad) % kFpduAlign, 0u);
    ASSERT_EQ(FpduSize(ulpdu), kFpduLengthSize + ulpdu + pad + kFpduCrcSize);
    ASSERT_EQ(FpduCrcOffset(ulpdu) + kFpduCrcSize, FpduSize(ulpdu));
    ASSERT_EQ(FpduTrailerSize(ulpdu), pad + kFpduCrcSize);
  }
}

// MULPDU = EMSS - (6 + EMSS mod 4).
TEST(FpduTest, Mulpdu) {
  EXPECT_EQ(Mulpdu(1448), 1442u);  // siw was seen to send this
  EXPECT_EQ(Mulpdu(1460), 1454u);
  EXPECT_EQ(Mulpdu(1461), 1454u);
  EXPECT_EQ(Mulpdu(65483), 65474u);  // loopback
  EXPECT_EQ(Mulpdu(1 << 20), kMaxUlpdu);
  EXPECT_EQ(Mulpdu(0), kMinMulpdu);
  EXPECT_EQ(Mulpdu(100), kMinMulpdu);
}

TEST(FpduTest, OneMulpduFitsOneSegment) {
  for (size_t emss = 160; emss < 70000; ++emss) {
    const size_t ulpdu = Mulpdu(emss);
    ASSERT_LE(FpduSize(ulpdu), emss) << emss;
    if (ulpdu < kMaxUlpdu) {
      ASSERT_GT(FpduSize(ulpdu + 4), emss) << emss;
    }
  }
}

TEST(FpduTest, FullSegmentsNeedNoPad) {
  for (const size_t header : {14u, 18u}) {
    for (size_t mulpdu = kMinMulpdu; mulpdu <= kMaxUlpdu; ++mulpdu) {
      const size_t payload = FullSegmentPayload(mulpdu, header);
      ASSERT_LE(payload + header, mulpdu);
      ASSERT_LT(mulpdu - payload - header, 4u);
      ASSERT_EQ(FpduPad(payload + header), 0u);
    }
  }
  EXPECT_EQ(FullSegmentPayload(1442, 14), 1428u);  // as captured from siw
}

TEST(FpduTest, PeekAsksForMoreUntilAllIsThere) {
  for (const size_t ulpdu : {0u, 1u, 2u, 14u, 17u, 300u}) {
    Bytes wire(FpduSize(ulpdu) + 5);
    StoreBe16(wire.data(), static_cast<uint16_t>(ulpdu));
    for (size_t have = 0; have < FpduSize(ulpdu); ++have) {
      FpduView view;
      ASSERT_EQ(PeekFpdu(ByteSpan(wire).first(have), &view), have < 2 ? 2 : FpduSize(ulpdu));
    }
    FpduView view;
    ASSERT_EQ(PeekFpdu(wire, &view), 0u);
    EXPECT_EQ(view.size, FpduSize(ulpdu));
    EXPECT_EQ(view.ulpdu.data(), wire.data() + 2);
    EXPECT_EQ(view.ulpdu.size(), ulpdu);
  }
}

TEST(FpduTest, TrailersStayInBoundsAndCheck) {
  TestRandom random;
  for (size_t ulpdu = 0; ulpdu < 300; ++ulpdu) {
    Bytes wire = random.Octets(FpduSize(ulpdu) + 1);
    wire.back() = 0xee;
    StoreBe16(wire.data(), static_cast<uint16_t>(ulpdu));
    const size_t body = kFpduLengthSize + ulpdu;
    const uint32_t state = Crc32cExtend(kCrc32cInit, wire.data(), body);
    ASSERT_EQ(body + StoreFpduTrailer(&wire[body], ulpdu, state), FpduSize(ulpdu));
    ASSERT_EQ(wire.back(), 0xee);
    const ByteSpan fpdu = ByteSpan(wire).first(FpduSize(ulpdu));
    ASSERT_TRUE(FpduCrcOk(fpdu));
    for (size_t i = 0; i < FpduPad(ulpdu); ++i) ASSERT_EQ(wire[body + i], 0);
    const size_t at = random.Below(fpdu.size());
    wire[at] ^= static_cast<uint8_t>(1u << random.Below(8));
    ASSERT_FALSE(FpduCrcOk(fpdu)) << "flipped a bit in octet " << at;

    wire.back() = 0xee;
    ASSERT_EQ(body + StoreFpduTrailerWithoutCrc(&wire[body], ulpdu), FpduSize(ulpdu));
    ASSERT_EQ(wire.back(), 0xee);
    ASSERT_EQ(ToHex(fpdu.subspan(body)), std::string(2 * FpduTrailerSize(ulpdu), '0'));
  }
}

TEST(FpduTest, CrcOfTooFewOctetsIsWrong) {
  const std::array<uint8_t, 3> three = {};
  EXPECT_FALSE(FpduCrcOk(three));
  EXPECT_FALSE(FpduCrcOk({}));
}

}  // namespace
}  // namespace softdat::iwarp
