// SPDX-License-Identifier: BSD-3-Clause
// Blocks of memory that streams borrow.
#include "provider_softnet/iwarp/block_pool.h"

#include <algorithm>
#include <new>

namespace softdat::softnet {

BlockPool::~BlockPool() {
  for (Spare& spare : spares_) delete[] spare.block.load(std::memory_order_relaxed);
}

// Streams lie some kilobytes apart in memory.
size_t BlockPool::Place(const void* user) {
  const auto address = reinterpret_cast<uintptr_t>(user);
  return (address >> 10 ^ address >> 16) % kSpares;
}

uint8_t* BlockPool::Take(const void* user) {
  const size_t first = Place(user);
  for (size_t i = 0; i < kSpares; ++i) {
    std::atomic<uint8_t*>& spare = spares_[(first + i) % kSpares].block;
    // The load comes first, because it does not take the cache line away from other threads.
    if (spare.load(std::memory_order_relaxed) == nullptr) continue;
    if (uint8_t* block = spare.exchange(nullptr, std::memory_order_acquire)) return block;
  }
  return Allocate();
}

void BlockPool::Give(const void* user, uint8_t* block) {
  const size_t first = Place(user);
  for (size_t i = 0; i < kSpares; ++i) {
    std::atomic<uint8_t*>& spare = spares_[(first + i) % kSpares].block;
    uint8_t* none = nullptr;
    if (spare.load(std::memory_order_relaxed) == nullptr &&
        spare.compare_exchange_strong(none, block, std::memory_order_release,
                                      std::memory_order_relaxed)) {
      return;
    }
  }
  blocks_.fetch_sub(1, std::memory_order_relaxed);
  delete[] block;
}

uint8_t* BlockPool::Allocate() {
  uint8_t* const block = new (std::nothrow) uint8_t[block_size_];
  if (block != nullptr) blocks_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

bool BlockPool::Join(const void* user) {
  const size_t users = users_.fetch_add(1, std::memory_order_relaxed) + 1;
  if (blocks_.load(std::memory_order_relaxed) >= std::min(users, kSpares)) return true;
  if (uint8_t* const block = Allocate()) {
    Give(user, block);
    return true;
  }
  if (blocks_.load(std::memory_order_relaxed) > 0) return true;
  Leave();
  return false;
}

}  // namespace softdat::softnet
