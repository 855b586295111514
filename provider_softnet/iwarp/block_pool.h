// SPDX-License-Identifier: BSD-3-Clause
// Blocks of memory that streams borrow while bytes are on their way through them, so that an idle
// connection holds none. A few are kept for the next stream that asks. Asking takes one atomic
// exchange and no lock.
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
  // All blocks must have been returned.
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Any thread. Returns a block, aligned as by operator new, or null without memory. `user`
  // identifies the stream that asks. Different users look in different places first.
  uint8_t* Take(const void* user);
  void Give(const void* user, uint8_t* block);

  // Announces one more user, until Leave(). Makes sure that there is a block for each user, up to
  // the number of blocks that the pool keeps. So a user that has joined neither waits for memory
  // nor allocates it in the middle of a transfer. Returns false, and nobody has joined, when there
  // is no memory for a single block.
  [[nodiscard]] bool Join(const void* user);
  void Leave() { users_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  static constexpr size_t kSpares = 16;

  // Each lies on its own cache line.
  struct alignas(64) Spare {
    std::atomic<uint8_t*> block{nullptr};  // the pool owns it while it is here
  };
  static size_t Place(const void* user);

  uint8_t* Allocate();

  const size_t block_size_;
  std::atomic<size_t> users_{0};
  std::atomic<size_t> blocks_{0};  // those kept and those taken
  std::array<Spare, kSpares> spares_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_BLOCK_POOL_H_
