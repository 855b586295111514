// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/congestion_map.h"

#include <gtest/gtest.h>

namespace softdat::rds {
namespace {

std::span<const uint8_t, CongestionMap::kSize> OctetsOf(const CongestionMap& map) {
  return map.octets().first<CongestionMap::kSize>();
}

TEST(CongestionMapTest, APortIsABitInTheOrderOfPorts) {
  for (const uint16_t port : {uint16_t{0}, uint16_t{9}, uint16_t{4001}, uint16_t{65535}}) {
    CongestionMap map;
    EXPECT_FALSE(map.Has(port));
    EXPECT_TRUE(map.Set(port));
    EXPECT_FALSE(map.Set(port)) << "it is no news";
    EXPECT_TRUE(map.Has(port));
    size_t bits = 0;
    for (const uint8_t octet : map.octets()) bits += static_cast<size_t>(__builtin_popcount(octet));
    EXPECT_EQ(bits, 1u);
    EXPECT_EQ(map.octets()[port / 8], 1 << port % 8);
    EXPECT_TRUE(map.Clear(port));
    EXPECT_FALSE(map.Clear(port));
    EXPECT_FALSE(map.Has(port));
  }
}

TEST(CongestionMapTest, WhatHasBecomeFreeIsToldByGroups) {
  CongestionMap own, peers;
  own.Set(4001);
  own.Set(65);
  own.Set(70);
  EXPECT_EQ(peers.Take(OctetsOf(own)), 0u) << "nothing has become free";
  EXPECT_TRUE(peers.Has(4001));
  own.Clear(4001);
  own.Clear(65);
  own.Set(7);
  EXPECT_EQ(peers.Take(OctetsOf(own)), uint64_t{1} << 4001 % 64 | uint64_t{1} << 65 % 64);
  EXPECT_FALSE(peers.Has(4001));
  EXPECT_TRUE(peers.Has(70));
  EXPECT_EQ(peers.Take(OctetsOf(own)), 0u);
}

}  // namespace
}  // namespace softdat::rds
