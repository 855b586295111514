// SPDX-License-Identifier: BSD-3-Clause
// libdat2 and our verbs provider add little to the verbs, and less than the others do.
#include <gtest/gtest.h>

#include "tests/nulldevice/step_counter.h"

namespace softdat::nulldevice {
namespace {

// The comparison is fair, because both providers run behind the same registries.
class CostTest : public testing::Test {
 protected:
  static Count Counted(const std::string& ia, bool debian_libdat2) {
    const Count count = CountInstructions({.ia = ia,
                                           .dat_conf = ia == "ours" ? OurLine() : OfaLine(),
                                           .debian_libdat2 = debian_libdat2});
    EXPECT_EQ(count.failure, "") << ia << (debian_libdat2 ? " behind Debian's libdat2" : "");
    RecordProperty(ia + (debian_libdat2 ? "_debian_libdat2" : "_our_libdat2"),
                   std::to_string(count.per_operation));
    return count;
  }
};

TEST_F(CostTest, OurProviderAddsLittleToTheVerbs) {
  const Count bare = CountInstructions({.ia = "-"});
  ASSERT_EQ(bare.failure, "");
  const Count ours = Counted("ours", /*debian_libdat2=*/false);
  EXPECT_GT(ours.per_operation, bare.per_operation);
  // Our provider and our libdat2 together. The aim of 200 is not reached (about 360; OFA's provider
  // behind Debian's libdat2 adds about 390). This bound keeps the number from growing.
  constexpr double kMost = 380;
  EXPECT_LE(ours.per_operation - bare.per_operation, kMost);
}

TEST_F(CostTest, OurProviderCostsLessThanOfas) {
  EXPECT_LT(Counted("ours", false).per_operation, Counted("ofa", false).per_operation);
  EXPECT_LT(Counted("ours", true).per_operation, Counted("ofa", true).per_operation);
}

// A post and a dequeue may take ten instructions each.
TEST_F(CostTest, OurLibdat2IsThinForAnyProvider) {
  for (const char* ia : {"ours", "ofa"}) {
    const Count count = Counted(ia, /*debian_libdat2=*/false);
    EXPECT_GT(count.in_libdat2, 0) << ia;
    EXPECT_LE(count.in_libdat2, 20) << ia;
  }
}

// The instructions that libdat.so.1 adds for a program of 1.2.
double AddedByTheBridge(bool reaps) {
  Subject subject{.ia = "ours", .dat_conf = OurLine(), .reaps = reaps};
  const Count two = CountInstructions(subject);
  subject.is_12 = true;
  const Count one = CountInstructions(subject);
  EXPECT_EQ(two.failure, "");
  EXPECT_EQ(one.failure, "");
  return one.per_operation - two.per_operation;
}

TEST(Cost, APostOf12) {
  const double added = AddedByTheBridge(/*reaps=*/false);
  RecordProperty("added_by_the_bridge", std::to_string(added));
  EXPECT_GT(added, 0);
  EXPECT_LE(added, 60);
}

TEST(Cost, APostOf12AndItsEvent) {
  const double added = AddedByTheBridge(/*reaps=*/true);
  RecordProperty("added_by_the_bridge", std::to_string(added));
  EXPECT_GT(added, 0);
  // Each of the two calls spends three instructions on the question whether to log a failure.
  EXPECT_LE(added, 115);
}

}  // namespace
}  // namespace softdat::nulldevice
