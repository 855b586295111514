// SPDX-License-Identifier: BSD-3-Clause
// The endpoint that sends a request, in the last octets of a SIDR_REQ's private data: a magic
// number, its QPN and its Q_Key. The standard's message does not name the endpoint, but DAT's
// datagram extension tells it to the side that accepts. A peer that knows only rdma_cm looks for
// the consumer's data in front, and finds it there.

#ifndef SOFTDAT_WIRE_RDMACM_DATAGRAM_IDENTITY_H_
#define SOFTDAT_WIRE_RDMACM_DATAGRAM_IDENTITY_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"

namespace softdat::rdmacm {

inline constexpr size_t kDatagramIdentitySize = 12;
/// "SDU", version 1.
inline constexpr uint32_t kDatagramIdentityMagic = 0x53445501;

struct DatagramIdentity {
  uint32_t qpn = 0;  ///< 24 bits.
  uint32_t qkey = 0;

  bool operator==(const DatagramIdentity&) const = default;
};

inline void StoreDatagramIdentity(const DatagramIdentity& identity,
                                  std::span<uint8_t, kDatagramIdentitySize> out) {
  StoreBe32(out.data(), kDatagramIdentityMagic);
  StoreBe32(out.data() + 4, identity.qpn & 0xffffff);
  StoreBe32(out.data() + 8, identity.qkey);
}

/// Whether `private_data` end with an identity. `out` is written only if they do.
inline bool FindDatagramIdentity(ByteSpan private_data, DatagramIdentity* out) {
  if (private_data.size() < kDatagramIdentitySize) return false;
  const uint8_t* p = private_data.last<kDatagramIdentitySize>().data();
  if (LoadBe32(p) != kDatagramIdentityMagic || LoadBe32(p + 4) > 0xffffff) return false;
  *out = {LoadBe32(p + 4), LoadBe32(p + 8)};
  return true;
}

}  // namespace softdat::rdmacm

#endif  // SOFTDAT_WIRE_RDMACM_DATAGRAM_IDENTITY_H_
