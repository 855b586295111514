// SPDX-License-Identifier: BSD-3-Clause
// Blocks of memory that streams borrow while bytes are on their way through them, so that a
// connection that is idle holds none. A few are kept for the next that asks; asking takes one
// atomic exchange, and no lock.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_BLOCK_POOL_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_BLOCK_POOL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdat::softnet {

class BlockPool {
 public:
  // `block_size` in bytes.
  explicit BlockPool(size_t block_size) : block_size_(block_size) {}
  // All blocks were given back.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Any thread. A block, aligned as operator new does, or null without memory. `user` is who asks:
  // different ones look in different places first.
  uint8_t* Take(const void* user);
  void Give(const void* user, uint8_t* block);

  // One more who will ask, until Leave(). Sees to it that there is a block for each of them, as far
  // as so many are kept: who has come does not wait for memory, nor take it, in the middle of a
  // transfer. False, and nobody has joined, without memory for a single one.
  [[nodiscard]] bool Join(const void* user);
  void Leave() { users_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static constexpr size_t kSpares = 16;

  // Each on a cache line of its own.
  struct alignas(64) Spare {
    std::atomic<uint8_t*> block{nullptr};  // owned by the pool while it is here
  };
  static size_t Place(const void* user);

  uint8_t* Allocate();

  const size_t block_size_;
  std::atomic<size_t> users_{0};
  std::atomic<size_t> blocks_{0};  // spare and taken
  std::array<Spare, kSpares> spares_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_BLOCK_POOL_H_
