// SPDX-License-Identifier: BSD-3-Clause
// The names that users of OFA's library set, and path MTUs.
#include "provider_softnet/udp_wire/roce_options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace softdat::softnet {
namespace {

// Set before the first look at the settings, which a process reads once.
const bool g_set = [] {
  setenv("DAPL_IB_MTU", "512", 1);
  setenv("DAPL_ACK_TIMER", "21", 1);
  setenv("DAPL_ACK_RETRY", "3", 1);
  setenv("DAPL_RNR_TIMER", "28", 1);
  setenv("DAPL_RNR_RETRY", "5", 1);
  return true;
}();

TEST(RoceOptions, TheNamesOfOfasLibrary) {
  ASSERT_TRUE(g_set);
  const RoceOptions o = RoceOptions::FromSettings();
  EXPECT_EQ(o.mtu, 512u);
  EXPECT_EQ(o.ack_timeout, 21);
  EXPECT_EQ(o.retry_count, 3);
  EXPECT_EQ(o.rnr_timer, 28);
  EXPECT_EQ(o.rnr_retry_count, 5);
}

TEST(RoceOptions, ThePathMtuFitsTheInterface) {
  EXPECT_EQ(PathMtuFor(65536), 4096u);
  EXPECT_EQ(PathMtuFor(4192), 4096u);
  EXPECT_EQ(PathMtuFor(4191), 2048u);
  EXPECT_EQ(PathMtuFor(1500), 1024u);
  EXPECT_EQ(PathMtuFor(576), 256u);
}

TEST(RoceOptions, CodesOfPathMtus) {
  for (const uint32_t mtu : {256u, 512u, 1024u, 2048u, 4096u}) {
    EXPECT_EQ(PathMtuOf(PathMtuCode(mtu)), mtu);
  }
  EXPECT_EQ(PathMtuOf(0), 0u);
  EXPECT_EQ(PathMtuOf(6), 0u);
}

}  // namespace
}  // namespace softdat::softnet
