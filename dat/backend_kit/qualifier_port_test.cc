// SPDX-License-Identifier: BSD-3-Clause
// The fold of connection qualifiers to ports. Ports stay, and the qualifiers that programs use
// above them spread.
#include "dat/backend_kit/qualifier_port.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace softdat {
namespace {

size_t DistinctPorts(uint64_t count, const std::function<uint64_t(uint64_t)>& qualifier) {
  std::set<uint16_t> ports;
  for (uint64_t i = 0; i < count; ++i) ports.insert(PortOfQualifier(qualifier(i)));
  return ports.size();
}

TEST(QualifierPortTest, PortsStayAsTheyAre) {
  for (uint64_t q = 0; q <= 65535; ++q) ASSERT_EQ(PortOfQualifier(q), q);
}

TEST(QualifierPortTest, WhatIsLargerBecomesAnUnprivilegedPortThatIsNotEphemeral) {
  for (uint64_t low = 0; low < 65536; ++low) {
    for (const uint64_t q : {65536 + low, UINT64_MAX - low, uint64_t{0x0AFFAB1E} + low}) {
      ASSERT_GE(PortOfQualifier(q), 1024);
      ASSERT_LT(PortOfQualifier(q), 32768);
    }
  }
}

// Process ids in the high bits: the fold itself must not make two programs on one host meet. 4096
// qualifiers on the ports of the fold at random leave 3843 distinct ports on average, with a
// standard deviation of about 15.
TEST(QualifierPortTest, ProcessIdsInHighBitsSpread) {
  for (const int shift : {16, 17, 20, 24, 32, 40}) {
    SCOPED_TRACE(shift);
    EXPECT_GT(DistinctPorts(4096, [shift](uint64_t i) { return (i + 1) << shift; }), 3780u);
    EXPECT_GT(DistinctPorts(4096, [shift](uint64_t i) { return ((i + 1) << shift) + 7; }), 3780u);
  }
}

TEST(QualifierPortTest, NeighboursDoNotCollide) {
  for (const uint64_t first : {uint64_t{0x0AFFAB1E}, uint64_t{1} << 32, uint64_t{0xC0FFEE} << 24}) {
    EXPECT_EQ(DistinctPorts(1000, [first](uint64_t i) { return first + i; }), 1000u);
  }
}

}  // namespace
}  // namespace softdat
