// SPDX-License-Identifier: BSD-3-Clause
// Markers: the vector both ways, every stream position, and damaged markers.

#include "wire/iwarp/markers.h"

#include <gtest/gtest.h>

#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;
using wire_test::ToHex;

// A whole FPDU with a right CRC, contents random.
Bytes MakeFpdu(TestRandom& random, size_t ulpdu) {
  Bytes wire = random.Octets(FpduSize(ulpdu));
  StoreBe16(wire.data(), static_cast<uint16_t>(ulpdu));
  const size_t body = kFpduLengthSize + ulpdu;
  StoreFpduTrailer(&wire[body], ulpdu, Crc32cExtend(kCrc32cInit, wire.data(), body));
  return wire;
}

Bytes Insert(uint64_t at, const Bytes& fpdu, bool crc = true) {
  const size_t size = MarkedSize(at, fpdu.size());
  Bytes out(size + 1, 0xee);
  EXPECT_EQ(InsertMarkers(at, fpdu, crc, std::span(out).first(size)), size);
  EXPECT_EQ(out.back(), 0xee);
  out.pop_back();
  return out;
}

TEST(MarkersTest, VectorBothWays) {
  const auto json = wire_test::ReadJson("wire/iwarp/testdata/iwarp_markers.json");
  const Bytes stream = FromHex(json.at("hex"));
  size_t at = 0;
  Bytes again;
  for (const auto& expected : json.at("fpdus")) {
    ASSERT_EQ(at, expected.at("stream_start").get<size_t>());
    Bytes fpdu(stream.size());
    const StripResult r = StripMarkers(at, ByteSpan(stream).subspan(at), true, fpdu);
    ASSERT_EQ(r.status, StripStatus::kOk);
    ASSERT_EQ(at + r.stream_bytes, expected.at("crc_at").get<size_t>() + kFpduCrcSize);
    fpdu.resize(r.fpdu_bytes);
    EXPECT_EQ(LoadCrc32c(&fpdu[fpdu.size() - 4]),
              std::stoul(expected.at("crc_value").get<std::string>(), nullptr, 16));
    const Bytes marked = Insert(at, fpdu);
    again.insert(again.end(), marked.begin(), marked.end());
    at += r.stream_bytes;
  }
  EXPECT_EQ(at, stream.size());
  EXPECT_EQ(ToHex(again), json.at("hex"));
}

// Octet by octet: what goes where, said as simply as possible.
Bytes InsertByDefinition(uint64_t at, const Bytes& fpdu) {
  Bytes out;
  size_t header_at = 0;
  for (size_t i = 0; i < fpdu.size(); ++i) {
    if ((at + out.size()) % kMarkerInterval == 0) {
      const size_t pointer = i == 0 ? 0 : out.size() - header_at;
      out.insert(out.end(),
                 {0, 0, static_cast<uint8_t>(pointer >> 8), static_cast<uint8_t>(pointer)});
    }
    if (i == 0) header_at = out.size();
    out.push_back(fpdu[i]);
  }
  StoreCrc32c(&out[out.size() - 4], Crc32c(out.data(), out.size() - 4));
  return out;
}

TEST(MarkersTest, EveryPositionAndManySizesAgreeWithTheDefinition) {
  TestRandom random;
  for (uint64_t phase = 0; phase < kMarkerInterval; phase += kFpduAlign) {
    for (int i = 0; i < 12; ++i) {
      const uint64_t at = phase + kMarkerInterval * random.Below(1u << 30);
      const Bytes fpdu = MakeFpdu(random, random.Below(i < 8 ? 600 : 3000));
      const Bytes marked = Insert(at, fpdu);
      ASSERT_EQ(ToHex(marked), ToHex(InsertByDefinition(at, fpdu))) << at << " " << fpdu.size();

      Bytes out(fpdu.size() + 1, 0xee);
      const StripResult r = StripMarkers(at, marked, true, std::span(out).first(fpdu.size()));
      ASSERT_EQ(r.status, StripStatus::kOk);
      ASSERT_EQ(r.stream_bytes, marked.size());
      ASSERT_EQ(r.fpdu_bytes, fpdu.size());
      ASSERT_EQ(out.back(), 0xee);
      // All but the CRC, which covers the markers.
      ASSERT_TRUE(std::equal(fpdu.begin(), fpdu.end() - 4, out.begin()));
    }
  }
}

TEST(MarkersTest, PartsAskForMore) {
  TestRandom random;
  const Bytes fpdu = MakeFpdu(random, 1100);
  for (const uint64_t at : {0u, 4u, 508u, 512u}) {
    const Bytes marked = Insert(at, fpdu);
    Bytes out(fpdu.size());
    for (size_t have = 0; have < marked.size(); ++have) {
      const Bytes part(marked.begin(), marked.begin() + static_cast<ptrdiff_t>(have));
      const StripResult r = StripMarkers(at, part, true, out);
      ASSERT_EQ(r.status, StripStatus::kNeedMore) << at << " " << have;
      ASSERT_GT(r.stream_bytes, have);
      ASSERT_LE(r.stream_bytes, marked.size());
    }
  }
}

TEST(MarkersTest, AnyWrongPointerOrOctetIsFound) {
  TestRandom random;
  const Bytes fpdu = MakeFpdu(random, 1100);
  const Bytes marked = Insert(0, fpdu);
  Bytes out(70000);
  for (size_t i = 0; i < marked.size(); ++i) {
    if (i == 4 || i == 5) continue;  // the length itself: another frame
    Bytes bad = marked;
    bad[i] ^= 0x04;
    const bool pointer = i % kMarkerInterval == 2 || i % kMarkerInterval == 3;
    const StripStatus got = StripMarkers(0, bad, true, out).status;
    EXPECT_EQ(got, pointer ? StripStatus::kBadMarker : StripStatus::kBadCrc) << i;
    // Without CRC only the pointers are checked.
    EXPECT_EQ(StripMarkers(0, bad, false, out).status,
              pointer ? StripStatus::kBadMarker : StripStatus::kOk)
        << i;
  }
  Bytes longer = marked;  // a length that puts the second marker elsewhere is simply incomplete
  longer[4] = 0xff;
  EXPECT_EQ(StripMarkers(0, longer, true, out).status, StripStatus::kNeedMore);
}

TEST(MarkersTest, WrongLeadingMarkerIsSaidAtOnce) {
  const Bytes front = {0, 0, 0, 8, 0x02, 0x6a};
  Bytes out(70000);
  EXPECT_EQ(StripMarkers(1024, front, false, out).status, StripStatus::kBadMarker);
}

TEST(MarkersTest, ReservedBitsOfAMarkerAreIgnored) {
  TestRandom random;
  const Bytes fpdu = MakeFpdu(random, 30);
  Bytes marked = Insert(0, fpdu, /*crc=*/false);
  EXPECT_EQ(ToHex(ByteSpan(marked).last(4)), "00000000");
  marked[0] = marked[1] = 0xff;
  marked[3] = 0x03;
  Bytes out(fpdu.size());
  EXPECT_EQ(StripMarkers(0, marked, false, out).status, StripStatus::kOk);
}

TEST(MarkersTest, Misuse) {
  TestRandom random;
  const Bytes fpdu = MakeFpdu(random, 30);
  Bytes out(200);
  EXPECT_EQ(InsertMarkers(2, fpdu, true, out), 0u);
  EXPECT_EQ(InsertMarkers(0, ByteSpan(fpdu).first(fpdu.size() - 1), true, out), 0u);
  EXPECT_EQ(InsertMarkers(0, fpdu, true, std::span(out).first(fpdu.size())), 0u);
  EXPECT_EQ(StripMarkers(2, fpdu, true, out).status, StripStatus::kMisuse);
  const Bytes marked = Insert(0, fpdu);
  EXPECT_EQ(StripMarkers(0, marked, true, std::span(out).first(fpdu.size() - 1)).status,
            StripStatus::kMisuse);
  // The last marker of so long a frame lies further back than 16 bits can say.
  const Bytes longest = MakeFpdu(random, kMaxUlpdu);
  Bytes big(MarkedSize(4, longest.size()));
  EXPECT_EQ(InsertMarkers(4, longest, true, big), 0u);
}

}  // namespace
}  // namespace softdat::iwarp
