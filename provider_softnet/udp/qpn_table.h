// SPDX-License-Identifier: BSD-3-Clause
// The queue pairs of a member by their numbers. It gives out the numbers, in blocks that the port
// claims, and finds the queue pair that a packet is for.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_QPN_TABLE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_QPN_TABLE_H_

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "dat/backend_kit/spin_lock.h"
#include "dat/base/status.h"
#include "provider_softnet/driver/channel.h"
#include "provider_softnet/udp/qpn_block.h"

namespace softdat::softnet {

// T has counted references (Ref, Unref). Any thread.
template <typename T>
class QpnTable {
 public:
  using Clock = QpnBlock::Clock;

  // `claim` finds another block of numbers for this member (UdpPort::ClaimBlock). `random` draws
  // where a block begins. Both are called one at a time.
  QpnTable(std::function<Result<uint32_t>()> claim, std::function<uint64_t()> random)
      : claim_(std::move(claim)), random_(std::move(random)) {}
  QpnTable(const QpnTable&) = delete;
  QpnTable& operator=(const QpnTable&) = delete;

  // Gives `owner` a number, and holds a reference to it until Release.
  Result<uint32_t> Allocate(RefPtr<T> owner, Clock::time_point now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& block : owned_) {
      if (const auto index = block->numbers.Allocate(now)) return Put(*block, *index, &owner);
    }
    Result<uint32_t> claimed = claim_();
    if (!claimed.ok()) return claimed;
    owned_.push_back(std::make_unique<Block>(claimed.value(), random_()));
    Block& block = *owned_.back();
    blocks_[block.number].store(&block, std::memory_order_release);
    return Put(block, *block.numbers.Allocate(now), &owner);
  }

  // Nothing is found under `qpn` any more. It is not given out again before `free_from`.
  void Release(uint32_t qpn, Clock::time_point free_from) {
    RefPtr<T> before;  // let go of without a lock
    const std::lock_guard<std::mutex> lock(mutex_);
    Block* const block = BlockOf(qpn);
    if (block == nullptr) return;
    const uint32_t index = qpn % kQpnsPerBlock;
    {
      const std::lock_guard<SpinLock> entry(block->lock);
      if (!block->owners[index]) return;
      before = std::exchange(block->owners[index], {});
    }
    block->numbers.Release(index, free_from);
  }

  // The queue pair with this number, if there is one.
  RefPtr<T> Find(uint32_t qpn) const {
    Block* const block = BlockOf(qpn);
    if (block == nullptr) return {};
    const std::lock_guard<SpinLock> lock(block->lock);
    return block->owners[qpn % kQpnsPerBlock];
  }

 private:
  struct Block {
    Block(uint32_t own_number, uint64_t first) : number(own_number), numbers(first) {}
    const uint32_t number;
    QpnBlock numbers;  // guarded by the table's mutex
    SpinLock lock;     // protects owners
    std::array<RefPtr<T>, kQpnsPerBlock> owners;
  };

  Block* BlockOf(uint32_t qpn) const {
    return blocks_[BlockOfQpn(qpn)].load(std::memory_order_acquire);
  }
  static uint32_t Put(Block& block, uint32_t index, RefPtr<T>* owner) {
    const std::lock_guard<SpinLock> lock(block.lock);
    block.owners[index] = std::move(*owner);
    return block.number * kQpnsPerBlock + index;
  }

  std::mutex mutex_;  // guards the numbers of all blocks, owned_, claim_ and random_
  const std::function<Result<uint32_t>()> claim_;
  const std::function<uint64_t()> random_;
  std::vector<std::unique_ptr<Block>> owned_;
  // The same blocks for Find, which takes no lock for them. Set once under mutex_.
  std::array<std::atomic<Block*>, kBlocks> blocks_{};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_QPN_TABLE_H_
