// SPDX-License-Identifier: BSD-3-Clause
// CRC-32 of Ethernet (polynomial 0x04c11db7, reflected), which InfiniBand's invariant CRC uses:
// IBTA vol. 1 §7.8.1. Computed by ISA-L.

#ifndef SOFTDAT_WIRE_CRC32_H_
#define SOFTDAT_WIRE_CRC32_H_

#include <cstddef>
#include <cstdint>

namespace softdat {

/// The running state before the first octet. A state is not a CRC value: Crc32Finish makes it one.
inline constexpr uint32_t kCrc32Init = 0xffffffffu;

/// Runs `size` octets at `data` through `state` and returns the new state.
/// `data` may be null when `size` is 0.
uint32_t Crc32Extend(uint32_t state, const void* data, size_t size);

/// The CRC value that belongs to a running state.
constexpr uint32_t Crc32Finish(uint32_t state) { return ~state; }

/// CRC value of one contiguous buffer: "123456789" gives 0xcbf43926.
inline uint32_t Crc32(const void* data, size_t size) {
  return Crc32Finish(Crc32Extend(kCrc32Init, data, size));
}

}  // namespace softdat

#endif  // SOFTDAT_WIRE_CRC32_H_
