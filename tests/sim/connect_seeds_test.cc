// SPDX-License-Identifier: BSD-3-Clause
// Runs 1,000 seeds of connecting, and checks that a seed replays.
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/connect_program.h"

namespace softdat::sim {
namespace {

constexpr uint64_t kSeeds = 1000;
constexpr uint64_t kBlocks = 10;

class ConnectSeedsTest : public testing::TestWithParam<uint64_t> {};

TEST_P(ConnectSeedsTest, InvariantsHold) {
  const uint64_t first = GetParam() * (kSeeds / kBlocks) + 1;
  ConnectProgram::Tally all;
  for (uint64_t seed = first; seed < first + kSeeds / kBlocks; ++seed) {
    ConnectProgram program(seed);
    const std::string wrong = program.Run();
    ASSERT_TRUE(wrong.empty()) << wrong << "\nreplay: bazel run //tests/sim:connect -- --seed "
                               << seed;
    const ConnectProgram::Tally& one = program.tally();
    all.established += one.established;
    all.rejected += one.rejected;
    all.timed_out += one.timed_out;
    all.given_up += one.given_up;
    all.accept_failures += one.accept_failures;
    all.messages += one.messages;
    all.intruders += one.intruders;
  }
  // The seeds reach every kind of event.
  EXPECT_GT(all.established, 100u);
  EXPECT_GT(all.rejected, 20u);
  EXPECT_GT(all.timed_out, 20u);
  EXPECT_GT(all.given_up, 20u);
  EXPECT_GT(all.accept_failures, 5u);
  EXPECT_GT(all.messages, 1000u);
  EXPECT_GT(all.intruders, 100u);
}

INSTANTIATE_TEST_SUITE_P(Blocks, ConnectSeedsTest, testing::Range(uint64_t{0}, kBlocks));

TEST(ConnectReplayTest, ASeedReplays) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    ConnectProgram one(seed), other(seed);
    ASSERT_EQ(one.Run(), other.Run());
    EXPECT_EQ(one.tally().events, other.tally().events) << "seed " << seed;
    EXPECT_EQ(one.tally().end_us, other.tally().end_us) << "seed " << seed;
    EXPECT_EQ(one.tally().messages, other.tally().messages) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
