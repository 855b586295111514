// SPDX-License-Identifier: BSD-3-Clause
// Which numbers of a block of queue pair numbers are in use. A number that was released rests until
// the time-wait of its connection is over and the other numbers have had their turn, so that late
// packets of the old connection do not meet a new one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_QPN_BLOCK_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_QPN_BLOCK_H_

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

#include "provider_softnet/udp/member_names.h"

namespace softdat::softnet {

// Not thread-safe.
class QpnBlock {
 public:
  using Clock = std::chrono::steady_clock;

  // `first`: the index that is given out first, any number.
  explicit QpnBlock(uint64_t first) : next_(static_cast<uint32_t>(first % kQpnsPerBlock)) {}

  // An index, the least recently used ones first. Nothing when all are used or rest.
  std::optional<uint32_t> Allocate(Clock::time_point now) {
    for (uint32_t tries = 0; tries < kQpnsPerBlock; ++tries) {
      const uint32_t index = next_;
      next_ = (next_ + 1) % kQpnsPerBlock;
      if (free_from_[index] > now) continue;
      free_from_[index] = kUsed;
      return index;
    }
    return std::nullopt;
  }
  void Release(uint32_t index, Clock::time_point free_from) { free_from_[index] = free_from; }

 private:
  static constexpr Clock::time_point kUsed = Clock::time_point::max();
  uint32_t next_;
  std::array<Clock::time_point, kQpnsPerBlock> free_from_{};
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_QPN_BLOCK_H_
