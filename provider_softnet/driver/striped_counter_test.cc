// SPDX-License-Identifier: BSD-3-Clause
// StripedCounter: the count is that of all threads.
#include "provider_softnet/driver/striped_counter.h"

#include <gtest/gtest.h>

#include <thread>

namespace softdat::softnet {
namespace {

TEST(StripedCounter, SumsUpWhatThreadsHaveCounted) {
  StripedCounter counter;
  EXPECT_EQ(counter.Sum(), 0u);
  // One behind the other, so that those that share a stripe lose nothing.
  for (uint64_t thread = 0; thread < 2 * StripedCounter::kStripes; ++thread) {
    std::thread([&counter] {
      for (int i = 0; i < 3; ++i) counter.Add();
    }).join();
    EXPECT_EQ(counter.Sum(), 3 * (thread + 1));
  }
}

TEST(StripedCounter, TellsAThreadWhatItHasCounted) {
  StripedCounter counter, other;
  EXPECT_EQ(counter.Add(), 1u);
  EXPECT_EQ(other.Add(), 1u);
  EXPECT_EQ(counter.Add(), 2u);
}

TEST(StripedCounter, ThreadsThatAreStartedTogetherShareNoCacheLine) {
  StripedCounter counter;
  for (size_t thread = 0; thread < StripedCounter::kStripes; ++thread) {
    std::thread([&counter] { EXPECT_EQ(counter.Add(), 1u); }).join();
  }
}

}  // namespace
}  // namespace softdat::softnet
