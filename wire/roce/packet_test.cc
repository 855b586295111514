// SPDX-License-Identifier: BSD-3-Clause
// Whole packets: every vector both ways, and everything that must be refused.

#include "wire/roce/packet.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "wire/roce/ip_headers.h"
#include "wire/roce/vector_fields.h"
#include "wire/test_support.h"

namespace softdat::roce {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;
using wire_test::ToHex;

constexpr uint32_t kStart = 0x12345678;

Bytes Encode(const Packet& packet, uint32_t start = kStart) {
  Bytes out(PacketSize(packet.bth.opcode, packet.payload.size()), 0xee);
  out.resize(EncodePacket(packet, start, out));
  return out;
}

TEST(PacketTest, VectorsBothWays) {
  const auto json = wire_test::ReadJson("wire/roce/testdata/rocev2_rc.json");
  int checked = 0;
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const Bytes ip = FromHex(v.at("ip_hex"));
    const Datagram datagram = ParseIp(ip);
    const auto& fields = v.at("fields");
    const Bytes payload = FromHex(fields.at("payload"));

    Packet packet;
    ASSERT_EQ(ParsePacket(datagram.payload, &packet), PacketParse::kOk);
    EXPECT_EQ(ToHex(packet.payload), ToHex(payload));
    EXPECT_EQ(packet.headers, ExtendedHeadersOf(fields));
    EXPECT_EQ(CheckPayload(packet.bth.opcode, payload.size(), 256), PayloadCheck::kOk);

    Packet expected = {BthOf(fields), ExtendedHeadersOf(fields), payload};
    expected.bth.pad = 0;
    expected.bth.fecn = expected.bth.becn = v.at("name") == "mask_fecn_becn";
    EXPECT_EQ(ToHex(Encode(expected, datagram.Start())), v.at("udp_payload_hex"));
    ++checked;
  }
  EXPECT_EQ(checked, 46);
}

TEST(PacketTest, EveryShorterVectorIsRefusedOrShorter) {
  const auto json = wire_test::ReadJson("wire/roce/testdata/rocev2_rc.json");
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const Bytes wire = FromHex(v.at("udp_payload_hex"));
    for (size_t have = 0; have < wire.size(); ++have) {
      Packet packet;
      const PacketParse result = ParsePacket(ByteSpan(wire).first(have), &packet);
      if (have < kBthSize + kIcrcSize) {
        EXPECT_EQ(result, PacketParse::kTooShort) << have;
      } else if (have % 4 != 0) {
        EXPECT_EQ(result, PacketParse::kUnaligned) << have;
      } else if (have < HeaderSize(packet.bth.opcode) + kIcrcSize) {
        EXPECT_EQ(result, PacketParse::kHeadersCut) << have;
      } else if (result != PacketParse::kBadPad) {
        EXPECT_EQ(result, PacketParse::kOk) << have;
        EXPECT_EQ(HeaderSize(packet.bth.opcode) + packet.payload.size() + packet.bth.pad,
                  have - kIcrcSize);
      }
    }
  }
}

TEST(PacketTest, PadWithoutPayloadIsRefused) {
  Bytes wire = Encode({.bth = {.opcode = Opcode::kAcknowledge}});
  wire[1] |= 0x10;
  Packet packet;
  EXPECT_EQ(ParsePacket(wire, &packet), PacketParse::kBadPad);
}

TEST(PacketTest, VersionAndOpcodeAreRefused) {
  Bytes wire = Encode({});
  Packet packet;
  wire[1] |= 1;
  EXPECT_EQ(ParsePacket(wire, &packet), PacketParse::kBadVersion);
  wire[1] = 0;
  wire[0] = 0x15;
  wire[7] = 0x77;
  EXPECT_EQ(ParsePacket(wire, &packet), PacketParse::kUnknownOpcode);
  EXPECT_EQ(packet.bth.dest_qpn, 0x77u);
}

TEST(PacketTest, TheEncoderRefusesWhatCannotBeStated) {
  Bytes out(kBthSize + kIcrcSize);
  EXPECT_EQ(EncodePacket({.bth = {.opcode = static_cast<Opcode>(0x15)}}, kStart, out), 0u);
  EXPECT_EQ(EncodePacket({}, kStart, std::span(out).first(out.size() - 1)), 0u);
  EXPECT_EQ(EncodePacket({}, kStart, out), out.size());
  EXPECT_EQ(EncodeHeaders({}, 0, std::span(out).first(kBthSize - 1)), 0u);
  const Bytes payload(1);
  EXPECT_EQ(EncodePacket({.payload = payload}, kStart, out), 0u);
  Bytes large(kMaxPacketSize + 100);
  EXPECT_EQ(EncodePacket({.payload = ByteSpan(large).first(kMaxPacketSize + 1)}, kStart, large),
            0u);
}

TEST(PacketTest, PayloadsAgainstTheirOpcode) {
  using enum PayloadCheck;
  EXPECT_EQ(CheckPayload(Opcode::kReadRequest, 0, 1024), kOk);
  EXPECT_EQ(CheckPayload(Opcode::kReadRequest, 4, 1024), kUnexpected);
  EXPECT_EQ(CheckPayload(Opcode::kSendFirst, 1024, 1024), kOk);
  EXPECT_EQ(CheckPayload(Opcode::kSendFirst, 1023, 1024), kNotMtu);
  EXPECT_EQ(CheckPayload(Opcode::kReadResponseMiddle, 1025, 1024), kNotMtu);
  EXPECT_EQ(CheckPayload(Opcode::kWriteLast, 0, 1024), kMissing);
  EXPECT_EQ(CheckPayload(Opcode::kWriteLast, 1, 1024), kOk);
  EXPECT_EQ(CheckPayload(Opcode::kWriteLast, 1025, 1024), kTooLong);
  EXPECT_EQ(CheckPayload(Opcode::kSendOnly, 0, 1024), kOk);
  EXPECT_EQ(CheckPayload(Opcode::kSendOnly, 1024, 1024), kOk);
  EXPECT_EQ(CheckPayload(Opcode::kUdSendOnly, 1025, 1024), kTooLong);
}

TEST(PacketTest, RandomPacketsRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 20000; ++i) {
    Packet packet;
    packet.bth.opcode = static_cast<Opcode>(random.Below(256));
    if (!TraitsOf(packet.bth.opcode).known()) continue;
    packet.bth.solicited = random.Coin();
    packet.bth.dest_qpn = random.Edgy32() & kMask24;
    packet.bth.psn = random.Edgy32() & kMask24;
    const Bytes extended = random.Octets(kMaxExtendedSize);
    ASSERT_TRUE(ParseExtendedHeaders(packet.bth.opcode, extended, &packet.headers));
    const Bytes payload = random.Octets(random.Below(300));
    packet.payload = payload;
    const Bytes wire = Encode(packet);
    ASSERT_EQ(wire.size(), PacketSize(packet.bth.opcode, payload.size()));
    ASSERT_TRUE(IcrcOk(kStart, wire));
    Packet parsed;
    ASSERT_EQ(ParsePacket(wire, &parsed), PacketParse::kOk);
    ASSERT_EQ(parsed.bth.pad, PadOf(payload.size()));
    parsed.bth.pad = 0;
    ASSERT_EQ(parsed.bth, packet.bth);
    ASSERT_EQ(parsed.headers, packet.headers);
    ASSERT_EQ(ToHex(parsed.payload), ToHex(payload));
  }
}

TEST(PacketTest, EveryResultHasItsText) {
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(PacketParse::kBadPad); ++i) {
    texts.insert(PacketParseText(static_cast<PacketParse>(i)));
  }
  EXPECT_EQ(texts.size(), 7u);
  texts.clear();
  for (int i = 0; i <= static_cast<int>(PayloadCheck::kTooLong); ++i) {
    texts.insert(PayloadCheckText(static_cast<PayloadCheck>(i)));
  }
  EXPECT_EQ(texts.size(), 5u);
}

}  // namespace
}  // namespace softdat::roce
