// SPDX-License-Identifier: BSD-3-Clause
// 4,000 seeds of service resolution, and that a seed replays.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/resolution_program.h"

namespace softdat::sim {
namespace {

constexpr uint64_t kSeeds = 4000;

TEST(ResolutionSeedsTest, InvariantsHold) {
  ResolutionProgram::Tally all;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ResolutionProgram program(seed);
    const std::string wrong = program.Run();
    ASSERT_TRUE(wrong.empty()) << wrong << "\nreplay: bazel run //tests/sim:resolution -- --seed "
                               << seed;
    const ResolutionProgram::Tally& one = program.tally();
    all.resolved += one.resolved;
    all.rejected += one.rejected;
    all.unlistened += one.unlistened;
    all.timed_out += one.timed_out;
    all.unreachable += one.unreachable;
    all.cancelled += one.cancelled;
  }
  // The seeds get everywhere.
  EXPECT_GT(all.resolved, 5000u);
  EXPECT_GT(all.rejected, 5000u);
  EXPECT_GT(all.unlistened, 5000u);
  EXPECT_GT(all.timed_out, 1000u);
  EXPECT_GT(all.unreachable, 0u);
  EXPECT_GT(all.cancelled, 1000u);
}

TEST(ResolutionSeedsTest, ASeedReplays) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ResolutionProgram one(seed), other(seed);
    ASSERT_EQ(one.Run(), other.Run());
    EXPECT_EQ(one.tally().messages, other.tally().messages) << "seed " << seed;
    EXPECT_EQ(one.tally().resolved, other.tally().resolved) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
