// SPDX-License-Identifier: BSD-3-Clause
// Which ports of an address have more waiting for them than their sockets want: a bit for each
// port. An address sends its whole map to its peers whenever a bit has changed.
#ifndef SOFTDAT_RDS_PROTOCOL_CONGESTION_MAP_H_
#define SOFTDAT_RDS_PROTOCOL_CONGESTION_MAP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/bytes.h"

namespace softdat::rds {

class CongestionMap {
 public:
  static constexpr size_t kSize = 8192;  // octets, on the wire as well

  bool Has(uint16_t port) const { return (octets_[port / 8] >> port % 8 & 1) != 0; }
  // Whether that is new.
  bool Set(uint16_t port) { return Change(port, true); }
  bool Clear(uint16_t port) { return Change(port, false); }

  ByteSpan octets() const { return octets_; }
  bool operator==(const CongestionMap&) const = default;
  // Adds the ports of another map.
  void Merge(const CongestionMap& other) {
    for (size_t i = 0; i < kSize; ++i) octets_[i] |= other.octets_[i];
  }
  // Takes a map that a peer has sent. Returns the groups in which a port has become free: ports
  // with the same remainder by 64 are a group, and bit n stands for that of remainder n.
  uint64_t Take(std::span<const uint8_t, kSize> octets);

 private:
  bool Change(uint16_t port, bool congested) {
    if (Has(port) == congested) return false;
    octets_[port / 8] = static_cast<uint8_t>(octets_[port / 8] ^ 1u << port % 8);
    return true;
  }

  std::array<uint8_t, kSize> octets_{};  // bit p % 8 of octet p / 8 is port p
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_PROTOCOL_CONGESTION_MAP_H_
