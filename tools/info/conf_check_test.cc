// SPDX-License-Identifier: BSD-3-Clause
// Tests of the check of a dat.conf.
#include "tools/info/conf_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using Kind = ConfFinding::Kind;

constexpr char kText[] =
    "# a comment\n"
    "good u2.0 nonthreadsafe default libgood.so p.1.0 \"\" \"\"\n"
    "spoiled u2.0 perhaps default lib.so p.1.0 \"\" \"\"\r\n"
    "absent u2.0 threadsafe default libabsent.so p.1.0 \"\" \"\"\n"
    "kernel k2.0 nonthreadsafe default libk.so p.1.0 \"\" \"\"\n"
    "hidden u2.0 nonthreadsafe nondefault libh.so p.1.0 \"\" \"\"\n";

std::string Probe(const std::string& library) {
  return library == "libgood.so" ? "" : "cannot load " + library;
}

TEST(CheckConf, EachLineInOrderWithItsPlace) {
  const auto findings = CheckConf("f.conf", kText, Probe);
  ASSERT_THAT(findings, SizeIs(5));
  EXPECT_EQ(findings[0].kind, Kind::kGood);
  EXPECT_EQ(findings[0].ia_name, "good");
  EXPECT_EQ(findings[1].kind, Kind::kProblem);
  EXPECT_THAT(findings[1].text, HasSubstr("f.conf:3:"));
  EXPECT_THAT(findings[1].text, HasSubstr("field 3"));
  EXPECT_EQ(findings[2].kind, Kind::kProblem);
  EXPECT_THAT(findings[2].text, HasSubstr("f.conf:4: field 5"));
  EXPECT_THAT(findings[2].text, HasSubstr("cannot load libabsent.so"));
  EXPECT_EQ(findings[3].kind, Kind::kNote);
  EXPECT_THAT(findings[3].text, HasSubstr("kernel API"));
  EXPECT_EQ(findings[4].kind, Kind::kNote);
  EXPECT_THAT(findings[4].text, HasSubstr("nondefault"));
}

TEST(CheckConf, EmptyFileHasNothingToSay) { EXPECT_THAT(CheckConf("f", "", Probe), SizeIs(0)); }

TEST(ProbeLibrary, MissingFileAndNoProvider) {
  EXPECT_THAT(ProbeLibrary("/nowhere/libx.so"), HasSubstr("cannot load /nowhere/libx.so"));
  EXPECT_THAT(ProbeLibrary("libm.so.6"),
              HasSubstr("does not export dat_provider_init and dat_provider_fini"));
}

}  // namespace
}  // namespace softdat::tools
