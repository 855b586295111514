// SPDX-License-Identifier: BSD-3-Clause
// The header that SoftDAT may put before a consumer's private data. It is the same on every wire,
// so that back ends over different libraries understand each other:
//   0  8  magic
//   8  8  a number, big-endian
//
// A connection qualifier above 65535 does not fit a port. Then, and only then, the private data of
// a connection request begin with the header, with kQualifierMagic and the whole qualifier. A
// refusal by the back end itself, as opposed to the consumer's reject, carries only the header,
// with kRefusalMagic and a reason.

#ifndef SOFTDAT_WIRE_PRIVATE_HEADER_H_
#define SOFTDAT_WIRE_PRIVATE_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "wire/bytes.h"

namespace softdat {

inline constexpr uint64_t kMaxPortQualifier = 65535;
inline constexpr size_t kPrivateHeaderSize = 16;
/// "SDATCQ", version 1, and an octet that is not text.
inline constexpr uint64_t kQualifierMagic = 0x53444154'435101bf;
/// "SDATNP", the same.
inline constexpr uint64_t kRefusalMagic = 0x53444154'4e5001bf;

/// `out` has room for kPrivateHeaderSize octets.
inline void StorePrivateHeader(uint8_t* out, uint64_t magic, uint64_t value) {
  StoreBe64(out, magic);
  StoreBe64(out + 8, value);
}

/// Whether `data` begins with the header with this magic. If so, returns its number in `value`.
inline bool FindPrivateHeader(ByteSpan data, uint64_t magic, uint64_t* value) {
  if (data.size() < kPrivateHeaderSize || LoadBe64(data.data()) != magic) return false;
  *value = LoadBe64(data.data() + 8);
  return true;
}

}  // namespace softdat

#endif  // SOFTDAT_WIRE_PRIVATE_HEADER_H_
