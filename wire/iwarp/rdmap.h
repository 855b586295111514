// SPDX-License-Identifier: BSD-3-Clause
// RDMAP payloads of fixed size: Read Request (RFC 5040 §4.4), Atomic Request and Response,
// Immediate Data (RFC 7306 §5.1, §6).

#ifndef SOFTDAT_WIRE_IWARP_RDMAP_H_
#define SOFTDAT_WIRE_IWARP_RDMAP_H_

#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"
#include "wire/iwarp/ddp.h"

namespace softdat::iwarp {

inline constexpr size_t kReadRequestSize = 28;
inline constexpr size_t kAtomicRequestSize = 52;
inline constexpr size_t kAtomicResponseSize = 12;
inline constexpr size_t kImmediateSize = 8;

/// "Place `size` octets from source at sink". The requester names both ends.
struct ReadRequest {
  uint32_t sink_stag = 0;
  uint64_t sink_to = 0;
  uint32_t size = 0;
  uint32_t source_stag = 0;
  uint64_t source_to = 0;

  bool operator==(const ReadRequest&) const = default;
};

/// AOpCode values (RFC 7306 §5.1). The receiver refuses any other.
inline constexpr uint8_t kAtomicFetchAdd = 0;
inline constexpr uint8_t kAtomicCmpSwap = 2;

struct AtomicRequest {
  uint8_t op = kAtomicFetchAdd;  ///< 4 bits.
  uint32_t request_id = 0;       ///< Comes back in the response.
  uint32_t stag = 0;
  uint64_t to = 0;                ///< A multiple of 8.
  uint64_t add_or_swap = 0;       ///< FetchAdd: addend. CmpSwap: new value.
  uint64_t add_or_swap_mask = 0;  ///< FetchAdd: 1 = top bit of an adder. CmpSwap: bits to replace.
  uint64_t compare = 0;
  uint64_t compare_mask = 0;  ///< Bits that are compared.

  bool operator==(const AtomicRequest&) const = default;
};

struct AtomicResponse {
  uint32_t request_id = 0;
  uint64_t original = 0;  ///< Value before the operation.

  bool operator==(const AtomicResponse&) const = default;
};

/// Reads the payload. Returns false, and leaves `out` untouched, unless it has exactly the right
/// size.
inline bool ParseReadRequest(ByteSpan payload, ReadRequest* out) {
  if (payload.size() != kReadRequestSize) return false;
  const uint8_t* p = payload.data();
  *out = {LoadBe32(p), LoadBe64(p + 4), LoadBe32(p + 12), LoadBe32(p + 16), LoadBe64(p + 20)};
  return true;
}

/// Writes kReadRequestSize octets.
inline void EncodeReadRequest(uint8_t* out, const ReadRequest& r) {
  StoreBe32(out, r.sink_stag);
  StoreBe64(out + 4, r.sink_to);
  StoreBe32(out + 12, r.size);
  StoreBe32(out + 16, r.source_stag);
  StoreBe64(out + 20, r.source_to);
}

/// Reads the payload with any AOpCode. Returns false, and leaves `out` untouched, unless it has
/// exactly the right size.
inline bool ParseAtomicRequest(ByteSpan payload, AtomicRequest* out) {
  if (payload.size() != kAtomicRequestSize) return false;
  const uint8_t* p = payload.data();
  *out = {static_cast<uint8_t>(p[3] & 0x0f),
          LoadBe32(p + 4),
          LoadBe32(p + 8),
          LoadBe64(p + 12),
          LoadBe64(p + 20),
          LoadBe64(p + 28),
          LoadBe64(p + 36),
          LoadBe64(p + 44)};
  return true;
}

/// Writes kAtomicRequestSize octets.
inline void EncodeAtomicRequest(uint8_t* out, const AtomicRequest& r) {
  StoreBe32(out, r.op & 0x0fu);
  StoreBe32(out + 4, r.request_id);
  StoreBe32(out + 8, r.stag);
  StoreBe64(out + 12, r.to);
  StoreBe64(out + 20, r.add_or_swap);
  StoreBe64(out + 28, r.add_or_swap_mask);
  StoreBe64(out + 36, r.compare);
  StoreBe64(out + 44, r.compare_mask);
}

/// Reads the payload. Returns false, and leaves `out` untouched, unless it has exactly the right
/// size.
inline bool ParseAtomicResponse(ByteSpan payload, AtomicResponse* out) {
  if (payload.size() != kAtomicResponseSize) return false;
  *out = {LoadBe32(payload.data()), LoadBe64(payload.data() + 4)};
  return true;
}

/// Writes kAtomicResponseSize octets.
inline void EncodeAtomicResponse(uint8_t* out, const AtomicResponse& r) {
  StoreBe32(out, r.request_id);
  StoreBe64(out + 4, r.original);
}

/// Reads Immediate Data as verbs use it: 32 bits in the first four octets, the rest ignored.
/// Returns false, and leaves `out` untouched, unless the payload has exactly the right size.
inline bool ParseImmediate(ByteSpan payload, uint32_t* out) {
  if (payload.size() != kImmediateSize) return false;
  *out = LoadBe32(payload.data());
  return true;
}

/// Writes kImmediateSize octets: the 32 bits, then zeros.
inline void EncodeImmediate(uint8_t* out, uint32_t immediate) {
  StoreBe64(out, static_cast<uint64_t>(immediate) << 32);
}

/// A whole Read Request FPDU up to the CRC needs no pad: 2 + 18 + 28 octets.
inline constexpr size_t kReadRequestFpduHeadSize = kUntaggedFpduHeaderSize + kReadRequestSize;

/// Writes length field, DDP header and payload of a Read Request, kReadRequestFpduHeadSize octets.
/// Only the CRC field follows them.
inline void EncodeReadRequestFpduHead(uint8_t* out, uint32_t msn, const ReadRequest& r) {
  EncodeUntaggedFpduHeader(out, Opcode::kReadRequest, /*last=*/true, 0, kQnReadRequest, msn, 0,
                           kReadRequestSize);
  EncodeReadRequest(out + kUntaggedFpduHeaderSize, r);
}

/// Result of a FetchAdd (RFC 7306 §5.1.1). Every 1 bit of `mask` is the top bit of an independent
/// adder, and no carry leaves an adder. Mask 0 is one 64-bit add modulo 2^64.
constexpr uint64_t FetchAddResult(uint64_t value, uint64_t add, uint64_t mask) {
  // Without their top bits no adder can overflow into the next. The top bits themselves add by xor.
  return ((value & ~mask) + (add & ~mask)) ^ ((value ^ add) & mask);
}

/// Result of a CmpSwap (RFC 7306 §5.1.2): if the bits of `compare_mask` are equal, the bits of
/// `swap_mask` are replaced.
constexpr uint64_t CmpSwapResult(uint64_t value, uint64_t compare, uint64_t compare_mask,
                                 uint64_t swap, uint64_t swap_mask) {
  if (((value ^ compare) & compare_mask) != 0) return value;
  return (value & ~swap_mask) | (swap & swap_mask);
}

}  // namespace softdat::iwarp

#endif  // SOFTDAT_WIRE_IWARP_RDMAP_H_
