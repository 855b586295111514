// SPDX-License-Identifier: BSD-3-Clause
// What an EVD knows of the EPs that receive through it.
#include "dat/engine/events/receive_tally.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "dat/engine/object/handle.h"
#include "dat2/udat.h"

namespace softdat::engine {
namespace {

class ReceiveTalliesTest : public ::testing::Test {
 protected:
  static std::shared_ptr<ReceiveTally> Plain() { return std::make_shared<ReceiveTally>(nullptr); }
  std::shared_ptr<ReceiveTally> OfSrq() const { return std::make_shared<ReceiveTally>(srq_); }
  static DAT_EVENT Received(DAT_EP_HANDLE ep) {
    DAT_EVENT event{};
    event.event_number = DAT_DTO_COMPLETION_EVENT;
    event.event_data.dto_completion_event_data.ep_handle = ep;
    event.event_data.dto_completion_event_data.operation = DAT_DTO_RECEIVE;
    return event;
  }

  Cell cells_[300];
  const std::shared_ptr<ReceiveCount> srq_ = std::make_shared<ReceiveCount>();
  ReceiveTallies tallies_;
};

TEST_F(ReceiveTalliesTest, EveryEpFindsItsOwn) {
  std::vector<std::shared_ptr<ReceiveTally>> all;
  for (size_t i = 0; i < 300; i += 3) {
    all.push_back(Plain());
    tallies_.Attach(&cells_[i], all.back());
  }
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 300; ++i) {
      EXPECT_EQ(tallies_.Find(&cells_[i]), i % 3 == 0 ? all[i / 3].get() : nullptr) << i;
    }
  }
}

// These are so far from each other that each takes the other's place in the table.
TEST_F(ReceiveTalliesTest, TwoThatMeetInOnePlace) {
  const auto a = Plain();
  const auto b = Plain();
  tallies_.Attach(&cells_[0], a);
  tallies_.Attach(&cells_[256], b);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(tallies_.Find(&cells_[0]), a.get());
    EXPECT_EQ(tallies_.Find(&cells_[256]), b.get());
  }
  a->Abandon();
  tallies_.Detach(&cells_[0]);
  EXPECT_EQ(tallies_.Find(&cells_[0]), nullptr);
  EXPECT_EQ(tallies_.Find(&cells_[256]), b.get());
}

TEST_F(ReceiveTalliesTest, WhatIsQueuedStillCountsWhileSomebodyReadsIt) {
  const auto tally = Plain();
  tallies_.Attach(&cells_[0], tally);
  tallies_.Detach(&cells_[0]);
  tallies_.ForgetEnded(false);
  EXPECT_EQ(tallies_.Find(&cells_[0]), tally.get());
  EXPECT_TRUE(tallies_.some_ended());
  tally->Abandon();
  tallies_.ForgetEnded(false);
  EXPECT_EQ(tallies_.Find(&cells_[0]), nullptr);
  EXPECT_FALSE(tallies_.some_ended());
  EXPECT_EQ(tally.use_count(), 1);
}

TEST_F(ReceiveTalliesTest, TheReceivesOfAnSrqCountUntilTheEvdIsEmpty) {
  const auto tally = OfSrq();
  tallies_.Attach(&cells_[0], tally);
  EXPECT_TRUE(tallies_.any_srq());
  tally->Abandon();
  tallies_.Detach(&cells_[0]);
  tallies_.ForgetEnded(false);
  srq_->OnPost();
  tallies_.OnReaped(Received(&cells_[0]));
  EXPECT_EQ(srq_->value(), 0);
  tallies_.ForgetEnded(true);
  EXPECT_FALSE(tallies_.any_srq());
}

TEST_F(ReceiveTalliesTest, StreamsOfOneEpOverlap) {
  const auto tally = Plain();
  tallies_.Attach(&cells_[0], tally);
  tallies_.Attach(&cells_[0], tally);
  tallies_.Detach(&cells_[0]);
  tallies_.ForgetEnded(true);
  EXPECT_EQ(tallies_.Find(&cells_[0]), tally.get());
  tallies_.Detach(&cells_[0]);
  EXPECT_TRUE(tallies_.some_ended());
}

TEST_F(ReceiveTalliesTest, AHandleIsUsedAgain) {
  const auto old = OfSrq();
  const auto fresh = Plain();
  tallies_.Attach(&cells_[0], old);
  tallies_.Detach(&cells_[0]);
  tallies_.Attach(&cells_[0], fresh);
  EXPECT_EQ(tallies_.Find(&cells_[0]), fresh.get());
  EXPECT_FALSE(tallies_.any_srq());
  tallies_.ForgetEnded(true);
  EXPECT_EQ(tallies_.Find(&cells_[0]), fresh.get());
}

}  // namespace
}  // namespace softdat::engine
