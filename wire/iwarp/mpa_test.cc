// SPDX-License-Identifier: BSD-3-Clause
// MPA start-up frames: every vector in both directions, in pieces, and everything that must be
// refused.

#include "wire/iwarp/mpa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::Flag;
using wire_test::FromHex;
using wire_test::Number;
using wire_test::TestRandom;
using wire_test::ToHex;

// The frame that a vector's fields describe. Private data are kept in `storage`.
MpaStart FromFields(const nlohmann::json& f, Bytes* storage, size_t pd_length) {
  MpaStart frame;
  frame.reply = f.at("key") == "rep";
  frame.markers = Flag(f, "markers");
  frame.crc = Flag(f, "crc");
  frame.reject = Flag(f, "reject");
  frame.enhanced = Flag(f, "enhanced");
  frame.revision = static_cast<uint8_t>(Number(f, "revision"));
  if (frame.enhanced) {
    frame.words = {Flag(f, "A"),
                   Flag(f, "B"),
                   Flag(f, "C_bit"),
                   Flag(f, "D"),
                   static_cast<uint16_t>(Number(f, "ird")),
                   static_cast<uint16_t>(Number(f, "ord"))};
  }
  const char* name = frame.enhanced ? "user_private_data" : "private_data";
  const size_t size = pd_length - (frame.enhanced ? kMpaEnhancedSize : 0);
  if (f.contains(name)) {
    *storage = FromHex(f.at(name));
    EXPECT_EQ(storage->size(), size);
  } else {
    // The vector with 512 octets does not list them. They count up from 0.
    for (size_t i = 0; i < size; ++i) storage->push_back(static_cast<uint8_t>(i));
  }
  frame.private_data = *storage;
  return frame;
}

void ExpectSame(const MpaStart& a, const MpaStart& b) {
  EXPECT_EQ(a.reply, b.reply);
  EXPECT_EQ(a.markers, b.markers);
  EXPECT_EQ(a.crc, b.crc);
  EXPECT_EQ(a.reject, b.reject);
  EXPECT_EQ(a.enhanced, b.enhanced);
  EXPECT_EQ(a.revision, b.revision);
  EXPECT_EQ(a.words, b.words);
  EXPECT_EQ(ToHex(a.private_data), ToHex(b.private_data));
}

Bytes Encode(const MpaStart& frame) {
  Bytes out(kMpaMaxFrameSize, 0xee);
  out.resize(EncodeMpaStart(frame, out));
  return out;
}

TEST(MpaTest, VectorsBothWays) {
  const auto json = wire_test::ReadJson("wire/iwarp/testdata/iwarp_mpa.json");
  int checked = 0;
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const Bytes wire = FromHex(v.at("hex"));
    Bytes storage;
    const MpaStart expected =
        FromFields(v.at("fields"), &storage, Number(v.at("fields"), "pd_length"));

    MpaStart parsed;
    const MpaParseResult result = ParseMpaStart(wire, &parsed);
    ASSERT_EQ(result.status, MpaParseStatus::kOk);
    EXPECT_EQ(result.bytes, wire.size());
    ExpectSame(parsed, expected);
    EXPECT_EQ(ToHex(Encode(expected)), v.at("hex"));
    ++checked;
  }
  EXPECT_EQ(checked, 12);
}

TEST(MpaTest, EveryPrefixAsksForMore) {
  const auto json = wire_test::ReadJson("wire/iwarp/testdata/iwarp_mpa.json");
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const Bytes wire = FromHex(v.at("hex"));
    for (size_t have = 0; have < wire.size(); ++have) {
      MpaStart untouched;
      untouched.revision = 99;
      const MpaParseResult r = ParseMpaStart(ByteSpan(wire).first(have), &untouched);
      ASSERT_EQ(r.status, MpaParseStatus::kNeedMore) << have;
      ASSERT_EQ(r.bytes, have < kMpaHeaderSize ? kMpaHeaderSize : wire.size()) << have;
      ASSERT_EQ(untouched.revision, 99);
    }
  }
}

TEST(MpaTest, OctetsBehindTheFrameAreLeft) {
  Bytes wire = Encode({});
  const size_t size = wire.size();
  wire.push_back(0x41);
  MpaStart parsed;
  EXPECT_EQ(ParseMpaStart(wire, &parsed).bytes, size);
}

TEST(MpaTest, WrongKeyIsSaidAtItsFirstWrongOctet) {
  const Bytes good = Encode({});
  for (size_t i = 0; i < kMpaKeySize; ++i) {
    Bytes bad = good;
    bad[i] ^= 0x20;
    MpaStart parsed;
    for (size_t have = 0; have <= bad.size(); ++have) {
      const auto status = ParseMpaStart(ByteSpan(bad).first(have), &parsed).status;
      if (have <= i) {
        EXPECT_EQ(status, MpaParseStatus::kNeedMore) << i << " " << have;
      } else {
        EXPECT_EQ(status, MpaParseStatus::kBadKey) << i << " " << have;
      }
    }
  }
}

TEST(MpaTest, TooMuchPrivateDataIsSaidFromTheHeaderAlone) {
  Bytes wire = Encode({});
  for (const uint16_t length : {513, 1024, 65535}) {
    StoreBe16(&wire[18], length);
    MpaStart parsed;
    const MpaParseResult r = ParseMpaStart(ByteSpan(wire).first(kMpaHeaderSize), &parsed);
    EXPECT_EQ(r.status, MpaParseStatus::kPrivateDataTooLong) << length;
    EXPECT_EQ(r.bytes, 0u);
  }
}

TEST(MpaTest, EnhancedWithoutRoomForItsWords) {
  for (uint16_t length = 0; length < kMpaEnhancedSize; ++length) {
    Bytes wire = Encode({.enhanced = true});
    StoreBe16(&wire[18], length);
    MpaStart parsed;
    EXPECT_EQ(ParseMpaStart(wire, &parsed).status, MpaParseStatus::kEnhancedTooShort) << length;
  }
}

TEST(MpaTest, RevisionOneIgnoresTheEnhancedBitAndReservedBits) {
  const Bytes data = {1, 2, 3, 4, 5, 6};
  Bytes wire = Encode({.revision = 1, .private_data = data});
  wire[16] |= 0x1f;
  MpaStart parsed;
  ASSERT_EQ(ParseMpaStart(wire, &parsed).status, MpaParseStatus::kOk);
  EXPECT_FALSE(parsed.enhanced);
  EXPECT_FALSE(parsed.crc || parsed.markers || parsed.reject);
  EXPECT_EQ(ToHex(parsed.private_data), ToHex(data));
}

TEST(MpaTest, EncoderRefusesWhatCannotBeStated) {
  std::array<uint8_t, 600> out;
  const Bytes too_long(kMpaMaxPrivateData + 1);
  const Bytes too_long_enhanced(kMpaMaxPrivateData - kMpaEnhancedSize + 1);
  EXPECT_EQ(EncodeMpaStart({.private_data = too_long}, out), 0u);
  EXPECT_EQ(EncodeMpaStart({.enhanced = true, .private_data = too_long_enhanced}, out), 0u);
  EXPECT_EQ(EncodeMpaStart({.enhanced = true, .words = {.ird = 0x4000}}, out), 0u);
  EXPECT_EQ(EncodeMpaStart({.enhanced = true, .words = {.ord = 0x4000}}, out), 0u);
  EXPECT_EQ(EncodeMpaStart({.enhanced = true, .revision = 1}, out), 0u);
  EXPECT_EQ(EncodeMpaStart({}, std::span(out).first(kMpaHeaderSize - 1)), 0u);
  EXPECT_EQ(EncodeMpaStart({}, std::span(out).first(kMpaHeaderSize)), kMpaHeaderSize);
}

TEST(MpaTest, RandomFramesRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 20000; ++i) {
    MpaStart frame;
    frame.reply = random.Coin();
    frame.markers = random.Coin();
    frame.crc = random.Coin();
    frame.reject = random.Coin();
    frame.revision = static_cast<uint8_t>(random.Below(4));
    frame.enhanced = frame.revision >= kMpaRevision2 && random.Coin();
    if (frame.enhanced) {
      frame.words = {random.Coin(),
                     random.Coin(),
                     random.Coin(),
                     random.Coin(),
                     static_cast<uint16_t>(random.Below(0x4000)),
                     static_cast<uint16_t>(random.Below(0x4000))};
    }
    const size_t lead = frame.enhanced ? kMpaEnhancedSize : 0;
    const Bytes data = random.Octets(random.Below(kMpaMaxPrivateData - lead + 1));
    frame.private_data = data;
    const Bytes wire = Encode(frame);
    ASSERT_EQ(wire.size(), MpaStartSize(frame));
    MpaStart parsed;
    const MpaParseResult result = ParseMpaStart(wire, &parsed);
    ASSERT_EQ(result.status, MpaParseStatus::kOk);
    ASSERT_EQ(result.bytes, wire.size());
    ExpectSame(parsed, frame);
    if (HasFailure()) return;
  }
}

TEST(MpaTest, EveryStatusHasItsText) {
  std::vector<std::string> texts;
  for (int i = 0; i <= static_cast<int>(MpaParseStatus::kEnhancedTooShort); ++i) {
    texts.push_back(MpaParseStatusText(static_cast<MpaParseStatus>(i)));
  }
  std::sort(texts.begin(), texts.end());
  EXPECT_EQ(std::unique(texts.begin(), texts.end()), texts.end());
}

}  // namespace
}  // namespace softdat::iwarp
