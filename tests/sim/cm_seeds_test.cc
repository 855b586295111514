// SPDX-License-Identifier: BSD-3-Clause
// 2,000 seeds of communication management, and that a seed replays.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/cm_program.h"

namespace softdat::sim {
namespace {

constexpr uint64_t kSeeds = 2000;
constexpr uint64_t kBlocks = 4;

class CmSeedsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(CmSeedsTest, InvariantsHold) {
  const uint64_t first = GetParam() * (kSeeds / kBlocks) + 1;
  CmProgram::Tally all;
  for (uint64_t seed = first; seed < first + kSeeds / kBlocks; ++seed) {
    CmProgram program(seed);
    const std::string wrong = program.Run();
    ASSERT_TRUE(wrong.empty()) << wrong << "\nreplay: bazel run //tests/sim:cm -- --seed " << seed;
    const CmProgram::Tally& one = program.tally();
    all.established += one.established;
    all.rejected += one.rejected;
    all.timed_out += one.timed_out;
    all.unreachable += one.unreachable;
    all.abandoned += one.abandoned;
    all.withdrawn += one.withdrawn;
    all.aborted += one.aborted;
    all.by_data += one.by_data;
    all.by_peer += one.by_peer;
    all.by_self += one.by_self;
    all.stale += one.stale;
    all.forged += one.forged;
  }
  // The seeds get everywhere.
  EXPECT_GT(all.established, 1000u);
  EXPECT_GT(all.rejected, 200u);
  EXPECT_GT(all.timed_out, 50u);
  EXPECT_GT(all.unreachable, 10u);
  EXPECT_GT(all.abandoned, 100u);
  EXPECT_GT(all.withdrawn, 20u);
  EXPECT_GT(all.aborted, 20u);
  EXPECT_GT(all.by_data, 50u);
  EXPECT_GT(all.by_peer, 500u);
  EXPECT_GT(all.by_self, 500u);
  EXPECT_GT(all.stale, 0u);
  EXPECT_GT(all.forged, 500u);
}

INSTANTIATE_TEST_SUITE_P(Blocks, CmSeedsTest, testing::Range(uint64_t{0}, kBlocks));

TEST(CmReplayTest, ASeedReplays) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CmProgram one(seed), other(seed);
    ASSERT_EQ(one.Run(), other.Run());
    EXPECT_EQ(one.tally().end_us, other.tally().end_us) << "seed " << seed;
    EXPECT_EQ(one.tally().messages, other.tally().messages) << "seed " << seed;
    EXPECT_EQ(one.tally().established, other.tally().established) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
