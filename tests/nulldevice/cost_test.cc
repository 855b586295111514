// SPDX-License-Identifier: BSD-3-Clause
// What our verbs provider adds to the verbs stays small.
#include <gtest/gtest.h>

#include "tests/nulldevice/step_counter.h"

namespace softdat::nulldevice {
namespace {

TEST(Cost, AWriteAndItsCompletion) {
  const Count bare = CountInstructions("-", "");
  ASSERT_EQ(bare.failure, "");
  const Count ours = CountInstructions("ours", OurLine());
  ASSERT_EQ(ours.failure, "");
  RecordProperty("added", std::to_string(ours.per_operation - bare.per_operation));
  EXPECT_GT(ours.per_operation, bare.per_operation);
  // The aim is 200 and not reached (about 385; Debian's provider adds about 580): this is the bound
  // that keeps it from growing.
  constexpr double kMost = 420;
  EXPECT_LE(ours.per_operation - bare.per_operation, kMost);
}

// The aim is 60 for a post. This counts the way of the event as well.
TEST(Cost, TheBridgeOf12) {
  const Count two = CountInstructions("ours", OurLine());
  ASSERT_EQ(two.failure, "");
  const Count one = CountInstructions("ours", OurLine(), "subject12");
  ASSERT_EQ(one.failure, "");
  RecordProperty("added_by_the_bridge", std::to_string(one.per_operation - two.per_operation));
  EXPECT_GT(one.per_operation, two.per_operation);
  EXPECT_LE(one.per_operation - two.per_operation, 120);
}

}  // namespace
}  // namespace softdat::nulldevice
