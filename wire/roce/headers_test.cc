// SPDX-License-Identifier: BSD-3-Clause
// BTH and extended headers: every vector both ways, and everything that must be refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "wire/roce/bth.h"
#include "wire/roce/extended_headers.h"
#include "wire/roce/vector_fields.h"
#include "wire/test_support.h"

namespace softdat::roce {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;
using wire_test::ToHex;

Bytes Encode(const Bth& bth, const ExtendedHeaders& headers) {
  Bytes out(kBthSize + kMaxExtendedSize, 0xee);
  EncodeBth(bth, std::span(out).first<kBthSize>());
  const size_t extended =
      EncodeExtendedHeaders(bth.opcode, headers, std::span(out).subspan(kBthSize));
  out.resize(kBthSize + extended);
  return out;
}

TEST(HeadersTest, VectorsBothWays) {
  const auto json = wire_test::ReadJson("wire/roce/testdata/rocev2_rc.json");
  int checked = 0;
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const Bytes wire = FromHex(v.at("udp_payload_hex"));
    Bth expected = BthOf(v.at("fields"));
    expected.fecn = expected.becn = v.at("name") == "mask_fecn_becn";
    const ExtendedHeaders expected_headers = ExtendedHeadersOf(v.at("fields"));

    Bth bth;
    ASSERT_EQ(ParseBth(wire, &bth), BthParse::kOk);
    EXPECT_EQ(bth, expected);
    ExtendedHeaders headers;
    ASSERT_TRUE(ParseExtendedHeaders(bth.opcode, ByteSpan(wire).subspan(kBthSize), &headers));
    EXPECT_EQ(headers, expected_headers);
    const Bytes again = Encode(expected, expected_headers);
    EXPECT_EQ(ToHex(again), ToHex(ByteSpan(wire).first(again.size())));
    ++checked;
  }
  EXPECT_EQ(checked, 46);
}

TEST(HeadersTest, AShortBthIsRefused) {
  const Bytes wire = Encode({}, {});
  for (size_t have = 0; have < kBthSize; ++have) {
    Bth bth;
    EXPECT_EQ(ParseBth(ByteSpan(wire).first(have), &bth), BthParse::kTooShort) << have;
  }
}

TEST(HeadersTest, EveryOtherVersionIsRefused) {
  for (uint8_t version = 1; version < 16; ++version) {
    Bytes wire = Encode({}, {});
    wire[1] |= version;
    Bth bth;
    EXPECT_EQ(ParseBth(wire, &bth), BthParse::kBadVersion);
  }
}

TEST(HeadersTest, AnUnknownOpcodeLeavesWhatANakNeeds) {
  Bytes wire = Encode({.dest_qpn = 0x12, .psn = 0x345}, {});
  int known = 0;
  for (int octet = 0; octet < 256; ++octet) {
    wire[0] = static_cast<uint8_t>(octet);
    Bth bth;
    if (ParseBth(wire, &bth) == BthParse::kOk) {
      ++known;
      EXPECT_STRNE(OpcodeText(bth.opcode), "unknown");
      continue;
    }
    EXPECT_EQ(ParseBth(wire, &bth), BthParse::kUnknownOpcode);
    EXPECT_STREQ(OpcodeText(bth.opcode), "unknown");
    EXPECT_EQ(bth.dest_qpn, 0x12u);
    EXPECT_EQ(bth.psn, 0x345u);
  }
  EXPECT_EQ(known, 26);
}

TEST(HeadersTest, ReservedBitsAreIgnored) {
  Bytes wire = Encode({.dest_qpn = 0xabcdef, .psn = 0x123456}, {});
  wire[4] |= 0x3f;
  wire[8] |= 0x7f;
  Bth bth;
  ASSERT_EQ(ParseBth(wire, &bth), BthParse::kOk);
  EXPECT_EQ(bth, (Bth{.dest_qpn = 0xabcdef, .psn = 0x123456}));
}

TEST(HeadersTest, NumbersAboveTheirFieldDoNotTouchTheNeighbours) {
  const Bytes wire = Encode({.pad = 5, .dest_qpn = 0xff000001, .psn = 0xff000002}, {});
  Bth bth;
  ASSERT_EQ(ParseBth(wire, &bth), BthParse::kOk);
  EXPECT_EQ(bth, (Bth{.pad = 1, .dest_qpn = 1, .psn = 2}));
}

TEST(HeadersTest, CutExtendedHeadersAreRefused) {
  for (int octet = 0; octet < 256; ++octet) {
    const auto op = static_cast<Opcode>(octet);
    const size_t size = TraitsOf(op).extended_size;
    Bytes room(size);
    ExtendedHeaders headers;
    EXPECT_TRUE(ParseExtendedHeaders(op, room, &headers));
    EXPECT_EQ(EncodeExtendedHeaders(op, headers, room), size);
    if (size == 0) continue;
    EXPECT_FALSE(ParseExtendedHeaders(op, ByteSpan(room).first(size - 1), &headers));
    EXPECT_EQ(EncodeExtendedHeaders(op, headers, std::span(room).first(size - 1)), 0u);
    EXPECT_LE(size, kMaxExtendedSize);
  }
}

TEST(HeadersTest, RandomHeadersRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 20000; ++i) {
    const auto op = static_cast<Opcode>(random.Below(256));
    if (!TraitsOf(op).known()) continue;
    const Bth bth = {op,
                     random.Coin(),
                     random.Coin(),
                     static_cast<uint8_t>(random.Below(4)),
                     static_cast<uint16_t>(random.Next()),
                     random.Coin(),
                     random.Coin(),
                     random.Edgy32() & kMask24,
                     random.Coin(),
                     random.Edgy32() & kMask24};
    const Bytes extended = random.Octets(TraitsOf(op).extended_size);
    ExtendedHeaders headers;
    ASSERT_TRUE(ParseExtendedHeaders(op, extended, &headers));
    const Bytes wire = Encode(bth, headers);
    Bth parsed;
    ASSERT_EQ(ParseBth(wire, &parsed), BthParse::kOk);
    ASSERT_EQ(parsed, bth);
    ExtendedHeaders again;
    ASSERT_TRUE(ParseExtendedHeaders(op, ByteSpan(wire).subspan(kBthSize), &again));
    ASSERT_EQ(again, headers);
  }
}

TEST(HeadersTest, EveryOpcodeAndStatusHasItsText) {
  std::set<std::string> opcodes;
  for (int octet = 0; octet < 256; ++octet) {
    opcodes.insert(OpcodeText(static_cast<Opcode>(octet)));
  }
  EXPECT_EQ(opcodes.size(), 26u + 1);
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(BthParse::kUnknownOpcode); ++i) {
    texts.insert(BthParseText(static_cast<BthParse>(i)));
  }
  EXPECT_EQ(texts.size(), 4u);
}

}  // namespace
}  // namespace softdat::roce
