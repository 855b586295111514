// SPDX-License-Identifier: BSD-3-Clause
// Tests of the names of units.
#include "tools/bench/unit_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(UnitSpec, AdaptersFloorsAndSettings) {
  std::string problem;
  const auto ia = ParseUnitSpec("softnet-lo", &problem);
  ASSERT_TRUE(ia);
  EXPECT_EQ(ia->ia, "softnet-lo");
  EXPECT_FALSE(ia->IsRaw());
  EXPECT_THAT(ia->environment, IsEmpty());

  const auto many = ParseUnitSpec("softnet-lo@1000,A=b@2", &problem);
  ASSERT_TRUE(many);
  EXPECT_EQ(many->ia, "softnet-lo");
  EXPECT_EQ(many->connections, 1000u);
  EXPECT_THAT(many->environment, ElementsAre("A=b@2"));
  EXPECT_FALSE(ia->connections);

  const auto threads = ParseUnitSpec("softnet-lo@64threads,A=b", &problem);
  ASSERT_TRUE(threads);
  EXPECT_EQ(threads->ia, "softnet-lo");
  EXPECT_EQ(threads->threads, 64u);
  EXPECT_FALSE(threads->ia_for_each);
  EXPECT_FALSE(threads->connections);
  EXPECT_EQ(ia->threads, 1u);

  const auto ias = ParseUnitSpec("softnet-lo@4ias", &problem);
  ASSERT_TRUE(ias);
  EXPECT_EQ(ias->threads, 4u);
  EXPECT_TRUE(ias->ia_for_each);

  const auto floor = ParseUnitSpec("raw:udp-gso", &problem);
  ASSERT_TRUE(floor);
  EXPECT_TRUE(floor->IsRaw());
  EXPECT_EQ(floor->raw, RawKind::kUdpGso);

  const auto rds = ParseUnitSpec("rds:softnet-udp-lo,A=b", &problem);
  ASSERT_TRUE(rds);
  EXPECT_TRUE(rds->IsRaw());
  EXPECT_EQ(rds->raw, RawKind::kRds);
  EXPECT_THAT(rds->environment, ElementsAre("SOFTDAT_RDS_IA=softnet-udp-lo", "A=b"));

  const auto set = ParseUnitSpec("softnet-lo,SOFTDAT_CRC=on,A==b", &problem);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->ia, "softnet-lo");
  EXPECT_EQ(set->text, "softnet-lo,SOFTDAT_CRC=on,A==b");
  EXPECT_THAT(set->environment, ElementsAre("SOFTDAT_CRC=on", "A==b"));
}

TEST(UnitSpec, WhatIsNoneIsSaid) {
  std::string problem;
  EXPECT_FALSE(ParseUnitSpec("", &problem));
  EXPECT_FALSE(ParseUnitSpec("raw:rdma", &problem));
  EXPECT_THAT(problem, HasSubstr("tcp-gather"));
  // Which IA carries it is to be said.
  EXPECT_FALSE(ParseUnitSpec("raw:rds", &problem));
  EXPECT_FALSE(ParseUnitSpec("rds:", &problem));
  EXPECT_FALSE(ParseUnitSpec("rds:,A=b", &problem));
  for (const char* text : {"@1", "softnet-lo@", "softnet-lo@0", "softnet-lo@1x", "softnet-lo@-1",
                           "softnet-lo@4097", "softnet-lo@99999999999", "softnet-lo@threads",
                           "softnet-lo@0threads", "softnet-lo@65threads", "softnet-lo@65ias",
                           "softnet-lo@4thread", "softnet-lo@4iasx", "@4threads"}) {
    EXPECT_FALSE(ParseUnitSpec(text, &problem)) << text;
    EXPECT_THAT(problem, HasSubstr("END_POINTS"));
  }
  EXPECT_FALSE(ParseUnitSpec("softnet-lo,CRC", &problem));
  EXPECT_THAT(problem, HasSubstr("'CRC'"));
  EXPECT_FALSE(ParseUnitSpec("softnet-lo,=1", &problem));
}

}  // namespace
}  // namespace softdat::tools
