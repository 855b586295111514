// SPDX-License-Identifier: BSD-3-Clause
// The seeds of RDS nodes in ./check: SOFTDAT_SIM_SEEDS of them, as for the wires
// (roce_seeds_test.cc), and that a seed replays.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/sim/rds_nodes_program.h"

namespace softdat::sim {
namespace {

constexpr uint64_t kAllSeeds = 10000;
constexpr uint64_t kSeeds = SOFTDAT_SIM_SEEDS;
constexpr uint64_t kBlocks = 10;
static_assert(kSeeds >= kBlocks && kSeeds % kBlocks == 0 && kAllSeeds % kBlocks == 0);

class RdsNodesSeedsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RdsNodesSeedsTest, InvariantsHold) {
  const uint64_t first = GetParam() * (kAllSeeds / kBlocks) + 1;
  const uint64_t count = kSeeds / kBlocks;
  std::printf("seeds %llu to %llu%s\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1),
              kSeeds < kAllSeeds ? ", a sample: this is an instrumented build" : "");
  RdsNodesProgram::Tally all;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RdsNodesProgram program(seed);
    const std::string wrong = program.Run();
    ASSERT_TRUE(wrong.empty()) << wrong << "\nreplay: bazel run //tests/sim:rds_nodes -- --seed "
                               << seed;
    const RdsNodesProgram::Tally& one = program.tally();
    all.arrived += one.arrived;
    all.breaks += one.breaks;
    all.kills += one.kills;
    all.moves += one.moves;
    all.full += one.full;
    all.congested += one.congested;
    all.cancelled += one.cancelled;
    all.told_done += one.told_done;
    all.told_dropped += one.told_dropped;
    all.told_refused += one.told_refused;
    all.atomics += one.atomics;
  }
  // The seeds get everywhere.
  EXPECT_GT(all.arrived, 10 * count);
  EXPECT_GT(all.breaks, count);
  EXPECT_GT(all.kills, count / 4);
  EXPECT_GT(all.full, count / 10);
  EXPECT_GT(all.congested, count / 10);
  EXPECT_GT(all.cancelled, count / 10);
  EXPECT_GT(all.told_done, count / 10);
  EXPECT_GT(all.atomics, count / 10);
  // Few seeds have a move or are told this, too few to ask it of a sample.
  if (kSeeds < kAllSeeds) return;
  EXPECT_GT(all.moves, count / 20);
  EXPECT_GT(all.told_dropped, count / 50);
  EXPECT_GT(all.told_refused, count / 50);
}

INSTANTIATE_TEST_SUITE_P(Blocks, RdsNodesSeedsTest, testing::Range(uint64_t{0}, kBlocks));

TEST(RdsNodesReplayTest, ASeedReplays) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RdsNodesProgram one(seed), other(seed);
    ASSERT_EQ(one.Run(), other.Run());
    EXPECT_EQ(one.tally().turns, other.tally().turns) << "seed " << seed;
    EXPECT_EQ(one.tally().arrived, other.tally().arrived) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
