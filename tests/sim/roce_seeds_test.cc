// SPDX-License-Identifier: BSD-3-Clause
// The seeds of RoCEv2 in ./check: SOFTDAT_SIM_SEEDS of them (a build setting, smaller in
// instrumented builds), in blocks, so that the shards of the test share them.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "tests/sim/roce_program.h"

namespace softdat::sim {
namespace {

constexpr uint64_t kAllSeeds = 10000;
constexpr uint64_t kSeeds = SOFTDAT_SIM_SEEDS;
constexpr uint64_t kBlocks = 20;
static_assert(kSeeds >= kBlocks && kSeeds % kBlocks == 0 && kAllSeeds % kBlocks == 0);

class RoceSeedsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(RoceSeedsTest, InvariantsHold) {
  const uint64_t first = GetParam() * (kAllSeeds / kBlocks) + 1;
  const uint64_t count = kSeeds / kBlocks;
  std::printf("seeds %llu to %llu%s\n", static_cast<unsigned long long>(first),
              static_cast<unsigned long long>(first + count - 1),
              kSeeds < kAllSeeds ? ", a sample: this is an instrumented build" : "");
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string wrong = RoceProgram(seed).Run();
    ASSERT_TRUE(wrong.empty()) << wrong << "\nreplay: bazel run //tests/sim:roce -- --seed "
                               << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, RoceSeedsTest, testing::Range(uint64_t{0}, kBlocks));

}  // namespace
}  // namespace softdat::sim
