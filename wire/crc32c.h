// SPDX-License-Identifier: BSD-3-Clause
// CRC32c (Castagnoli, the iSCSI CRC) as MPA uses it: RFC 5044 §4.4, RFC 3720 §12.1. Computed by
// ISA-L.

#ifndef SOFTDAT_WIRE_CRC32C_H_
#define SOFTDAT_WIRE_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"

namespace softdat {

/// The running state before the first octet. A state is not a CRC value: Crc32cFinish makes it one.
inline constexpr uint32_t kCrc32cInit = 0xffffffffu;

/// Octets that a CRC32c takes on the wire.
inline constexpr size_t kCrc32cSize = 4;

/// Runs `size` octets at `data` through `state` and returns the new state.
/// `data` may be null when `size` is 0.
uint32_t Crc32cExtend(uint32_t state, const void* data, size_t size);

/// The same over scattered pieces, in order.
inline uint32_t Crc32cExtend(uint32_t state, std::span<const ByteSpan> pieces) {
  for (const ByteSpan& piece : pieces) state = Crc32cExtend(state, piece.data(), piece.size());
  return state;
}

/// The CRC value that belongs to a running state.
constexpr uint32_t Crc32cFinish(uint32_t state) { return ~state; }

/// CRC value of one contiguous buffer: "123456789" gives 0xe3069283.
inline uint32_t Crc32c(const void* data, size_t size) {
  return Crc32cFinish(Crc32cExtend(kCrc32cInit, data, size));
}

/// Writes a CRC value in wire order: least significant octet first, unlike every other iWARP field.
inline void StoreCrc32c(uint8_t* out, uint32_t value) { StoreLe32(out, value); }

/// Reads a CRC value in wire order.
inline uint32_t LoadCrc32c(const uint8_t* in) { return LoadLe32(in); }

}  // namespace softdat

#endif  // SOFTDAT_WIRE_CRC32C_H_
