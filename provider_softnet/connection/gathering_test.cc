// SPDX-License-Identifier: BSD-3-Clause
// Tests which sends gather, and how long a graceful disconnect waits, as decisions without a link.
#include "provider_softnet/driver/gathering.h"

#include <gtest/gtest.h>

#include <chrono>

#include "provider_softnet/connection/drain_judge.h"

namespace softdat::softnet {
namespace {

using Plan = Gathering::Plan;

class GatheringTest : public testing::Test {
 protected:
  // A post in the burst `epoch`, with `queued` unfinished requests.
  Plan Post(uint32_t epoch, uint32_t queued, size_t bytes = 64) {
    return gathering_.OnPost(
        {.epoch = epoch, .helper_ticks = true, .queued = queued, .capacity = 64, .bytes = bytes});
  }

  Gathering gathering_{{.messages = 32, .bytes = 4096, .halves = false}};
};

TEST_F(GatheringTest, ASinglePostIsWritten) {
  for (uint32_t epoch = 1; epoch < 10; ++epoch) EXPECT_EQ(Post(epoch, 1), Plan::kWrite);
  EXPECT_FALSE(gathering_.any());
}

TEST_F(GatheringTest, WhatComesBehindItGathersAndTheHelperIsToldOnce) {
  EXPECT_EQ(Post(1, 1), Plan::kWrite);
  EXPECT_EQ(Post(1, 2), Plan::kKeepAndWatch);
  EXPECT_EQ(Post(1, 3), Plan::kKeep);
  EXPECT_TRUE(gathering_.any());
  gathering_.OnFlush();
  gathering_.OnWritten();
  EXPECT_FALSE(gathering_.any());
  EXPECT_EQ(Post(1, 4), Plan::kKeepAndWatch);
}

TEST_F(GatheringTest, AProgramThatWritesItselfIsNotWatched) {
  for (int i = 0; i < 4; ++i) gathering_.NoteFlusher(/*by_program=*/true);
  EXPECT_EQ(Post(1, 1), Plan::kWrite);
  EXPECT_EQ(Post(1, 2), Plan::kKeepAndTell);
  EXPECT_EQ(Post(1, 3), Plan::kKeep);
  gathering_.OnWritten();
  gathering_.NoteFlusher(/*by_program=*/false);
  EXPECT_EQ(Post(1, 2), Plan::kKeepAndWatch);
}

TEST_F(GatheringTest, MuchLeavesAtOnce) {
  EXPECT_EQ(Post(1, 1), Plan::kWrite);
  EXPECT_EQ(Post(1, 2, 5000), Plan::kWriteAll);  // bytes
  gathering_.OnWritten();
  EXPECT_EQ(Post(1, 48), Plan::kWriteAll);  // three quarters of the queue
  gathering_.OnWritten();
  Plan last = Plan::kKeep;
  int posts = 0;
  while (last != Plan::kWriteAll && ++posts < 100) last = Post(1, 2, 1);
  EXPECT_EQ(posts, 32);  // messages
}

TEST_F(GatheringTest, WithConfirmationHalvesLeave) {
  Gathering halves{{.messages = 1000, .bytes = 1 << 20, .halves = true}};
  Plan last = Plan::kKeep;
  uint32_t posts = 0;
  while (last != Plan::kWriteAll && ++posts < 100) {
    last = halves.OnPost({.epoch = 1, .helper_ticks = true, .queued = 64, .capacity = 64});
  }
  EXPECT_EQ(posts, 34u);  // one is written, and the others gather until they exceed half of 64
}

TEST(DrainJudgeTest, APeerThatTakesNothingIsStuck) {
  DrainJudge judge;
  judge.Begin();
  const DrainJudge::Untaken same{100, 20, 3};
  EXPECT_FALSE(judge.IsStuck(same));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(judge.IsStuck(same)) << i;
  EXPECT_TRUE(judge.IsStuck(same));
  EXPECT_FALSE(judge.IsStuck({100, 19, 3}));  // one byte of progress is enough
  EXPECT_EQ(DrainJudge::Pause(std::chrono::milliseconds(400)), std::chrono::milliseconds(100));
  EXPECT_EQ(DrainJudge::Pause(std::chrono::milliseconds(1)), std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace softdat::softnet
