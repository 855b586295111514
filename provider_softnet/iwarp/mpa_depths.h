// SPDX-License-Identifier: BSD-3-Clause
// How many reads the depths of a consumer become on the wire, and what both ends settle on.
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_DEPTHS_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_DEPTHS_H_

#include <algorithm>
#include <cstdint>

#include "wire/iwarp/mpa.h"

namespace softdat::softnet {

// A queue depth in the range of the 14-bit field.
inline uint16_t WireDepth(uint32_t depth) {
  return static_cast<uint16_t>(std::min<uint32_t>(depth, iwarp::kMpaMaxDepth));
}

// The depth on the wire. Confirmations are reads, whatever the consumer asks for, and a few of them
// keep a stream of messages going.
inline uint16_t RequestSlots(uint32_t depth) { return WireDepth(std::max<uint32_t>(depth, 4)); }

// The smaller of our own depth and the peer's. Our own if the peer stated none (RFC 6581 §4.3).
inline uint16_t SettleDepth(uint32_t own, uint16_t stated) {
  if (stated == iwarp::kMpaDepthUnspecified) return WireDepth(own);
  return std::min(WireDepth(own), stated);
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_DEPTHS_H_
