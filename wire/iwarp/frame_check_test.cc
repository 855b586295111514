// SPDX-License-Identifier: BSD-3-Clause
// The receiver's checks: the negative vectors with their Terminates, and each check alone.

#include "wire/iwarp/frame_check.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "wire/iwarp/fpdu.h"
#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::Flag;
using wire_test::FromHex;

// "… (1/2/3)", "… 2/0/3 …" or "accept".
TerminateCode ExpectedCode(const std::string& text) {
  if (text == "accept") return kAccept;
  for (size_t at = 0; at + 5 <= text.size(); ++at) {
    unsigned layer = 0;
    unsigned etype = 0;
    unsigned code = 0;
    if (std::sscanf(&text[at], "%1u/%1u/%1u", &layer, &etype, &code) != 3) continue;
    return {static_cast<uint8_t>(layer), static_cast<uint8_t>(etype), static_cast<uint8_t>(code)};
  }
  ADD_FAILURE() << "no triple in: " << text;
  return kAccept;
}

std::string Text(TerminateCode c) {
  return c.ok() ? "accept"
                : std::to_string(c.layer) + "/" + std::to_string(c.etype) + "/" +
                      std::to_string(c.code);
}

TEST(FrameCheckTest, NegativeVectors) {
  const auto json = wire_test::ReadJson("wire/iwarp/testdata/iwarp_negative.json");
  int checked = 0;
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    ReceiveContext ctx;
    ctx.crc = true;
    Segment segment;
    const TerminateCode got = ClassifyFpdu(FromHex(v.at("hex")), ctx, &segment);
    EXPECT_EQ(Text(got), Text(ExpectedCode(v.at("expect")))) << TerminateText(got);
    ++checked;
  }
  EXPECT_EQ(checked, 9);
}

TEST(FrameCheckTest, EveryGoodVectorIsAcceptedWhereItBelongs) {
  const auto json = wire_test::ReadJson("wire/iwarp/testdata/iwarp_fpdu.json");
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const Bytes wire = FromHex(v.at("hex"));
    FpduView view;
    DdpHeader h;
    ASSERT_EQ(PeekFpdu(wire, &view), 0u);
    ASSERT_EQ(ParseDdpHeader(view.ulpdu, &h), DdpParse::kOk);
    ReceiveContext ctx;
    ctx.crc = Flag(v.at("fields"), "crc_enabled");
    if (!h.tagged) {
      ctx.queues[h.qn].msn = h.msn;
      ctx.queues[h.qn].mo = h.mo;
    }
    Segment segment;
    EXPECT_EQ(Text(ClassifyFpdu(wire, ctx, &segment)), "accept");
    EXPECT_EQ(segment.payload.size(), view.ulpdu.size() - h.size);

    // RFC 7306's opcodes are unexpected when they were not agreed.
    ctx.rfc7306 = false;
    const bool newer = static_cast<uint8_t>(h.opcode) >= kRfc5040OpcodeCount;
    EXPECT_EQ(Text(ClassifyFpdu(wire, ctx, &segment)), newer ? "0/2/6" : "accept");
  }
}

TEST(FrameCheckTest, FramesCutOrLengthenedAreRefused) {
  Bytes wire = FromHex("0012414300000000000000000000000100000000587be8c4");
  Segment segment;
  ReceiveContext ctx;
  EXPECT_TRUE(ClassifyFpdu(wire, ctx, &segment).ok());
  for (size_t size = 0; size < wire.size(); ++size) {
    EXPECT_EQ(ClassifyFpdu(ByteSpan(wire).first(size), ctx, &segment), kTermMpaMarkerMismatch);
  }
  wire.push_back(0);
  EXPECT_EQ(ClassifyFpdu(wire, ctx, &segment), kTermMpaMarkerMismatch);
}

DdpHeader Send(uint32_t msn, uint32_t mo, bool last, Opcode op = Opcode::kSend,
               uint32_t inval = 0) {
  DdpHeader h;
  h.opcode = op;
  h.last = last;
  h.msn = msn;
  h.mo = mo;
  h.stag = inval;
  return h;
}

TEST(FrameCheckTest, UntaggedSequenceOverSegmentsAndMessages) {
  UntaggedSequence seq;
  EXPECT_EQ(seq.Check(Send(2, 0, true)), kTermMsnRange);
  EXPECT_EQ(seq.Check(Send(1, 4, true)), kTermInvalidMo);
  ASSERT_TRUE(seq.Check(Send(1, 0, false)).ok());
  seq.Advance(Send(1, 0, false), 100);
  EXPECT_EQ(seq.Check(Send(2, 0, true)), kTermMsnRange);
  EXPECT_EQ(seq.Check(Send(1, 0, true)), kTermInvalidMo);
  EXPECT_EQ(seq.Check(Send(1, 100, true, Opcode::kSendSolicited)), kTermUnexpectedOpcode);
  ASSERT_TRUE(seq.Check(Send(1, 100, true)).ok());
  seq.Advance(Send(1, 100, true), 7);
  EXPECT_EQ(seq.msn, 2u);
  EXPECT_EQ(seq.mo, 0u);
  EXPECT_FALSE(seq.in_message);
  EXPECT_TRUE(seq.Check(Send(2, 0, true, Opcode::kSendSolicited)).ok());
}

TEST(FrameCheckTest, InvalidateStagStaysTheSameThroughAMessage) {
  UntaggedSequence seq;
  seq.Advance(Send(1, 0, false, Opcode::kSendInvalidate, 0x500), 8);
  EXPECT_TRUE(seq.Check(Send(1, 8, true, Opcode::kSendInvalidate, 0x500)).ok());
  EXPECT_EQ(seq.Check(Send(1, 8, true, Opcode::kSendInvalidate, 0x501)), kTermUnexpectedOpcode);
}

TEST(FrameCheckTest, MsnWraps) {
  UntaggedSequence seq;
  seq.msn = 0xffffffff;
  ASSERT_TRUE(seq.Check(Send(0xffffffff, 0, true)).ok());
  seq.Advance(Send(0xffffffff, 0, true), 0);
  EXPECT_TRUE(seq.Check(Send(0, 0, true)).ok());
}

TEST(FrameCheckTest, FitsUpToTheLastOctet) {
  EXPECT_TRUE(CheckFits(Send(1, 90, true), 10, 100).ok());
  EXPECT_EQ(CheckFits(Send(1, 91, true), 10, 100), kTermMessageTooLong);
  EXPECT_TRUE(CheckFits(Send(1, 0, true), 0, 0).ok());
  EXPECT_EQ(CheckFits(Send(1, 0xffffffff, true), 2, 0xffffffff), kTermMessageTooLong);
}

DdpHeader Tagged(uint32_t stag, uint64_t to, bool last) {
  DdpHeader h;
  h.tagged = true;
  h.stag = stag;
  h.to = to;
  h.last = last;
  return h;
}

TEST(FrameCheckTest, TaggedOffsetWrap) {
  const uint64_t top = ~uint64_t{0};
  EXPECT_TRUE(CheckToWrap(Tagged(1, top, true), 0).ok());
  EXPECT_TRUE(CheckToWrap(Tagged(1, top, true), 1).ok());
  EXPECT_EQ(CheckToWrap(Tagged(1, top, true), 2), kTermTaggedToWrap);
  EXPECT_TRUE(CheckToWrap(Tagged(1, top - 99, true), 100).ok());
  EXPECT_EQ(CheckToWrap(Tagged(1, top - 98, true), 100), kTermTaggedToWrap);

  // The same check as part of a whole frame.
  Bytes wire(kTaggedFpduHeaderSize + 4 + FpduTrailerSize(18));
  EncodeTaggedFpduHeader(wire.data(), Opcode::kWrite, true, 1, top - 2, 4);
  wire.resize(FpduSize(18));
  Segment segment;
  EXPECT_EQ(ClassifyFpdu(wire, {}, &segment), kTermTaggedToWrap);
}

TEST(FrameCheckTest, TaggedSequence) {
  TaggedSequence seq;
  EXPECT_TRUE(seq.Check(Tagged(7, 1000, false)).ok());
  seq.Advance(Tagged(7, 1000, false), 20);
  EXPECT_TRUE(seq.Check(Tagged(7, 1020, true)).ok());
  EXPECT_EQ(seq.Check(Tagged(8, 1020, true)), kTermTaggedInvalidStag);
  EXPECT_EQ(seq.Check(Tagged(7, 1021, true)), kTermTaggedBounds);
  seq.Advance(Tagged(7, 1020, true), 1);
  EXPECT_TRUE(seq.Check(Tagged(8, 5, true)).ok());
}

TEST(FrameCheckTest, ReadResponse) {
  const ReadResponseExpectation expect{7, 1000, 50};
  EXPECT_TRUE(CheckReadResponse(Tagged(7, 1000, true), 50, expect).ok());
  EXPECT_TRUE(CheckReadResponse(Tagged(7, 1000, false), 49, expect).ok());
  EXPECT_EQ(CheckReadResponse(Tagged(8, 1000, true), 50, expect), kTermTaggedInvalidStag);
  EXPECT_EQ(CheckReadResponse(Tagged(7, 1001, true), 50, expect), kTermTaggedBounds);
  EXPECT_EQ(CheckReadResponse(Tagged(7, 1000, true), 49, expect), kTermTaggedBounds);
  EXPECT_EQ(CheckReadResponse(Tagged(7, 1000, false), 50, expect), kTermTaggedBounds);
  EXPECT_EQ(CheckReadResponse(Tagged(7, 1000, true), 51, expect), kTermTaggedBounds);
  EXPECT_EQ(CheckReadResponse(Tagged(7, 1000, false), 51, expect), kTermTaggedBounds);
  EXPECT_TRUE(CheckReadResponse(Tagged(0, 0, true), 0, {}).ok());  // the RTR's response
}

TEST(FrameCheckTest, FixedForms) {
  const struct {
    Opcode op;
    size_t size;
  } forms[] = {{Opcode::kReadRequest, 28},
               {Opcode::kAtomicRequest, 52},
               {Opcode::kAtomicResponse, 12},
               {Opcode::kImmediate, 8},
               {Opcode::kImmediateSolicited, 8}};
  for (const auto& form : forms) {
    SCOPED_TRACE(OpcodeText(form.op));
    EXPECT_TRUE(CheckFixedForm(Send(1, 0, true, form.op), form.size).ok());
    EXPECT_EQ(CheckFixedForm(Send(1, 0, false, form.op), form.size), kTermMessageTooLong);
    EXPECT_EQ(CheckFixedForm(Send(1, 0, true, form.op), form.size + 1), kTermMessageTooLong);
    EXPECT_EQ(CheckFixedForm(Send(1, 0, true, form.op), form.size - 1),
              kTermRemoteOperationUnspecified);
  }
  EXPECT_TRUE(CheckFixedForm(Send(1, 0, true, Opcode::kTerminate), 4).ok());
  EXPECT_TRUE(CheckFixedForm(Send(1, 0, true, Opcode::kTerminate), 1000).ok());
  EXPECT_FALSE(CheckFixedForm(Send(1, 0, true, Opcode::kTerminate), 3).ok());
  EXPECT_TRUE(CheckFixedForm(Send(1, 0, false, Opcode::kSend), 65000).ok());
}

}  // namespace
}  // namespace softdat::iwarp
