// SPDX-License-Identifier: BSD-3-Clause
// Unaligned big- and little-endian loads and stores, each one instruction (plus a byte swap).

#ifndef SOFTDAT_WIRE_BYTES_H_
#define SOFTDAT_WIRE_BYTES_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace softdat {

/// A run of read-only octets, as it stands on the wire.
using ByteSpan = std::span<const uint8_t>;

namespace wire_internal {

constexpr uint16_t Swap(uint16_t v) { return __builtin_bswap16(v); }
constexpr uint32_t Swap(uint32_t v) { return __builtin_bswap32(v); }
constexpr uint64_t Swap(uint64_t v) { return __builtin_bswap64(v); }

template <typename T, std::endian kOrder>
inline T Load(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return std::endian::native == kOrder ? v : Swap(v);
}

template <typename T, std::endian kOrder>
inline void Store(uint8_t* p, T v) {
  const T w = std::endian::native == kOrder ? v : Swap(v);
  std::memcpy(p, &w, sizeof w);
}

}  // namespace wire_internal

inline uint16_t LoadBe16(const uint8_t* p) {
  return wire_internal::Load<uint16_t, std::endian::big>(p);
}
inline uint32_t LoadBe32(const uint8_t* p) {
  return wire_internal::Load<uint32_t, std::endian::big>(p);
}
inline uint64_t LoadBe64(const uint8_t* p) {
  return wire_internal::Load<uint64_t, std::endian::big>(p);
}
inline uint16_t LoadLe16(const uint8_t* p) {
  return wire_internal::Load<uint16_t, std::endian::little>(p);
}
inline uint32_t LoadLe32(const uint8_t* p) {
  return wire_internal::Load<uint32_t, std::endian::little>(p);
}
inline uint64_t LoadLe64(const uint8_t* p) {
  return wire_internal::Load<uint64_t, std::endian::little>(p);
}

inline void StoreBe16(uint8_t* p, uint16_t v) {
  wire_internal::Store<uint16_t, std::endian::big>(p, v);
}
inline void StoreBe32(uint8_t* p, uint32_t v) {
  wire_internal::Store<uint32_t, std::endian::big>(p, v);
}
inline void StoreBe64(uint8_t* p, uint64_t v) {
  wire_internal::Store<uint64_t, std::endian::big>(p, v);
}
inline void StoreLe16(uint8_t* p, uint16_t v) {
  wire_internal::Store<uint16_t, std::endian::little>(p, v);
}
inline void StoreLe32(uint8_t* p, uint32_t v) {
  wire_internal::Store<uint32_t, std::endian::little>(p, v);
}
inline void StoreLe64(uint8_t* p, uint64_t v) {
  wire_internal::Store<uint64_t, std::endian::little>(p, v);
}

}  // namespace softdat

#endif  // SOFTDAT_WIRE_BYTES_H_
