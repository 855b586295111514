// SPDX-License-Identifier: BSD-3-Clause
// Mutex and FastMutex: the same promises, two ways to keep them.
#include "dat/base/mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

#include "dat/base/fast_mutex.h"

namespace {
std::atomic<int> yields{0};
}  // namespace

// Stands in front of the C library's.
extern "C" [[gnu::visibility("default")]] int sched_yield() noexcept {
  ++yields;
  return 0;
}

namespace softdat {
namespace {

template <typename AnyMutex>
class AMutex : public testing::Test {};
using Mutexes = testing::Types<Mutex, FastMutex>;
TYPED_TEST_SUITE(AMutex, Mutexes);

TYPED_TEST(AMutex, TryLockFailsWhileTaken) {
  TypeParam mutex;
  ASSERT_TRUE(mutex.try_lock());
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

TYPED_TEST(AMutex, OneThreadAtATime) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  TypeParam mutex;
  int count = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) {
        const std::lock_guard<TypeParam> lock(mutex);
        count = count + 1;  // a lost update shows two threads inside
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
}

// Each sleeper wakes the next one when it leaves.
TYPED_TEST(AMutex, AllSleepersWake) {
  constexpr int kThreads = 8;
  TypeParam mutex;
  std::atomic<int> arrived{0};
  int entered = 0;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  {
    const std::lock_guard<TypeParam> lock(mutex);
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++arrived;
        const std::lock_guard<TypeParam> own(mutex);
        ++entered;
      });
    }
    while (arrived < kThreads) std::this_thread::yield();
    EXPECT_EQ(entered, 0);
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(entered, kThreads);
}

// To yield is to let any other program have the rest of the turn.
TYPED_TEST(AMutex, WhoWaitsDoesNotYield) {
  TypeParam mutex;
  std::atomic<bool> arrived{false};
  yields = 0;
  mutex.lock();
  std::thread other([&] {
    arrived = true;
    const std::lock_guard<TypeParam> own(mutex);
  });
  while (!arrived) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  mutex.unlock();
  other.join();
  EXPECT_EQ(yields, 0);
}

}  // namespace
}  // namespace softdat
