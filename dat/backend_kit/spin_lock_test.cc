// SPDX-License-Identifier: BSD-3-Clause
// One holder at a time, also when threads wait longer than they spin.
#include "dat/backend_kit/spin_lock.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace softdat {
namespace {

TEST(SpinLockTest, OneThreadAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  SpinLock lock;
  int count = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        const std::lock_guard<SpinLock> guard(lock);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

TEST(SpinLockTest, TryLockTakesItOnlyWhenItIsFree) {
  SpinLock lock;
  ASSERT_TRUE(lock.try_lock());
  EXPECT_FALSE(lock.try_lock());
  lock.unlock();
  EXPECT_TRUE(lock.try_lock());
  lock.unlock();
}

}  // namespace
}  // namespace softdat
