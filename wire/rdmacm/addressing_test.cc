// SPDX-License-Identifier: BSD-3-Clause
// The parties of a request: the header of rdma_cm, service ids, and the identity of a datagram
// endpoint.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "wire/rdmacm/datagram_identity.h"
#include "wire/rdmacm/ip_header.h"
#include "wire/rdmacm/service_id.h"
#include "wire/test_support.h"

namespace softdat::rdmacm {
namespace {

using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::TestRandom;
using wire_test::ToHex;

Bytes Encode(const IpHeader& header) {
  Bytes out(kIpHeaderSize, 0xee);
  EncodeIpHeader(header, std::span(out).first<kIpHeaderSize>());
  return out;
}

TEST(IpHeaderTest, Ipv4AsItStandsOnTheWire) {
  const IpHeader header = {.source_port = 40000,
                           .source = HeaderAddressOf({192, 0, 2, 1}),
                           .destination = HeaderAddressOf({192, 0, 2, 2})};
  const Bytes wire = FromHex(
      "00409c40"
      "000000000000000000000000c0000201"
      "000000000000000000000000c0000202");
  EXPECT_EQ(ToHex(Encode(header)), ToHex(wire));
  IpHeader parsed;
  ASSERT_EQ(ParseIpHeader(wire, &parsed), IpHeaderParse::kOk);
  EXPECT_EQ(parsed, header);
}

TEST(IpHeaderTest, RandomHeadersRoundTrip) {
  TestRandom random;
  for (int i = 0; i < 1000; ++i) {
    IpHeader header;
    header.ip_version = random.Coin() ? 4 : 6;
    header.source_port = static_cast<uint16_t>(random.Next());
    for (uint8_t& octet : header.source) octet = static_cast<uint8_t>(random.Next());
    for (uint8_t& octet : header.destination) octet = static_cast<uint8_t>(random.Next());
    Bytes wire = Encode(header);
    wire[1] |= 0x0f;  // reserved
    wire.resize(kIpHeaderSize + random.Below(60));
    IpHeader parsed;
    ASSERT_EQ(ParseIpHeader(wire, &parsed), IpHeaderParse::kOk);
    ASSERT_EQ(parsed, header);
  }
}

TEST(IpHeaderTest, WhatIsNoHeaderIsRefused) {
  const Bytes good = Encode({});
  IpHeader parsed;
  for (size_t have = 0; have < kIpHeaderSize; ++have) {
    EXPECT_EQ(ParseIpHeader(ByteSpan(good).first(have), &parsed), IpHeaderParse::kTooShort);
  }
  Bytes bad = good;
  bad[0] = 1;
  EXPECT_EQ(ParseIpHeader(bad, &parsed), IpHeaderParse::kBadVersion);
  for (const uint8_t version : {0, 3, 5, 7, 15}) {
    bad = good;
    bad[1] = static_cast<uint8_t>(version << 4);
    EXPECT_EQ(ParseIpHeader(bad, &parsed), IpHeaderParse::kBadIpVersion) << int{version};
  }
}

TEST(IpHeaderTest, GidsOfAddresses) {
  EXPECT_EQ(ToHex(GidOf(4, HeaderAddressOf({192, 0, 2, 1}))), "00000000000000000000ffffc0000201");
  HeaderAddress ipv6 = {0x20, 0x01, 0x0d, 0xb8};
  ipv6[15] = 1;
  EXPECT_EQ(ToHex(GidOf(6, ipv6)), "20010db8000000000000000000000001");
  // Octets that a peer left in front of an IPv4 address do not belong to the GID.
  HeaderAddress dirty = HeaderAddressOf({192, 0, 2, 1});
  dirty[0] = 0x55;
  dirty[10] = dirty[11] = 0x55;
  EXPECT_EQ(ToHex(GidOf(4, dirty)), "00000000000000000000ffffc0000201");
}

TEST(IpHeaderTest, EveryResultHasItsText) {
  std::set<std::string> texts;
  for (int i = 0; i <= static_cast<int>(IpHeaderParse::kBadIpVersion); ++i) {
    texts.insert(IpHeaderParseText(static_cast<IpHeaderParse>(i)));
  }
  EXPECT_EQ(texts.size(), 4u);
}

TEST(ServiceIdTest, PortsBothWays) {
  EXPECT_EQ(ServiceIdOf(PortSpace::kTcp, 5000), 0x0000000001061388u);
  EXPECT_EQ(ServiceIdOf(PortSpace::kUdp, 5000), 0x0000000001111388u);
  EXPECT_EQ(PortOf(PortSpace::kTcp, 0x01061388), 5000);
  EXPECT_EQ(PortOf(PortSpace::kUdp, 0x0111ffff), 65535);
  EXPECT_EQ(PortOf(PortSpace::kTcp, 0x01060000), 0);
}

TEST(ServiceIdTest, OtherServiceIdsNameNoPort) {
  EXPECT_FALSE(PortOf(PortSpace::kTcp, 0x01111388).has_value());
  EXPECT_FALSE(PortOf(PortSpace::kUdp, 0x01061388).has_value());
  EXPECT_FALSE(PortOf(PortSpace::kTcp, 0x0001000001061388).has_value());
  EXPECT_FALSE(PortOf(PortSpace::kTcp, 5000).has_value());
}

TEST(DatagramIdentityTest, EndsThePrivateData) {
  Bytes data(180, 0xaa);
  const DatagramIdentity identity = {0xabcdef, 0x01234567};
  StoreDatagramIdentity(identity, std::span(data).last<kDatagramIdentitySize>());
  EXPECT_EQ(ToHex(ByteSpan(data).last(kDatagramIdentitySize)), "5344550100abcdef01234567");
  DatagramIdentity found;
  ASSERT_TRUE(FindDatagramIdentity(data, &found));
  EXPECT_EQ(found, identity);
}

TEST(DatagramIdentityTest, APeerWithoutItHasNone) {
  const Bytes zeros(180);
  DatagramIdentity found = {1, 2};
  EXPECT_FALSE(FindDatagramIdentity(zeros, &found));
  EXPECT_FALSE(FindDatagramIdentity(ByteSpan(zeros).first(11), &found));
  const Bytes no_qpn = FromHex("534455010100000001234567");
  EXPECT_FALSE(FindDatagramIdentity(no_qpn, &found));
  EXPECT_EQ(found, (DatagramIdentity{1, 2}));
}

}  // namespace
}  // namespace softdat::rdmacm
