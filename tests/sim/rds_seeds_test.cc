// SPDX-License-Identifier: BSD-3-Clause
// The seeds of RDS in ./check: SOFTDAT_SIM_SEEDS of them, as for the wires (roce_seeds_test.cc),
// and that a seed replays.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/sim/rds_program.h"

namespace softdat::sim {
namespace {

constexpr uint64_t kAllSeeds = 10000;
constexpr uint64_t kSeeds = SOFTDAT_SIM_SEEDS;
constexpr uint64_t kBlocks = 10;
static_assert(kSeeds >= kBlocks && kSeeds % kBlocks == 0 && kAllSeeds % kBlocks == 0);

class RdsSeedsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RdsSeedsTest, InvariantsHold) {
  const uint64_t first = GetParam() * (kAllSeeds / kBlocks) + 1;
  const uint64_t count = kSeeds / kBlocks;
  std::printf("seeds %llu to %llu%s\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1),
              kSeeds < kAllSeeds ? ", a sample: this is an instrumented build" : "");
  RdsProgram::Tally all;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    RdsProgram program(seed);
    const std::string wrong = program.Run();
    ASSERT_TRUE(wrong.empty()) << wrong << "\nreplay: bazel run //tests/sim:rds -- --seed " << seed;
    const RdsProgram::Tally& one = program.tally();
    all.arrived += one.arrived;
    all.dropped += one.dropped;
    all.cancelled += one.cancelled;
    all.retransmitted += one.retransmitted;
    all.breaks += one.breaks;
    all.maps += one.maps;
  }
  // The seeds get everywhere.
  EXPECT_GT(all.arrived, 10 * count);
  EXPECT_GT(all.breaks, count);
  EXPECT_GT(all.maps, count);
  EXPECT_GT(all.retransmitted, count);
  EXPECT_GT(all.dropped, count / 10);
  EXPECT_GT(all.cancelled, count / 10);
}

INSTANTIATE_TEST_SUITE_P(Blocks, RdsSeedsTest, testing::Range(uint64_t{0}, kBlocks));

TEST(RdsReplayTest, ASeedReplays) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    RdsProgram one(seed), other(seed);
    ASSERT_EQ(one.Run(), other.Run());
    EXPECT_EQ(one.tally().frames, other.tally().frames) << "seed " << seed;
    EXPECT_EQ(one.tally().arrived, other.tally().arrived) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
