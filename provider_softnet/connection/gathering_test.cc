// SPDX-License-Identifier: BSD-3-Clause
// Tests which sends gather, and how long a graceful disconnect waits, as decisions without a link.
#include "provider_softnet/driver/gathering.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "provider_softnet/connection/connection_options.h"
#include "provider_softnet/connection/drain_judge.h"

namespace softdat::softnet {
namespace {

using Plan = Gathering::Plan;

class GatheringTest : public testing::Test {
 protected:
  // A post in the burst `epoch`, with `queued` unfinished requests.
  Plan Post(uint32_t epoch, uint32_t queued, size_t bytes = 64) {
    return gathering_.OnPost({.epoch = {.common = epoch},
                              .helper_ticks = true,
                              .queued = queued,
                              .capacity = 64,
                              .bytes = bytes});
  }

  explicit GatheringTest(const Gathering::Limits& limits = {.messages = 32, .bytes = 4096})
      : gathering_(limits) {}

  Gathering gathering_;
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

// The pieces of a message of a MiB, as message-passing layers post them.
class PiecesTest : public GatheringTest {
 protected:
  static Gathering::Limits Default() {
    const ConnectionOptions options;
    return {.messages = options.gather_messages,
            .bytes = options.gather_bytes,
            .halves = true,
            .hold_bytes = options.hold_bytes};
  }
  PiecesTest() : GatheringTest(Default()) {}
};

TEST_F(PiecesTest, LargeWritesInARowLeaveTogether) {
  constexpr size_t kPiece = 128 << 10;
  EXPECT_EQ(Post(1, 1, kPiece), Plan::kWrite);
  EXPECT_EQ(Post(1, 2, kPiece), Plan::kKeepAndWatch);
  for (uint32_t queued = 3; queued <= 8; ++queued)
    EXPECT_EQ(Post(1, queued, kPiece), Plan::kKeep) << queued;
}

// A program that keeps 64 requests under way in a queue of 72.
class HalvesTest : public testing::Test {
 protected:
  static constexpr uint32_t kWindow = 64;

  // Posts as many as are free, all in one burst.
  void Fill() {
    ++epoch_;
    while (queued_ < kWindow) {
      const Plan plan = gathering_.OnPost(
          {.epoch = {.common = epoch_}, .helper_ticks = true, .queued = ++queued_, .capacity = 72});
      ++gathered_;
      if (plan == Plan::kWrite || plan == Plan::kWriteAll) Write();
    }
  }
  void Write() {
    gathering_.OnWritten();
    parcels_.push_back(std::exchange(gathered_, 0));
  }
  // The oldest parcel is confirmed.
  void Confirm() {
    ASSERT_LT(confirmed_, parcels_.size());
    queued_ -= parcels_[confirmed_++];
  }

  Gathering gathering_{{.messages = 1000, .bytes = 1 << 20, .halves = true}};
  uint32_t epoch_ = 0;
  uint32_t queued_ = 0;
  uint32_t gathered_ = 0;
  std::vector<uint32_t> parcels_;  // that left
  size_t confirmed_ = 0;
};

TEST_F(HalvesTest, HalfOfTheWindowLeavesWhileTheOtherIsUnderWay) {
  Fill();
  if (gathered_ > 0) Write();
  for (int round = 0; round < 100; ++round) {
    Confirm();
    Fill();
    if (gathered_ > 0 && !gathering_.Lingers(queued_)) Write();
  }
  // Whatever the first parcels were, halves remain.
  for (size_t i = parcels_.size() - 10; i < parcels_.size(); ++i) {
    EXPECT_EQ(parcels_[i], kWindow / 2) << i;
  }
}

TEST_F(HalvesTest, LittleWaitsForSomePolls) {
  Fill();
  if (gathered_ > 0) Write();
  queued_ -= 2;
  Fill();
  ASSERT_EQ(gathered_, 2u);
  int polls = 0;
  while (gathering_.Lingers(queued_)) ++polls;
  EXPECT_GT(polls, 0);
  EXPECT_LT(polls, 100);
  Write();
  EXPECT_FALSE(gathering_.Lingers(queued_)) << "nothing has gathered";
}

TEST_F(HalvesTest, WithLittleUnderWayNothingWaits) {
  Fill();
  if (gathered_ > 0) Write();
  queued_ = kWindow / 8;
  gathering_.OnPost(
      {.epoch = {.common = ++epoch_}, .helper_ticks = true, .queued = ++queued_, .capacity = 72});
  EXPECT_TRUE(gathering_.any());
  EXPECT_FALSE(gathering_.Lingers(queued_));
}

TEST_F(HalvesTest, ASmallWindowDoesNotLeaveInHalves) {
  for (int round = 0; round < 10; ++round) {
    ++epoch_;
    for (uint32_t queued = 1; queued <= 8; ++queued) {
      EXPECT_NE(gathering_.OnPost({.epoch = {.common = epoch_},
                                   .helper_ticks = true,
                                   .queued = queued,
                                   .capacity = 72}),
                Plan::kWriteAll);
    }
    gathering_.OnWritten();
  }
}

// A program that posts writes and a notice behind them, and then waits.
class NoticeTest : public testing::Test {
 protected:
  static constexpr size_t kHold = 128 * 1024;

  // One burst behind a single message. Returns the plans of the writes, then of the notice.
  std::vector<Plan> Burst(uint32_t writes, size_t bytes) {
    std::vector<Plan> plans;
    ++epoch_;
    EXPECT_EQ(Post(Op::kSend, 1, 64), Plan::kWrite);
    ++epoch_;
    for (uint32_t i = 1; i <= writes; ++i) plans.push_back(Post(Op::kRdmaWrite, i, bytes));
    plans.push_back(Post(Op::kSend, writes + 1, 64));
    gathering_.OnFlush();
    gathering_.OnWritten();
    return plans;
  }
  // The same when the last bursts were like it.
  std::vector<Plan> Known(uint32_t writes, size_t bytes) {
    Burst(writes, bytes);
    Burst(writes, bytes);
    return Burst(writes, bytes);
  }

 private:
  using Op = transport::Op;

  Plan Post(Op op, uint32_t queued, size_t bytes) {
    return gathering_.OnPost({.epoch = {.common = epoch_},
                              .helper_ticks = true,
                              .op = op,
                              .queued = queued,
                              .capacity = 64,
                              .bytes = bytes});
  }

  Gathering gathering_{{.messages = 64, .bytes = 1 << 20, .halves = false, .hold_bytes = kHold}};
  uint32_t epoch_ = 0;
};

constexpr Plan kHeld = Plan::kKeepAndTell;

TEST_F(NoticeTest, ASmallWriteLeavesWithIt) {
  EXPECT_EQ(Known(1, 64), (std::vector{kHeld, Plan::kWrite}));
}

TEST_F(NoticeTest, SoDoesALargeOne) {
  EXPECT_EQ(Known(1, kHold), (std::vector{kHeld, Plan::kWrite}));
}

TEST_F(NoticeTest, AWriteThatCostsMoreThanItsCallIsWrittenAtOnce) {
  EXPECT_EQ(Known(1, kHold + 1), (std::vector{Plan::kWrite, Plan::kWrite}));
}

TEST_F(NoticeTest, OfLargeWritesOnlyTheLastIsHeld) {
  EXPECT_EQ(Known(2, 64 * 1024), (std::vector{Plan::kWrite, kHeld, Plan::kWrite}));
}

TEST_F(NoticeTest, NotMoreThanAWriteThatIsHeldAlone) {
  EXPECT_EQ(Known(3, 63 * 1024), (std::vector{kHeld, Plan::kKeep, Plan::kWrite, Plan::kWrite}));
}

TEST_F(NoticeTest, OfSmallWritesAll) {
  EXPECT_EQ(Known(2, 64), (std::vector{kHeld, Plan::kKeep, Plan::kWrite}));
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
