// SPDX-License-Identifier: BSD-3-Clause
// Memory for requests that came before one in front of them (early_packets.h), of all connections
// of an adapter together. How much of it there can be is fixed, so that no peer takes more by
// leaving holes. A connection without holes has none.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_EARLY_POOL_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_EARLY_POOL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "provider_softnet/roce/psn.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

// Any thread.
class EarlyPool {
 public:
  struct Block {
    Block* next = nullptr;
    Psn psn = 0;
    roce::Packet packet;
    uint8_t* payload = nullptr;  // mtu() bytes
  };

  // For payloads of up to `mtu` bytes. Takes `most_bytes` at most, and only what was once needed.
  EarlyPool(uint32_t mtu, uint64_t most_bytes)
      : mtu_(mtu), slabs_left_(most_bytes / (kSlab * (mtu + sizeof(Block)))) {}
  EarlyPool(const EarlyPool&) = delete;
  EarlyPool& operator=(const EarlyPool&) = delete;

  uint32_t mtu() const { return mtu_; }
  // Null when all are in use.
  Block* Take() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_ == nullptr && !Grow()) return nullptr;
    Block* const block = free_;
    free_ = block->next;
    return block;
  }
  void Give(Block* block) {
    const std::lock_guard<std::mutex> lock(mutex_);
    block->next = free_;
    free_ = block;
  }

 private:
  // Blocks that are allocated together.
  static constexpr uint64_t kSlab = 64;

  struct Slab {
    std::unique_ptr<Slab> next;
    std::unique_ptr<uint8_t[]> payloads;
    Block blocks[kSlab];
  };

  bool Grow() {
    if (slabs_left_ == 0) return false;
    std::unique_ptr<Slab> slab(new (std::nothrow) Slab);
    if (slab == nullptr) return false;
    slab->payloads.reset(new (std::nothrow) uint8_t[kSlab * mtu_]);
    if (slab->payloads == nullptr) return false;
    for (uint64_t i = 0; i < kSlab; ++i) {
      slab->blocks[i].payload = &slab->payloads[i * mtu_];
      slab->blocks[i].next = std::exchange(free_, &slab->blocks[i]);
    }
    slab->next = std::move(slabs_);
    slabs_ = std::move(slab);
    --slabs_left_;
    return true;
  }

  const uint32_t mtu_;
  std::mutex mutex_;  // guards what follows
  uint64_t slabs_left_;
  std::unique_ptr<Slab> slabs_;
  Block* free_ = nullptr;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_EARLY_POOL_H_
