// SPDX-License-Identifier: BSD-3-Clause
// Terminates: the table of codes, the headers they include, siw's swapped form, and damaged ones.

#include "wire/iwarp/terminate.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;
using wire_test::ToHex;

// Payload of the Terminate vector of that name.
Bytes VectorPayload(const std::string& name) {
  const auto json = wire_test::ReadJson("wire/iwarp/testdata/iwarp_fpdu.json");
  for (const auto& v : json.at("vectors")) {
    if (v.at("name") != name) continue;
    const Bytes wire = FromHex(v.at("hex"));
    FpduView view;
    EXPECT_EQ(PeekFpdu(wire, &view), 0u);
    const ByteSpan payload = view.ulpdu.subspan(kUntaggedHeaderSize);
    return {payload.begin(), payload.end()};
  }
  ADD_FAILURE() << "no vector " << name;
  return {};
}

Bytes EncodePayload(const Terminate& term) {
  Bytes out(kTerminateMaxPayload + 1, 0xee);
  const size_t size = EncodeTerminatePayload(term, out.data());
  EXPECT_LE(size, kTerminateMaxPayload);
  EXPECT_EQ(out.back(), 0xee);
  out.resize(size);
  return out;
}

TEST(TerminateTest, SwappedSiwIsReadLikeTheStandardForm) {
  const Bytes standard_bytes = VectorPayload("term_ddp_tagged_inv_stag");
  const Bytes siw_bytes = VectorPayload("term_siw_le_ddp_tagged");
  DecodedTerminate standard;
  DecodedTerminate siw;
  ASSERT_TRUE(DecodeTerminate(standard_bytes, &standard));
  ASSERT_TRUE(DecodeTerminate(siw_bytes, &siw));
  EXPECT_FALSE(standard.swapped);
  EXPECT_TRUE(siw.swapped);
  EXPECT_EQ(siw.term.code, standard.term.code);
  EXPECT_EQ(ToHex(siw.term.ddp_header), ToHex(standard.term.ddp_header));
  // siw counts the payload alone: 46 less the header of 14.
  EXPECT_EQ(standard.term.segment_length, 46);
  EXPECT_EQ(siw.term.segment_length, 32);
}

// 0x20 0x06 can be siw's "unexpected opcode" or RFC 6581's "insufficient IRD".
TEST(TerminateTest, AmbiguousTripleGivesBothReadings) {
  DecodedTerminate d;
  const Bytes payload = VectorPayload("term_siw_le_rdmap_opcode");
  ASSERT_TRUE(DecodeTerminate(payload, &d));
  EXPECT_FALSE(d.swapped);
  EXPECT_EQ(d.term.code, kTermMpaInsufficientIrd);
  EXPECT_EQ(d.alternate, kTermUnexpectedOpcode);
}

TEST(TerminateTest, TripleKnownOnlySwappedIsSwapped) {
  // DDP untagged "no buffer" (1/2/2) as siw sends it without headers.
  const Bytes payload = {0x21, 0x02, 0x00, 0x00};
  DecodedTerminate d;
  ASSERT_TRUE(DecodeTerminate(payload, &d));
  EXPECT_TRUE(d.swapped);
  EXPECT_EQ(d.term.code, kTermNoBuffer);
  EXPECT_TRUE(d.alternate.ok());
}

TEST(TerminateTest, UnknownTripleStaysAsItIs) {
  const Bytes payload = {0x7e, 0x55, 0x00, 0x00};
  DecodedTerminate d;
  ASSERT_TRUE(DecodeTerminate(payload, &d));
  EXPECT_FALSE(d.swapped);
  EXPECT_EQ(d.term.code, (TerminateCode{7, 14, 0x55}));
  EXPECT_TRUE(d.alternate.ok());
}

TEST(TerminateTest, TruncatedAnywhereStillGivesTheCode) {
  const Bytes whole = VectorPayload("term_rdmap_read_access");
  for (size_t size = 0; size < whole.size(); ++size) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    DecodedTerminate d;
    ASSERT_EQ(DecodeTerminate(part, &d), size >= kTerminateMinPayload) << size;
    if (size < kTerminateMinPayload) continue;
    EXPECT_TRUE(d.truncated) << size;
    EXPECT_EQ(d.term.code, kTermRemoteAccess);
    EXPECT_EQ(d.term.ddp_header.size(), size >= 6 + kUntaggedHeaderSize ? kUntaggedHeaderSize : 0);
    EXPECT_TRUE(d.term.read_request.empty());
  }
  DecodedTerminate d;
  ASSERT_TRUE(DecodeTerminate(whole, &d));
  EXPECT_FALSE(d.truncated);
  EXPECT_EQ(d.term.read_request.size(), kReadRequestSize);
}

TEST(TerminateTest, ReadRequestBitWithoutHeaderBitIsTruncated) {
  Bytes payload(60);
  payload[1] = 2;
  payload[2] = 0xa0;
  DecodedTerminate d;
  ASSERT_TRUE(DecodeTerminate(payload, &d));
  EXPECT_TRUE(d.truncated);
  EXPECT_TRUE(d.term.read_request.empty());
}

TEST(TerminateTest, EncoderLeavesOutHeadersOfWrongLength) {
  const Bytes untagged(kUntaggedHeaderSize);                // T bit clear: 18 octets fit
  const Bytes tagged_bit(kUntaggedHeaderSize, kDdpTagged);  // T bit set, but not 14 octets
  const Bytes request(kReadRequestSize);
  const Bytes short_request(kReadRequestSize - 1);
  EXPECT_EQ(EncodePayload({.code = kTermInvalidQn}).size(), 4u);
  EXPECT_EQ(EncodePayload({.code = kTermInvalidQn, .ddp_header = tagged_bit}).size(), 4u);
  EXPECT_EQ(EncodePayload({.code = kTermInvalidQn, .ddp_header = untagged}).size(), 24u);
  EXPECT_EQ(EncodePayload({.code = kTermInvalidQn, .read_request = request}).size(), 4u);
  EXPECT_EQ(EncodePayload({.ddp_header = untagged, .read_request = short_request}).size(), 24u);
  EXPECT_EQ(EncodePayload({.ddp_header = untagged, .read_request = request}).size(),
            kTerminateMaxPayload);
}

TEST(TerminateTest, WhichHeadersGoAlong) {
  Bytes read(kUntaggedHeaderSize + kReadRequestSize);
  EncodeUntagged(read.data(), Opcode::kReadRequest, true, 0, kQnReadRequest, 9, 0);
  Bytes write(kTaggedHeaderSize + 10);
  EncodeTagged(write.data(), Opcode::kWrite, true, 5, 6);

  Terminate t = TerminateForSegment(kTermRemoteAccess, read, read.size());
  EXPECT_EQ(t.code, kTermRemoteAccess);
  EXPECT_EQ(t.segment_length, read.size());
  EXPECT_EQ(t.ddp_header.size(), kUntaggedHeaderSize);
  EXPECT_EQ(t.read_request.data(), read.data() + kUntaggedHeaderSize);
  EXPECT_EQ(t.read_request.size(), kReadRequestSize);

  t = TerminateForSegment(kTermMsnRange, read, read.size());  // DDP's errors: no RDMAP header
  EXPECT_EQ(t.ddp_header.size(), kUntaggedHeaderSize);
  EXPECT_TRUE(t.read_request.empty());

  // The front of a long segment is enough.
  t = TerminateForSegment(kTermTaggedBounds, ByteSpan(write).first(kTaggedHeaderSize), 5000);
  EXPECT_EQ(t.segment_length, 5000);
  EXPECT_EQ(t.ddp_header.size(), kTaggedHeaderSize);
  EXPECT_TRUE(t.read_request.empty());

  for (const TerminateCode code :
       {kTermMpaCrc, kTermLocalCatastrophic, kTermDdpLocalCatastrophic}) {
    t = TerminateForSegment(code, read, read.size());
    EXPECT_FALSE(t.has_segment_length);
    EXPECT_TRUE(t.ddp_header.empty());
    EXPECT_TRUE(t.read_request.empty());
  }
  for (size_t size = 0; size < kTaggedHeaderSize; ++size) {
    t = TerminateForSegment(kTermTaggedBounds, ByteSpan(write).first(size), size);
    EXPECT_TRUE(t.ddp_header.empty());
  }
}

TEST(TerminateTest, RandomTerminatesRoundTripAsFpdus) {
  TestRandom random;
  for (int i = 0; i < 20000; ++i) {
    Terminate t;
    t.code = {static_cast<uint8_t>(random.Below(3)), static_cast<uint8_t>(random.Below(4)),
              static_cast<uint8_t>(random.Next())};
    Bytes header;
    Bytes request;
    if (random.Coin()) {
      header = random.Octets(random.Coin() ? kTaggedHeaderSize : kUntaggedHeaderSize);
      header[0] = static_cast<uint8_t>(header.size() == kTaggedHeaderSize ? header[0] | kDdpTagged
                                                                          : header[0] & 0x7f);
      if (random.Coin()) request = random.Octets(kReadRequestSize);
      t.segment_length = static_cast<uint16_t>(random.Next());
      t.has_segment_length = true;
    }
    t.ddp_header = header;
    t.read_request = request;
    const bool crc = random.Coin();
    Bytes wire(kTerminateMaxFpdu + 1, 0xee);
    const size_t size = EncodeTerminateFpdu(t, crc, wire.data());
    ASSERT_EQ(wire.back(), 0xee);
    wire.resize(size);
    FpduView view;
    ASSERT_EQ(PeekFpdu(wire, &view), 0u);
    ASSERT_EQ(view.size, size);
    ASSERT_EQ(FpduCrcOk(wire), crc);
    DdpHeader h;
    ASSERT_EQ(ParseDdpHeader(view.ulpdu, &h), DdpParse::kOk);
    ASSERT_TRUE(h.opcode == Opcode::kTerminate && h.last && h.msn == kFirstMsn && h.mo == 0);
    DecodedTerminate d;
    ASSERT_TRUE(DecodeTerminate(view.ulpdu.subspan(h.size), &d));
    ASSERT_FALSE(d.truncated);
    // A triple without headers may be read swapped. Then the other reading is the one that was
    // sent.
    if (d.swapped) {
      ASSERT_TRUE(header.empty() && !IsKnownTerminate(t.code));
      continue;
    }
    ASSERT_EQ(d.term.code, t.code);
    ASSERT_EQ(d.term.segment_length, t.segment_length);
    ASSERT_EQ(ToHex(d.term.ddp_header), ToHex(header));
    ASSERT_EQ(ToHex(d.term.read_request), ToHex(request));
  }
}

// The rows of RFC 5040 §4.8, RFC 5041 §8.2, RFC 5044 §8 and RFC 6581 §5, written down a second
// time.
TEST(TerminateTest, EveryDefinedTripleHasItsOwnText) {
  const std::map<std::pair<int, int>, std::set<int>> rows = {
      {{0, 0}, {0}},
      {{0, 1}, {0, 1, 2, 3, 4, 9, 0xff}},
      {{0, 2}, {5, 6, 7, 8, 9, 0xff}},
      {{1, 0}, {0}},
      {{1, 1}, {0, 1, 2, 3, 4}},
      {{1, 2}, {1, 2, 3, 4, 5, 6}},
      {{2, 0}, {1, 2, 3, 4, 5, 6, 7}},
  };
  std::set<std::string> texts;
  size_t defined = 0;
  for (int layer = 0; layer < 16; ++layer) {
    for (int etype = 0; etype < 16; ++etype) {
      const auto row = rows.find({layer, etype});
      for (int code = 0; code < 256; ++code) {
        const TerminateCode c{static_cast<uint8_t>(layer), static_cast<uint8_t>(etype),
                              static_cast<uint8_t>(code)};
        const bool known = row != rows.end() && row->second.count(code) != 0;
        const bool llp_reserved = layer == 1 && etype == 3;
        ASSERT_EQ(IsKnownTerminate(c), known || llp_reserved) << layer << etype << code;
        ASSERT_NE(TerminateText(c), nullptr);
        if (!known) continue;
        ++defined;
        texts.insert(TerminateText(c));
      }
    }
  }
  EXPECT_EQ(texts.size(), defined);
  EXPECT_STREQ(TerminateText(0, 1, 2), "RDMAP remote protection: access rights violation");
  EXPECT_STREQ(TerminateText(2, 0, 99), "MPA: unknown error");
  EXPECT_STREQ(TerminateText(9, 0, 0), "error of an unknown layer");
  EXPECT_STREQ(TerminateText(kAccept), "no error");
}

}  // namespace
}  // namespace softdat::iwarp
