// SPDX-License-Identifier: BSD-3-Clause
#include "rds/protocol/congestion_map.h"

#include <algorithm>

namespace softdat::rds {

uint64_t CongestionMap::Take(std::span<const uint8_t, kSize> octets) {
  uint64_t freed = 0;
  for (size_t at = 0; at < kSize; at += 8) {
    freed |= LoadLe64(octets_.data() + at) & ~LoadLe64(octets.data() + at);
  }
  std::ranges::copy(octets, octets_.begin());
  return freed;
}

}  // namespace softdat::rds
