// SPDX-License-Identifier: BSD-3-Clause
// Which post writes, which gathers, and which gathers without waking anybody.
#include "provider_softnet/driver/post_bursts.h"

#include <gtest/gtest.h>

#include <string>

namespace softdat::softnet {
namespace {

using Kind = PostBursts::Kind;

// One burst of `posts`, the first of this kind, messages behind it: w for a write, g and q for
// gathering.
std::string Burst(PostBursts* bursts, uint32_t epoch, int posts, bool under_way = false,
                  Kind first = Kind::kMessage) {
  std::string plans;
  for (int i = 0; i < posts; ++i) {
    switch (bursts->OnPost(epoch, under_way, i == 0 ? first : Kind::kMessage)) {
      case PostBursts::Plan::kWrite:
        plans += 'w';
        break;
      case PostBursts::Plan::kGather:
        plans += 'g';
        break;
      case PostBursts::Plan::kGatherQuietly:
        plans += 'q';
        break;
    }
  }
  return plans;
}

TEST(PostBursts, OneAtATimeIsWrittenAtOnce) {
  PostBursts bursts;
  for (uint32_t epoch = 1; epoch < 10; ++epoch) EXPECT_EQ(Burst(&bursts, epoch, 1), "w");
}

TEST(PostBursts, PairsAreKnownAfterTwo) {
  PostBursts bursts;
  EXPECT_EQ(Burst(&bursts, 1, 2), "wg");
  EXPECT_EQ(Burst(&bursts, 2, 2), "wg");
  for (uint32_t epoch = 3; epoch < 10; ++epoch) EXPECT_EQ(Burst(&bursts, epoch, 2), "qw");
}

// A message layer asks, is answered, writes and announces it.
TEST(PostBursts, SingleMessagesInBetweenDoNotHideAWriteAndItsNotice) {
  PostBursts bursts;
  uint32_t epoch = 0;
  for (int round = 0; round < 6; ++round) {
    EXPECT_EQ(Burst(&bursts, ++epoch, 1), "w") << round;
    EXPECT_EQ(Burst(&bursts, ++epoch, 1), "w") << round;
    EXPECT_EQ(Burst(&bursts, ++epoch, 2, false, Kind::kOther), round < 2 ? "wg" : "qw") << round;
  }
}

TEST(PostBursts, AWriteWhoseNoticeCeasesToComeIsWrittenAtOnce) {
  PostBursts bursts;
  for (uint32_t epoch = 1; epoch < 4; ++epoch) Burst(&bursts, epoch, 2, false, Kind::kOther);
  EXPECT_EQ(Burst(&bursts, 4, 1, false, Kind::kOther), "q");
  EXPECT_EQ(Burst(&bursts, 5, 1), "w");
  EXPECT_EQ(Burst(&bursts, 6, 1, false, Kind::kOther), "w");
}

// A flag long after the last write that had a notice need not wait for one.
TEST(PostBursts, AnOldHabitIsForgotten) {
  PostBursts bursts;
  uint32_t epoch = 0;
  for (int i = 0; i < 3; ++i) Burst(&bursts, ++epoch, 2, false, Kind::kOther);
  for (int i = 0; i < 20; ++i) Burst(&bursts, ++epoch, 1);
  EXPECT_EQ(Burst(&bursts, ++epoch, 1, false, Kind::kOther), "w");

  PostBursts messages;
  for (int i = 0; i < 3; ++i) Burst(&messages, ++epoch, 2);
  for (int i = 0; i < 20; ++i) Burst(&messages, ++epoch, 1, false, Kind::kOther);
  EXPECT_EQ(Burst(&messages, ++epoch, 1), "w");
}

TEST(PostBursts, ABurstThatIsShorterThanExpectedIsForgotten) {
  PostBursts bursts;
  for (uint32_t epoch = 1; epoch < 4; ++epoch) Burst(&bursts, epoch, 3);
  EXPECT_EQ(Burst(&bursts, 4, 1), "q");
  EXPECT_EQ(Burst(&bursts, 5, 1), "w");
  EXPECT_EQ(Burst(&bursts, 6, 1), "w");
}

TEST(PostBursts, ALongerOneGathersItsRest) {
  PostBursts bursts;
  for (uint32_t epoch = 1; epoch < 4; ++epoch) Burst(&bursts, epoch, 2);
  EXPECT_EQ(Burst(&bursts, 4, 4), "qwgg");
}

TEST(PostBursts, AStreamGathersFromItsFirstPost) {
  PostBursts bursts;
  EXPECT_EQ(Burst(&bursts, 1, 8), "wggggggg");
  EXPECT_EQ(Burst(&bursts, 2, 8, /*under_way=*/true), "gggggggg");
  EXPECT_EQ(Burst(&bursts, 3, 8, /*under_way=*/false), "gggggggg");
}

TEST(PostBursts, AFlagBehindALongBurstIsWrittenAtOnce) {
  PostBursts bursts;
  for (uint32_t epoch = 1; epoch < 20; epoch += 2) {
    EXPECT_EQ(Burst(&bursts, epoch, 8), "wggggggg");
    EXPECT_EQ(Burst(&bursts, epoch + 1, 1), "w");
  }
}

TEST(PostBursts, AfterAShortBurstOnlyWhileWorkIsUnderWay) {
  PostBursts bursts;
  Burst(&bursts, 1, 32);
  Burst(&bursts, 2, 32);
  EXPECT_EQ(Burst(&bursts, 3, 2), "gg");
  EXPECT_EQ(Burst(&bursts, 4, 4, /*under_way=*/false), "wggg");
  EXPECT_EQ(Burst(&bursts, 5, 4, /*under_way=*/true), "gggg");
}

TEST(PostBursts, AStreamIsOneUntilSeveralBurstsWereShort) {
  PostBursts bursts;
  Burst(&bursts, 1, 32);
  uint32_t epoch = 2;
  while (Burst(&bursts, epoch, 1, /*under_way=*/true) == "g") ++epoch;
  EXPECT_EQ(epoch, 7u);
  EXPECT_EQ(Burst(&bursts, 8, 1, /*under_way=*/true), "w");
}

TEST(PostBursts, LongBurstsAreNotExpected) {
  PostBursts bursts;
  for (uint32_t epoch = 1; epoch < 5; ++epoch) EXPECT_EQ(Burst(&bursts, epoch, 6), "wggggg");
}

TEST(PostBursts, ANewConnectionKnowsNothing) {
  PostBursts bursts;
  for (uint32_t epoch = 1; epoch < 4; ++epoch) Burst(&bursts, epoch, 2);
  bursts.Reset();
  EXPECT_EQ(Burst(&bursts, 4, 2), "wg");
}

}  // namespace
}  // namespace softdat::softnet
