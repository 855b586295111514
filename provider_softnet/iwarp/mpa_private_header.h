// SPDX-License-Identifier: BSD-3-Clause
// The 16 bytes that may stand before the consumer's private data (see mpa_handshake.h).
#ifndef SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_PRIVATE_HEADER_H_
#define SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_PRIVATE_HEADER_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "provider_softnet/iwarp/mpa_handshake.h"
#include "wire/bytes.h"

namespace softdat::softnet {

inline constexpr uint64_t kQualifierMagic = 0x53444154'435101bf;
inline constexpr uint64_t kRefusalMagic = 0x53444154'4e5001bf;

inline void StorePrivateHeader(uint8_t* out, uint64_t magic, uint64_t value) {
  StoreBe64(out, magic);
  StoreBe64(out + 8, value);
}

// Whether the header with this magic leads `data`; then its value.
inline bool FindPrivateHeader(ByteSpan data, uint64_t magic, uint64_t* value) {
  if (data.size() < kPrivateHeaderSize || LoadBe64(data.data()) != magic) return false;
  *value = LoadBe64(data.data() + 8);
  return true;
}

// A queue depth as the 14-bit field can state it.
inline uint16_t WireDepth(uint32_t depth) {
  return static_cast<uint16_t>(std::min<uint32_t>(depth, iwarp::kMpaMaxDepth));
}

// What a depth becomes on the wire: confirmations are reads, whatever the consumer asks for, and a
// few of them keep a stream of messages going.
inline uint16_t RequestSlots(uint32_t depth) { return WireDepth(std::max<uint32_t>(depth, 4)); }

// The smaller of an own depth and what the peer stated, unless it stated nothing (RFC 6581 §4.3).
inline uint16_t SettleDepth(uint32_t own, uint16_t stated) {
  if (stated == iwarp::kMpaDepthUnspecified) return WireDepth(own);
  return std::min(WireDepth(own), stated);
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_IWARP_MPA_PRIVATE_HEADER_H_
