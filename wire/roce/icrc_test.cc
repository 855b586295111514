// SPDX-License-Identifier: BSD-3-Clause
// The ICRC of every vector and of a published packet. Which octets it covers.

#include "wire/roce/icrc.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/roce/ip_headers.h"
#include "wire/test_support.h"

namespace softdat::roce {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;
using wire_test::ToHex;

Bytes Store(uint32_t icrc) {
  Bytes out(kIcrcSize);
  StoreIcrc(out.data(), icrc);
  return out;
}

TEST(IcrcTest, TheSeedStandsForEightOnes) {
  const Bytes ones(8, 0xff);
  EXPECT_EQ(Crc32Extend(kCrc32Init, ones.data(), ones.size()), kIcrcSeed);
}

TEST(IcrcTest, Vectors) {
  const auto json = wire_test::ReadJson("wire/roce/testdata/rocev2_rc.json");
  int checked = 0;
  for (const auto& v : json.at("vectors")) {
    SCOPED_TRACE(v.at("name").get<std::string>());
    const Bytes ip = FromHex(v.at("ip_hex"));
    const Datagram datagram = ParseIp(ip);
    ASSERT_EQ(ToHex(datagram.payload), v.at("udp_payload_hex"));
    const uint32_t icrc =
        IcrcOf(datagram.Start(), datagram.payload.first(datagram.payload.size() - kIcrcSize));
    EXPECT_EQ(icrc, wire_test::Number(v.at("fields"), "icrc_value"));
    EXPECT_EQ(ToHex(Store(icrc)), v.at("fields").at("icrc_bytes_on_wire"));
    EXPECT_TRUE(IcrcOk(datagram.Start(), datagram.payload));
    ++checked;
  }
  EXPECT_EQ(checked, 46);
}

TEST(IcrcTest, PublishedPackets) {
  const auto json = wire_test::ReadJson("wire/testdata/crc.json");
  int checked = 0;
  for (const auto& v : json.at("published_icrc_checks")) {
    const Bytes ip = FromHex(v.at("ip_hex"));
    const Datagram datagram = ParseIp(ip);
    EXPECT_TRUE(IcrcOk(datagram.Start(), datagram.payload));
    EXPECT_EQ(ToHex(datagram.payload.last(kIcrcSize)), v.at("icrc_bytes"));
    ++checked;
  }
  EXPECT_EQ(checked, 1);
}

// Every octet of the packet except the congestion marks is covered, including the ICRC itself.
TEST(IcrcTest, OneChangedOctetIsNoticed) {
  TestRandom random;
  Bytes packet = random.Octets(kBthSize + 64 + kIcrcSize);
  const Ipv6Flow flow = {.source_port = 0xc001};
  const uint32_t start = IcrcStart(flow, packet.size());
  const size_t covered = packet.size() - kIcrcSize;
  StoreIcrc(&packet[covered], IcrcOf(start, ByteSpan(packet).first(covered)));
  ASSERT_TRUE(IcrcOk(start, packet));
  for (size_t at = 0; at < packet.size(); ++at) {
    packet[at] ^= static_cast<uint8_t>(1 + random.Below(255));
    EXPECT_EQ(IcrcOk(start, packet), at == kBthMaskedOctet) << at;
    if (at == kBthMaskedOctet) continue;
    StoreIcrc(&packet[covered], IcrcOf(start, ByteSpan(packet).first(covered)));
    ASSERT_TRUE(IcrcOk(start, packet));
  }
}

TEST(IcrcTest, EachPartOfTheFlowIsCovered) {
  const Ipv4Flow base = {{192, 0, 2, 1}, {192, 0, 2, 2}, 0xc0de};
  const uint32_t start = IcrcStart(base, 16);
  EXPECT_NE(IcrcStart(base, 20), start);
  Ipv4Flow other = base;
  other.source[0] = 193;
  EXPECT_NE(IcrcStart(other, 16), start);
  other = base;
  other.destination[3] = 3;
  EXPECT_NE(IcrcStart(other, 16), start);
  other = base;
  other.source_port = 0xc0df;
  EXPECT_NE(IcrcStart(other, 16), start);
  other = base;
  other.destination_port = 4792;
  EXPECT_NE(IcrcStart(other, 16), start);
  other = base;
  other.identification = 1;
  EXPECT_NE(IcrcStart(other, 16), start);
  other = base;
  other.fragment = 0;
  EXPECT_NE(IcrcStart(other, 16), start);
}

TEST(IcrcTest, AnySplitGivesTheSame) {
  TestRandom random;
  for (int i = 0; i < 500; ++i) {
    const Bytes packet = random.Octets(kBthSize + random.Below(300));
    const ByteSpan rest = ByteSpan(packet).subspan(kBthSize);
    const uint32_t start = static_cast<uint32_t>(random.Next());
    const size_t cut = random.Below(rest.size() + 1);
    uint32_t state = IcrcOfBth(start, ByteSpan(packet).first<kBthSize>());
    state = IcrcExtend(state, rest.first(cut));
    state = IcrcExtend(state, rest.subspan(cut));
    ASSERT_EQ(IcrcFinish(state), IcrcOf(start, packet));
  }
}

TEST(IcrcTest, WhatIsTooShortIsNotRight) {
  const Bytes zeros(kBthSize + kIcrcSize - 1);
  for (size_t size = 0; size <= zeros.size(); ++size) {
    EXPECT_FALSE(IcrcOk(kIcrcSeed, ByteSpan(zeros).first(size)));
  }
}

TEST(Icrc, AnIdentificationAddsItsShare) {
  Ipv4Flow flow = {{192, 0, 2, 1}, {198, 51, 100, 7}, 0xc0de, kUdpPort, 0};
  for (const size_t size : {size_t{16}, size_t{80}, size_t{4128}}) {
    flow.identification = 0;
    const uint32_t start = IcrcStart(flow, size);
    for (const uint16_t id : {0, 1, 2, 63, 255, 256, 0x1234, 0x8000, 0xffff}) {
      flow.identification = id;
      EXPECT_EQ(start ^ IcrcShareOfIdentification(id), IcrcStart(flow, size)) << id;
    }
  }
}

}  // namespace
}  // namespace softdat::roce
