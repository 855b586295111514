// SPDX-License-Identifier: BSD-3-Clause
// Captures of a real Linux siw, walked by length. Nothing is left over, MSN and MO are contiguous,
// and our encoders write the same octets.

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "wire/iwarp/frame_check.h"
#include "wire/iwarp/mpa.h"
#include "wire/iwarp/pcap_reader.h"
#include "wire/iwarp/rdmap.h"
#include "wire/test_support.h"

namespace softdat::iwarp {
namespace {

using wire_test::Bytes;
using wire_test::ToHex;

struct Totals {
  int fpdus = 0;
  int sends = 0;
  int reads = 0;
  int read_responses = 0;
  int writes = 0;
};

// Takes the start-up frame off the front, and checks that we would write the same one.
MpaStart TakeStart(ByteSpan* stream, bool reply) {
  MpaStart frame;
  const MpaParseResult r = ParseMpaStart(*stream, &frame);
  EXPECT_EQ(r.status, MpaParseStatus::kOk);
  if (r.status != MpaParseStatus::kOk) return frame;
  EXPECT_EQ(frame.reply, reply);
  EXPECT_TRUE(frame.enhanced);
  EXPECT_EQ(frame.revision, kMpaRevision2);
  Bytes again(kMpaMaxFrameSize);
  again.resize(EncodeMpaStart(frame, again));
  EXPECT_EQ(ToHex(again), ToHex(stream->first(r.bytes)));
  *stream = stream->subspan(r.bytes);
  return frame;
}

// Our encoder must write the octets that siw sent, given what the parser read.
void ExpectSameHeader(const DdpHeader& h, size_t payload, ByteSpan fpdu) {
  Bytes again(kUntaggedFpduHeaderSize);
  if (h.tagged) {
    again.resize(kTaggedFpduHeaderSize);
    EncodeTaggedFpduHeader(again.data(), h.opcode, h.last, h.stag, h.to, payload);
  } else {
    EncodeUntaggedFpduHeader(again.data(), h.opcode, h.last, h.stag, h.qn, h.msn, h.mo, payload);
  }
  EXPECT_EQ(ToHex(again), ToHex(fpdu.first(again.size())));
}

// Walks one direction. `asked` are the Reads that the other direction asked for, to be answered
// here. `asks` collects the Reads that this direction asks for.
void Walk(ByteSpan stream, bool crc, const std::deque<ReadRequest>& asked,
          std::deque<ReadRequest>* asks, Totals* totals) {
  ReceiveContext ctx;
  ctx.crc = crc;
  ctx.rfc7306 = false;
  TaggedSequence write;
  std::deque<ReadRequest> pending = asked;
  uint32_t answered = 0;
  while (!stream.empty()) {
    FpduView view;
    ASSERT_EQ(PeekFpdu(stream, &view), 0u) << "a residue of " << stream.size() << " octets";
    const ByteSpan fpdu = stream.first(view.size);
    Segment s;
    const TerminateCode verdict = ClassifyFpdu(fpdu, ctx, &s);
    ASSERT_TRUE(verdict.ok()) << TerminateText(verdict);
    ExpectSameHeader(s.header, s.payload.size(), fpdu);
    ++totals->fpdus;
    if (!s.header.tagged) ctx.queues[s.header.qn].Advance(s.header, s.payload.size());
    if (s.header.opcode == Opcode::kReadRequest) {
      ReadRequest request;
      ASSERT_TRUE(ParseReadRequest(s.payload, &request));
      asks->push_back(request);
      ++totals->reads;
    } else if (s.header.opcode == Opcode::kReadResponse) {
      ASSERT_FALSE(pending.empty());
      const ReadRequest& front = pending.front();
      const TerminateCode fits =
          CheckReadResponse(s.header, s.payload.size(),
                            {front.sink_stag, front.sink_to + answered, front.size - answered});
      ASSERT_TRUE(fits.ok()) << TerminateText(fits);
      answered += static_cast<uint32_t>(s.payload.size());
      if (s.header.last) {
        pending.pop_front();
        answered = 0;
        ++totals->read_responses;
      }
    } else if (s.header.opcode == Opcode::kWrite) {
      ASSERT_TRUE(write.Check(s.header).ok());
      write.Advance(s.header, s.payload.size());
      if (s.header.last) ++totals->writes;
    } else {
      ASSERT_TRUE(IsSend(s.header.opcode));
      ++totals->sends;
    }
    stream = stream.subspan(view.size);
  }
  EXPECT_TRUE(pending.empty());
  EXPECT_FALSE(write.in_message || ctx.queues[kQnSend].in_message);
}

struct Capture {
  const char* name;
  bool crc;
  bool rejected;
  Totals expect;
};

class SiwCaptureTest : public testing::TestWithParam<Capture> {};

TEST_P(SiwCaptureTest, WalksWithoutResidue) {
  const Capture& capture = GetParam();
  const auto conversation =
      wire_test::ReadConversation(std::string("wire/iwarp/testdata/") + capture.name + ".pcap");
  ByteSpan client = conversation.from_client;
  ByteSpan server = conversation.from_server;
  const MpaStart request = TakeStart(&client, false);
  const MpaStart reply = TakeStart(&server, true);
  ASSERT_FALSE(HasFailure());
  EXPECT_EQ(reply.reject, capture.rejected);
  EXPECT_EQ(request.crc || reply.crc, capture.crc);

  // In these captures (rping) only the server reads.
  Totals totals;
  std::deque<ReadRequest> reads;
  std::deque<ReadRequest> none;
  Walk(server, capture.crc, {}, &reads, &totals);
  Walk(client, capture.crc, reads, &none, &totals);
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(totals.fpdus, capture.expect.fpdus);
  EXPECT_EQ(totals.sends, capture.expect.sends);
  EXPECT_EQ(totals.reads, capture.expect.reads);
  EXPECT_EQ(totals.read_responses, capture.expect.reads);
  EXPECT_EQ(totals.writes, capture.expect.writes);
}

INSTANTIATE_TEST_SUITE_P(
    All, SiwCaptureTest,
    testing::Values(Capture{"siw_rping", false, false, {27, 12, 3, 3, 3}},
                    Capture{"siw_tcp_peer", false, true, {}},
                    Capture{"siw_userspace_peer", false, false, {7, 4, 1, 1, 1}},
                    Capture{"siw_userspace_peer_crc", true, false, {7, 4, 1, 1, 1}}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace softdat::iwarp
