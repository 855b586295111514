// SPDX-License-Identifier: BSD-3-Clause
// What libdat2 and our verbs provider add to the verbs stays small, and smaller than what is added
// by others.
#include <gtest/gtest.h>

#include "tests/nulldevice/step_counter.h"

namespace softdat::nulldevice {
namespace {

// Like with like: both providers behind the same registries.
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
  // Our provider and our libdat2 together. The aim is 200 and not reached (about 360; OFA's
  // provider behind Debian's libdat2 adds about 390): this is the bound that keeps it from growing.
  constexpr double kMost = 380;
  EXPECT_LE(ours.per_operation - bare.per_operation, kMost);
}

TEST_F(CostTest, OurProviderCostsLessThanOfas) {
  EXPECT_LT(Counted("ours", false).per_operation, Counted("ofa", false).per_operation);
  EXPECT_LT(Counted("ours", true).per_operation, Counted("ofa", true).per_operation);
}

// A post and a dequeue, at ten instructions each.
TEST_F(CostTest, OurLibdat2IsThinForAnyProvider) {
  for (const char* ia : {"ours", "ofa"}) {
    const Count count = Counted(ia, /*debian_libdat2=*/false);
    EXPECT_GT(count.in_libdat2, 0) << ia;
    EXPECT_LE(count.in_libdat2, 20) << ia;
  }
}

// What libdat.so.1 adds for a program of 1.2.
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
  // Three for each of the two calls say whether a failure is wanted in the log.
  EXPECT_LE(added, 115);
}

}  // namespace
}  // namespace softdat::nulldevice
