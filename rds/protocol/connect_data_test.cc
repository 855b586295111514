// SPDX-License-Identifier: BSD-3-Clause
// How two ends of RDS introduce themselves.
#include "rds/protocol/connect_data.h"

#include <gtest/gtest.h>

#include <string>

#include "wire/test_support.h"

namespace softdat::rds {
namespace {

using nlohmann::json;
using wire_test::Bytes;
using wire_test::FromHex;
using wire_test::ToHex;

Bytes Encoded(const ConnectData& data) {
  Bytes out(kConnectDataSize6, 0xee);
  out.resize(EncodeConnectData(data, std::span(out).first<kConnectDataSize6>()));
  return out;
}

TEST(ConnectDataTest, TheVectorBothWays) {
  const json file = wire_test::ReadJson("rds/protocol/testdata/rds.json");
  for (const json& v : file.at("vectors")) {
    if (v.at("name") != "rds_ib_connect_private") continue;
    ConnectData data;
    data.source = {192, 0, 2, 1};
    data.destination = {192, 0, 2, 2};
    data.ack_sequence = 0x1122;
    data.initial_credit = 16;
    const std::string hex = v.at("hex");
    EXPECT_EQ(ToHex(Encoded(data)), hex);
    EXPECT_EQ(ParseConnectData(FromHex(hex), false), data);
    return;
  }
  FAIL() << "no vector";
}

TEST(ConnectDataTest, AddressesOfIpv6AreLonger) {
  ConnectData data;
  data.ipv6 = true;
  data.source = {0xfd, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  data.destination = {0xfd, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2};
  data.type_of_service = 3;
  const Bytes octets = Encoded(data);
  EXPECT_EQ(octets.size(), kConnectDataSize6);
  EXPECT_EQ(ParseConnectData(octets, true), data);
}

TEST(ConnectDataTest, ShortOnesAreRefused) {
  const Bytes octets = Encoded({.ack_sequence = 5});
  for (size_t size = 0; size <= octets.size(); ++size) {
    EXPECT_EQ(ParseConnectData(ByteSpan(octets).first(size), false).has_value(),
              size >= kConnectDataSize - 4)
        << size;
  }
}

TEST(ConnectDataTest, WhoCanBeSpokenWith) {
  const auto compatible = [](uint8_t major, uint8_t minor, uint16_t mask) {
    return IsCompatible({.major = major, .minor = minor, .minor_mask = mask});
  };
  EXPECT_TRUE(compatible(3, 1, 3));
  EXPECT_FALSE(compatible(3, 0, 1));
  EXPECT_FALSE(compatible(3, 2, 7));
  EXPECT_TRUE(compatible(4, 1, 2));
  EXPECT_TRUE(compatible(4, 0, 1));
  EXPECT_FALSE(compatible(4, 2, 4));
  EXPECT_FALSE(compatible(5, 1, 3));
  EXPECT_FALSE(compatible(0, 0, 0));
}

}  // namespace
}  // namespace softdat::rds
