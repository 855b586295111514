// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/pair_failure.h"

#include <gtest/gtest.h>

#include <string>

namespace softdat::verbs {
namespace {

constexpr bool kIwarp = true, kInfiniband = false;

TEST(PairFailureTest, TheFirstOneCounts) {
  PairFailure failure;
  failure.Watch(true);
  EXPECT_FALSE(failure.noted());
  EXPECT_TRUE(failure.NoteCompletion(IBV_WC_REM_ACCESS_ERR, kInfiniband));
  EXPECT_FALSE(failure.NoteCompletion(IBV_WC_RETRY_EXC_ERR, kInfiniband));
  EXPECT_FALSE(failure.NotePost());
  EXPECT_TRUE(failure.noted());
  EXPECT_EQ(failure.what(), std::string(ibv_wc_status_str(IBV_WC_REM_ACCESS_ERR)));
}

TEST(PairFailureTest, WithoutAConnectionNothingFails) {
  PairFailure failure;
  EXPECT_FALSE(failure.NoteCompletion(IBV_WC_REM_ACCESS_ERR, kInfiniband));
  EXPECT_FALSE(failure.noted());
}

// The cause may come after the flush that it led to.
TEST(PairFailureTest, AFlushIsAFailureButNotItsCause) {
  PairFailure failure;
  failure.Watch(true);
  EXPECT_TRUE(failure.NoteCompletion(IBV_WC_WR_FLUSH_ERR, kInfiniband));
  EXPECT_EQ(failure.what(), std::string("the device flushed the queue pair"));
  EXPECT_FALSE(failure.NoteCompletion(IBV_WC_LOC_PROT_ERR, kInfiniband));
  EXPECT_EQ(failure.what(), std::string(ibv_wc_status_str(IBV_WC_LOC_PROT_ERR)));
}

TEST(PairFailureTest, OnIwarpTheEndOfTheConnectionFlushes) {
  PairFailure failure;
  failure.Watch(true);
  EXPECT_FALSE(failure.NoteCompletion(IBV_WC_WR_FLUSH_ERR, kIwarp));
  EXPECT_FALSE(failure.noted());
  EXPECT_TRUE(failure.NoteCompletion(IBV_WC_REM_ACCESS_ERR, kIwarp));
}

TEST(PairFailureTest, ItBelongsToTheHardwareOfItsTime) {
  PairFailure failure;
  failure.NextLife();
  EXPECT_TRUE(failure.NotePost());
  failure.NextLife();
  EXPECT_EQ(failure.noted_life(), 1u);
  EXPECT_EQ(failure.life(), 2u);
  failure.Clear();
  EXPECT_FALSE(failure.noted());
  EXPECT_TRUE(failure.NotePost());
  EXPECT_EQ(failure.noted_life(), 2u);
}

}  // namespace
}  // namespace softdat::verbs
