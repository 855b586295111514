// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/pair_state.h"

#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

struct Row {
  PairState state;
  PostFate send;
  PostFate receive;
  bool can_end;
};

constexpr Row kRows[] = {
    {PairState::kIdle, PostFate::kRefused, PostFate::kTaken, false},
    {PairState::kConnecting, PostFate::kRefused, PostFate::kTaken, true},
    {PairState::kConnected, PostFate::kTaken, PostFate::kTaken, true},
    {PairState::kDraining, PostFate::kRefused, PostFate::kTaken, true},
    {PairState::kEnding, PostFate::kLate, PostFate::kLate, false},
    {PairState::kEnded, PostFate::kFlushed, PostFate::kFlushed, false},
    {PairState::kClosed, PostFate::kRefused, PostFate::kTaken, false},
};

TEST(PairStateTest, EveryState) {
  for (const Row& row : kRows) {
    SCOPED_TRACE(static_cast<int>(row.state));
    EXPECT_EQ(FateOfSend(row.state), row.send);
    EXPECT_EQ(FateOfReceive(row.state), row.receive);
    EXPECT_EQ(CanEnd(row.state), row.can_end);
  }
}

}  // namespace
}  // namespace softdat::verbs
