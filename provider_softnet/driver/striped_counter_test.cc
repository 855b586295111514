// SPDX-License-Identifier: BSD-3-Clause
// StripedCounter: the count is that of all threads.
#include "provider_softnet/driver/striped_counter.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace softdat::softnet {
namespace {

TEST(StripedCounter, SumsUpWhatThreadsHaveCounted) {
  StripedCounter counter;
  EXPECT_EQ(counter.Sum(), 0u);
  for (uint64_t thread = 0; thread < 2 * StripedCounter::kStripes; ++thread) {
    std::thread([&counter] {
      for (int i = 0; i < 3; ++i) counter.Add();
    }).join();
    EXPECT_EQ(counter.Sum(), 3 * (thread + 1));
  }
}

TEST(StripedCounter, LosesNothingWhereThreadsShareAStripe) {
  constexpr int kEach = 10'000;
  StripedCounter counter;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 2 * StripedCounter::kStripes; ++thread) {
    threads.emplace_back([&counter] {
      for (int i = 0; i < kEach; ++i) counter.Add();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.Sum(), 2 * StripedCounter::kStripes * kEach);
}

}  // namespace
}  // namespace softdat::softnet
