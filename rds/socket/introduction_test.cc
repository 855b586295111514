// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/introduction.h"

#include <gtest/gtest.h>

namespace softdat::rds {
namespace {

Introduction Example(Introduction::Kind kind, bool ipv6) {
  Introduction out;
  out.kind = kind;
  out.own.ipv6 = out.peer.ipv6 = ipv6;
  out.own.octets = {0xfd, 1, 2, 3};
  out.peer.octets = {0xfd, 4, 5, 6};
  out.port = 4711;
  out.instance = 0x89abcdef;
  out.credit = 64;
  if (kind == Introduction::Kind::kJoin) out.ack_sequence = 0x123456789abc;
  return out;
}

// 52 octets are the most that InfiniBand and RoCE carry for certain.
TEST(IntroductionTest, BothWays) {
  for (const bool ipv6 : {false, true}) {
    for (const auto kind : {Introduction::Kind::kLocate, Introduction::Kind::kJoin}) {
      const Introduction in = Example(kind, ipv6);
      const std::vector<uint8_t> octets = Encode(in);
      EXPECT_LE(octets.size(), 52u);
      const std::optional<Introduction> out = ParseIntroduction(octets, ipv6);
      ASSERT_TRUE(out);
      EXPECT_EQ(out->kind, kind);
      EXPECT_EQ(out->own, in.own);
      EXPECT_EQ(out->peer, in.peer);
      EXPECT_EQ(out->port, in.port);
      EXPECT_EQ(out->credit, in.credit);
      EXPECT_EQ(out->ack_sequence, in.ack_sequence);
      // Who only asks over IPv6 does not say who it is.
      const bool says_who = !ipv6 || kind == Introduction::Kind::kJoin;
      EXPECT_EQ(out->instance, says_who ? in.instance : kKernelInstance);
    }
  }
}

// A kernel reads numbers that mean what they say there, and leaves the rest at 0.
TEST(IntroductionTest, ToAndFromAKernel) {
  for (const bool ipv6 : {false, true}) {
    const size_t tail = ipv6 ? 32 : 8;
    std::vector<uint8_t> octets = Encode(Example(Introduction::Kind::kLocate, ipv6));
    for (size_t i = 8; i < 16; ++i) EXPECT_EQ(octets[tail + i], 0) << "the acknowledgement";
    EXPECT_EQ(octets[tail + 19], 64) << "the credit";
    for (size_t i = 16; i < 19; ++i) EXPECT_EQ(octets[tail + i], 0);
    for (size_t i = 5; i < 8; ++i) octets[tail + i] = 0;
    for (size_t i = 20; tail + i < octets.size(); ++i) octets[tail + i] = 0;
    const std::optional<Introduction> kernel = ParseIntroduction(octets, ipv6);
    ASSERT_TRUE(kernel);
    EXPECT_EQ(kernel->kind, Introduction::Kind::kKernel);
    EXPECT_EQ(kernel->instance, kKernelInstance);
    EXPECT_EQ(kernel->credit, 64u);
  }
}

TEST(IntroductionTest, OnBehalfOfAKernel) {
  for (const bool ipv6 : {false, true}) {
    for (const bool for_kernel : {false, true}) {
      Introduction in = Example(Introduction::Kind::kJoin, ipv6);
      in.for_kernel = for_kernel;
      in.for_instance = 0x13572468;
      const std::optional<Introduction> out = ParseIntroduction(Encode(in), ipv6);
      ASSERT_TRUE(out);
      EXPECT_EQ(out->kind, Introduction::Kind::kJoin);
      EXPECT_EQ(out->for_kernel, for_kernel);
      EXPECT_EQ(out->instance, in.instance);
      EXPECT_EQ(out->for_instance, ipv6 ? kKernelInstance : in.for_instance);
      EXPECT_EQ(out->ack_sequence, in.ack_sequence);
      EXPECT_EQ(out->credit, in.credit);
    }
  }
}

}  // namespace
}  // namespace softdat::rds
