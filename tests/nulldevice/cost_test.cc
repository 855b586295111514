// SPDX-License-Identifier: BSD-3-Clause
// What our verbs provider adds to the verbs stays small.
#include <gtest/gtest.h>

#include "tests/nulldevice/step_counter.h"

namespace softdat::nulldevice {
namespace {

TEST(Cost, AWriteAndItsCompletion) {
  const Count bare = CountInstructions({.ia = "-"});
  ASSERT_EQ(bare.failure, "");
  const Count ours = CountInstructions({.ia = "ours", .dat_conf = OurLine()});
  ASSERT_EQ(ours.failure, "");
  RecordProperty("added", std::to_string(ours.per_operation - bare.per_operation));
  EXPECT_GT(ours.per_operation, bare.per_operation);
  // The aim is 200 and not reached (about 385; Debian's provider adds about 580): this is the bound
  // that keeps it from growing.
  constexpr double kMost = 420;
  EXPECT_LE(ours.per_operation - bare.per_operation, kMost);
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
  EXPECT_LE(added, 110);
}

}  // namespace
}  // namespace softdat::nulldevice
