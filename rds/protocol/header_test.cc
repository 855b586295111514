// SPDX-License-Identifier: BSD-3-Clause
// Headers of RDS: every vector in both directions, those that a kernel has sent, and everything
// that must be refused.
#include "rds/protocol/header.h"

#include <gtest/gtest.h>

#include <string>

#include "rds/protocol/connect_data.h"
#include "wire/ip_capture.h"
#include "wire/rdmacm/ip_header.h"
#include "wire/rdmacm/mad.h"
#include "wire/roce/packet.h"
#include "wire/test_support.h"

namespace softdat::rds {
namespace {

using nlohmann::json;
using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::Number;
using wire_test::ToHex;

Bytes Encoded(const Header& header) {
  Bytes out(kHeaderSize);
  EXPECT_TRUE(EncodeHeader(header, std::span(out).first<kHeaderSize>()));
  return out;
}

// The list of extensions that the vectors state, without the octets behind it.
Extensions ExtensionsOf(const std::string& hex) {
  Extensions out;
  if (hex.starts_with("02")) out.rdma_rkey = 0x1234;
  if (hex.starts_with("03")) out.rdma_destination = {0x1234, 0x678};
  if (hex.starts_with("05")) {
    out.paths = 8;
    out.generation = 0xcafebabe;
  }
  return out;
}

TEST(HeaderTest, VectorsBothWays) {
  int seen = 0;
  const json file = wire_test::ReadJson("rds/protocol/testdata/rds.json");
  for (const json& v : file.at("vectors")) {
    const json& f = v.at("fields");
    if (!f.contains("seq")) continue;
    SCOPED_TRACE(v.at("name").get<std::string>());
    Header header;
    header.sequence = Number(f, "seq");
    header.ack = Number(f, "ack");
    header.length = static_cast<uint32_t>(Number(f, "ln"));
    header.source_port = static_cast<uint16_t>(Number(f, "sport"));
    header.destination_port = static_cast<uint16_t>(Number(f, "dport"));
    if (f.contains("flags")) header.flags = static_cast<uint8_t>(Number(f, "flags"));
    if (f.contains("credit")) header.credit = static_cast<uint8_t>(Number(f, "credit"));
    header.extensions = ExtensionsOf(f.at("ext"));
    const std::string hex = v.at("hex");
    EXPECT_EQ(ToHex(Encoded(header)), hex);
    Header parsed;
    EXPECT_EQ(ParseHeader(FromHex(hex), &parsed), HeaderParse::kOk);
    EXPECT_EQ(parsed, header);
    ++seen;
  }
  EXPECT_EQ(seen, 8);
}

// The payload of a UDP datagram in an IPv4 packet.
ByteSpan UdpPayload(const Bytes& ip) {
  const size_t header = size_t{ip[0]} % 16 * 4;
  return ByteSpan(ip).subspan(header + 8);
}

TEST(HeaderTest, TheKernelsAreWrittenAgainOctetByOctet) {
  int headers = 0, requests = 0, with_extension = 0;
  for (const Bytes& ip : wire_test::ReadIpPackets("wire/roce/testdata/rds_ib_rxe_head.pcap")) {
    roce::Packet packet;
    ASSERT_EQ(roce::ParsePacket(UdpPayload(ip), &packet), roce::PacketParse::kOk);
    if (packet.bth.opcode == roce::Opcode::kSendOnly) {
      Header header;
      ASSERT_EQ(ParseHeader(packet.payload, &header), HeaderParse::kOk);
      EXPECT_EQ(ToHex(Encoded(header)), ToHex(packet.payload.first(kHeaderSize)));
      EXPECT_EQ(packet.payload.size(), kHeaderSize + header.length);
      with_extension += header.extensions != Extensions{} ? 1 : 0;
      ++headers;
    }
    rdmacm::Mad mad;
    if (rdmacm::ParseMad(packet.payload, &mad) != rdmacm::MadParse::kOk) continue;
    const auto* const req = std::get_if<rdmacm::CmReq>(&mad.message);
    if (req == nullptr) continue;
    const auto said = ParseConnectData(req->private_data.subspan(rdmacm::kIpHeaderSize), false);
    ASSERT_TRUE(said.has_value());
    EXPECT_TRUE(IsCompatible(*said));
    EXPECT_EQ(said->source[3], 1);
    EXPECT_EQ(said->destination[3], 2);
    Bytes again(kConnectDataSize6);
    again.resize(EncodeConnectData(*said, std::span(again).first<kConnectDataSize6>()));
    EXPECT_EQ(ToHex(again),
              ToHex(req->private_data.subspan(rdmacm::kIpHeaderSize, kConnectDataSize)));
    ++requests;
  }
  EXPECT_EQ(headers, 35);
  EXPECT_GT(with_extension, 0);
  EXPECT_EQ(requests, 1);
}

TEST(HeaderTest, ShortOnesAreRefused) {
  const Bytes whole = Encoded({.sequence = 7});
  Header header;
  for (size_t size = 0; size < kHeaderSize; ++size) {
    EXPECT_EQ(ParseHeader(ByteSpan(whole).first(size), &header), HeaderParse::kShort);
  }
}

TEST(HeaderTest, EachWrongBitIsNoticed) {
  const Bytes whole = Encoded({.sequence = 7, .ack = 9, .length = 4096, .source_port = 80});
  for (size_t bit = 0; bit < kHeaderSize * 8; ++bit) {
    Bytes wrong = whole;
    wrong[bit / 8] = static_cast<uint8_t>(wrong[bit / 8] ^ 1u << bit % 8);
    Header header;
    EXPECT_EQ(ParseHeader(wrong, &header), HeaderParse::kBadChecksum) << bit;
  }
}

TEST(HeaderTest, AChecksumOfNoughtSaysNothing) {
  Bytes whole = Encoded({.sequence = 7});
  whole[30] = whole[31] = 0;
  Header header;
  EXPECT_EQ(ParseHeader(whole, &header), HeaderParse::kOk);
  EXPECT_EQ(header.sequence, 7u);
}

TEST(HeaderTest, WhatDoesNotFitIsNotWritten) {
  Header header;
  header.extensions = {.version = 1, .rdma_rkey = 2, .rdma_destination = RdmaDestination{3, 4}};
  Bytes out(kHeaderSize, 0xee);
  EXPECT_FALSE(EncodeHeader(header, std::span(out).first<kHeaderSize>()));
  EXPECT_EQ(out, Bytes(kHeaderSize, 0xee));
}

// A header without a checksum that has this list of extensions.
Extensions Read(const std::string& list) {
  Bytes octets = FromHex(std::string(64, '0') + list + std::string(32 - list.size(), '0'));
  Header header;
  EXPECT_EQ(ParseHeader(octets, &header), HeaderParse::kOk);
  return header.extensions;
}

TEST(HeaderTest, ExtensionsOfNewerEndsArePassedOver) {
  EXPECT_EQ(Read("0400000001aa0000000801"), Extensions{});
  EXPECT_EQ(Read("080105000c"), Extensions{.paths = 12});
}

TEST(HeaderTest, AnUnknownExtensionEndsTheList) {
  EXPECT_EQ(Read("05000c0900080200001234"), Extensions{.paths = 12});
}

TEST(HeaderTest, AnExtensionThatReachesBeyondTheHeaderIsNone) {
  EXPECT_EQ(Read("01000000010200000002030000000400"), (Extensions{.version = 1, .rdma_rkey = 2}));
}

TEST(HeaderTest, BetweenInstances) {
  Header header{.sequence = 7, .flags = kNumbered};
  header.extensions = {.returned = 0x01020304, .carried = 0xf0f1f2f3};
  Header parsed;
  EXPECT_EQ(ParseHeader(Encoded(header), &parsed), HeaderParse::kOk);
  EXPECT_EQ(parsed, header);
  header.extensions = {.rdma_destination = RdmaDestination{3, 4}, .carried = 5};
  EXPECT_EQ(ParseHeader(Encoded(header), &parsed), HeaderParse::kOk);
  EXPECT_EQ(parsed, header);
}

}  // namespace
}  // namespace softdat::rds
