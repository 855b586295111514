// SPDX-License-Identifier: BSD-3-Clause
// Tests of the blocks that streams borrow.
#include "provider_softnet/iwarp/block_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <new>
#include <set>
#include <thread>
#include <vector>

// The pool's way to allocate. It is counted, and has no memory for a size that no machine has.
// (Sanitizers end the process because of such sizes.)
static std::atomic<int> allocations{0};
constexpr size_t kTooMuch = size_t{1} << 40;

void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return size >= kTooMuch ? nullptr : ::operator new[](size);
}

namespace softdat::softnet {
namespace {

constexpr size_t kSize = 1000;

TEST(BlockPool, ABlockThatWasGivenBackIsTakenAgain) {
  BlockPool pool(kSize);
  const int user = 0;
  uint8_t* const block = pool.Take(&user);
  ASSERT_NE(block, nullptr);
  std::memset(block, 1, kSize);
  pool.Give(&user, block);
  EXPECT_EQ(pool.Take(&user), block);
  pool.Give(&user, block);
  // Any user gets the block that was returned.
  EXPECT_EQ(pool.Take(&pool), block);
  pool.Give(&pool, block);
}

TEST(BlockPool, MoreThanAreKeptAreStillAllDifferent) {
  BlockPool pool(kSize);
  for (int round = 0; round < 2; ++round) {
    std::set<uint8_t*> blocks;
    for (int i = 0; i < 100; ++i) blocks.insert(pool.Take(&blocks));
    EXPECT_EQ(blocks.size(), 100u);
    EXPECT_EQ(blocks.count(nullptr), 0u);
    for (uint8_t* block : blocks) pool.Give(&blocks, block);
  }
}

// The blocks that all joined users take together existed before.
TEST(BlockPool, WhoHasJoinedFindsABlock) {
  const int allocations_at_start = allocations;
  BlockPool pool(kSize);
  constexpr int kUsers = 3;
  for (int i = 0; i < kUsers; ++i) EXPECT_TRUE(pool.Join(&pool));
  const int before = allocations;
  EXPECT_EQ(before - allocations_at_start, kUsers);
  std::vector<uint8_t*> blocks;
  blocks.reserve(kUsers);
  for (int i = 0; i < kUsers; ++i) blocks.push_back(pool.Take(&pool));
  EXPECT_EQ(allocations, before);
  for (uint8_t* block : blocks) pool.Give(&pool, block);
  for (int i = 0; i < kUsers; ++i) pool.Leave();
}

TEST(BlockPool, WithoutMemoryThereIsNone) {
  BlockPool pool(kTooMuch);
  EXPECT_EQ(pool.Take(&pool), nullptr);
  EXPECT_FALSE(pool.Join(&pool));
}

// Each thread writes its own number over its block. A block that two threads have would show.
TEST(BlockPool, NoBlockIsWithTwo) {
  BlockPool pool(kSize);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (uint8_t number = 1; number <= 4; ++number) {
    threads.emplace_back([&pool, &wrong, number] {
      for (int i = 0; i < 20000; ++i) {
        uint8_t* block = pool.Take(&number);
        std::memset(block, number, kSize);
        for (const size_t at : {size_t{0}, kSize / 2, kSize - 1}) wrong += block[at] != number;
        pool.Give(&number, block);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace softdat::softnet
