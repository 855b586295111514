// SPDX-License-Identifier: BSD-3-Clause
// DDP headers: encoders against the parser, and each violation with its Terminate.

#include "wire/iwarp/ddp.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::TestRandom;
using wire_test::ToHex;

Bytes Untagged(uint32_t qn, uint8_t opcode) {
  Bytes out(kUntaggedHeaderSize);
  EncodeUntagged(out.data(), static_cast<Opcode>(opcode), true, 0, qn, 1, 0);
  return out;
}

Bytes Tagged(uint8_t opcode) {
  Bytes out(kTaggedHeaderSize);
  EncodeTagged(out.data(), static_cast<Opcode>(opcode), true, 7, 8);
  return out;
}

TEST(DdpTest, RandomTaggedHeadersRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 50000; ++i) {
    const Opcode op = random.Coin() ? Opcode::kWrite : Opcode::kReadResponse;
    const bool last = random.Coin();
    const uint32_t stag = random.Edgy32();
    const uint64_t to = random.Edgy64();
    const size_t payload = random.Below(kMaxUlpdu - kTaggedHeaderSize + 1);
    Bytes wire(kTaggedFpduHeaderSize + 1, 0xee);
    EncodeTaggedFpduHeader(wire.data(), op, last, stag, to, payload);
    ASSERT_EQ(wire.back(), 0xee);
    ASSERT_EQ(LoadBe16(wire.data()), kTaggedHeaderSize + payload);
    Bytes bare(kTaggedHeaderSize + 1, 0xee);
    EncodeTagged(bare.data(), op, last, stag, to);
    ASSERT_EQ(ToHex(bare), ToHex(ByteSpan(wire).subspan(kFpduLengthSize)));

    DdpHeader h;
    ASSERT_EQ(ParseDdpHeader(bare, &h), DdpParse::kOk);
    ASSERT_TRUE(h.tagged);
    ASSERT_EQ(h.size, kTaggedHeaderSize);
    ASSERT_EQ(h.opcode, op);
    ASSERT_EQ(h.last, last);
    ASSERT_EQ(h.stag, stag);
    ASSERT_EQ(h.to, to);
  }
}

TEST(DdpTest, RandomUntaggedHeadersRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 50000; ++i) {
    Opcode op;
    do {
      op = static_cast<Opcode>(random.Below(kOpcodeCount));
    } while (IsTagged(op));
    const bool last = random.Coin();
    const uint32_t inval = random.Edgy32();
    const uint32_t msn = random.Edgy32();
    const uint32_t mo = random.Edgy32();
    const size_t payload = random.Below(kMaxUlpdu - kUntaggedHeaderSize + 1);
    Bytes wire(kUntaggedFpduHeaderSize + 1, 0xee);
    EncodeUntaggedFpduHeader(wire.data(), op, last, inval, QueueOf(op), msn, mo, payload);
    ASSERT_EQ(wire.back(), 0xee);
    ASSERT_EQ(LoadBe16(wire.data()), kUntaggedHeaderSize + payload);
    Bytes bare(kUntaggedHeaderSize + 1, 0xee);
    EncodeUntagged(bare.data(), op, last, inval, QueueOf(op), msn, mo);
    ASSERT_EQ(ToHex(bare), ToHex(ByteSpan(wire).subspan(kFpduLengthSize)));

    DdpHeader h;
    ASSERT_EQ(ParseDdpHeader(bare, &h), DdpParse::kOk);
    ASSERT_FALSE(h.tagged);
    ASSERT_EQ(h.size, kUntaggedHeaderSize);
    ASSERT_EQ(h.opcode, op);
    ASSERT_EQ(h.last, last);
    ASSERT_EQ(h.stag, inval);
    ASSERT_EQ(h.qn, QueueOf(op));
    ASSERT_EQ(h.msn, msn);
    ASSERT_EQ(h.mo, mo);
  }
}

// RFC 5040 §4.1, RFC 7306 §6: which opcode belongs to which model and queue.
TEST(DdpTest, EveryOpcodeOnEveryRoute) {
  const int queue_of[16] = {-1, 1, -1, 0, 0, 0, 0, 2, 0, 0, 1, 3, -2, -2, -2, -2};
  for (uint8_t op = 0; op < 16; ++op) {
    DdpHeader h;
    EXPECT_EQ(ParseDdpHeader(Tagged(op), &h) == DdpParse::kOk, queue_of[op] == -1) << int{op};
    for (uint32_t qn = 0; qn < kQnCount; ++qn) {
      const DdpParse got = ParseDdpHeader(Untagged(qn, op), &h);
      const bool fits = queue_of[op] == static_cast<int>(qn);
      EXPECT_EQ(got, fits ? DdpParse::kOk : DdpParse::kUnexpectedOpcode) << int{op} << " " << qn;
    }
    if (queue_of[op] >= 0) {
      EXPECT_EQ(QueueOf(static_cast<Opcode>(op)), static_cast<uint32_t>(queue_of[op]));
    }
  }
}

TEST(DdpTest, UnknownQueueIsDdpsErrorBeforeAnyOfRdmap) {
  for (const uint32_t qn : {4u, 5u, 255u, 0x80000000u, 0xffffffffu}) {
    Bytes wire = Untagged(qn, 15);
    wire[1] = 0xff;  // RDMAP version 3 as well
    DdpHeader h;
    EXPECT_EQ(ParseDdpHeader(wire, &h), DdpParse::kBadQn) << qn;
  }
}

TEST(DdpTest, VersionsAndTheirTerminates) {
  for (uint8_t version = 0; version < 4; ++version) {
    DdpHeader h;
    Bytes tagged = Tagged(0);
    Bytes untagged = Untagged(0, 3);
    tagged[0] = static_cast<uint8_t>((tagged[0] & ~3) | version);
    untagged[0] = static_cast<uint8_t>((untagged[0] & ~3) | version);
    const auto t = TerminateFor(ParseDdpHeader(tagged, &h));
    const auto u = TerminateFor(ParseDdpHeader(untagged, &h));
    EXPECT_EQ(t, version == 1 ? kAccept : (TerminateCode{1, 1, 4}));
    EXPECT_EQ(u, version == 1 ? kAccept : (TerminateCode{1, 2, 6}));

    tagged = Tagged(0);
    untagged = Untagged(0, 3);
    tagged[1] = static_cast<uint8_t>((tagged[1] & 0x3f) | version << 6);
    untagged[1] = static_cast<uint8_t>((untagged[1] & 0x3f) | version << 6);
    const TerminateCode rdmap = version == 1 ? kAccept : TerminateCode{0, 2, 5};
    EXPECT_EQ(TerminateFor(ParseDdpHeader(tagged, &h)), rdmap);
    EXPECT_EQ(TerminateFor(ParseDdpHeader(untagged, &h)), rdmap);
  }
}

TEST(DdpTest, TerminateOfEachResult) {
  EXPECT_TRUE(TerminateFor(DdpParse::kOk).ok());
  EXPECT_EQ(TerminateFor(DdpParse::kTooShort), (TerminateCode{2, 0, 3}));
  EXPECT_EQ(TerminateFor(DdpParse::kBadQn), (TerminateCode{1, 2, 1}));
  EXPECT_EQ(TerminateFor(DdpParse::kUnexpectedOpcode), (TerminateCode{0, 2, 6}));
}

TEST(DdpTest, ShortSegmentsNeverPassAndLeaveTheOutputAlone) {
  for (const Bytes& wire : {Tagged(0), Untagged(0, 3)}) {
    for (size_t size = 0; size < wire.size(); ++size) {
      // A copy of exactly that size, so that AddressSanitizer notices a read behind it.
      const Bytes part(wire.begin(), wire.begin() + static_cast<ptrdiff_t>(size));
      DdpHeader h;
      h.stag = 4711;
      EXPECT_EQ(ParseDdpHeader(part, &h), DdpParse::kTooShort) << size;
      EXPECT_EQ(h.stag, 4711u);
    }
  }
}

TEST(DdpTest, ReservedBitsAreIgnored) {
  Bytes tagged = Tagged(2);
  Bytes untagged = Untagged(0, 5);
  for (Bytes* wire : {&tagged, &untagged}) {
    (*wire)[0] |= 0x3c;
    (*wire)[1] |= 0x30;
  }
  DdpHeader h;
  ASSERT_EQ(ParseDdpHeader(tagged, &h), DdpParse::kOk);
  EXPECT_EQ(h.opcode, Opcode::kReadResponse);
  ASSERT_EQ(ParseDdpHeader(untagged, &h), DdpParse::kOk);
  EXPECT_EQ(h.opcode, Opcode::kSendSolicited);
}

TEST(DdpTest, OpcodeProperties) {
  const auto set_of = [](bool (*property)(Opcode)) {
    std::string out;
    for (uint8_t op = 0; op < kOpcodeCount; ++op)
      out += property(static_cast<Opcode>(op)) ? '1' : '0';
    return out;
  };
  EXPECT_EQ(set_of(IsSend), "000111100000");
  EXPECT_EQ(set_of(IsImmediate), "000000001100");
  EXPECT_EQ(set_of(IsSolicited), "000001100100");
  EXPECT_EQ(set_of(HasInvalidate), "000010100000");
  EXPECT_EQ(set_of(IsTagged), "101000000000");
}

TEST(DdpTest, OpcodesHaveDistinctNames) {
  std::vector<std::string> names;
  for (uint8_t op = 0; op <= kOpcodeCount; ++op)
    names.push_back(OpcodeText(static_cast<Opcode>(op)));
  EXPECT_EQ(names.back(), "unknown");
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
  EXPECT_STRNE(DdpParseText(DdpParse::kBadQn), DdpParseText(DdpParse::kUnexpectedOpcode));
}

}  // namespace
}  // namespace softdat::iwarp
