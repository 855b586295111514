// SPDX-License-Identifier: BSD-3-Clause
// Connection qualifiers are 64 bits wide, TCP ports 16. Up to 65535 a qualifier is the port; above,
// it is folded to an unprivileged port and carried whole in the MPA private data, where the
// listener checks it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_FOLD_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_FOLD_H_

#include <cstdint>

namespace softdat::softnet {

inline constexpr uint64_t kFirstUnprivilegedPort = 1024;

// The port of a qualifier. Above 65535: 1024 + q mod 64512. Neighbouring qualifiers, which programs
// use for neighbouring service points, get neighbouring ports and so never collide with each other.
inline constexpr uint16_t PortOf(uint64_t conn_qual) {
  if (conn_qual <= 65535) return static_cast<uint16_t>(conn_qual);
  return static_cast<uint16_t>(kFirstUnprivilegedPort +
                               conn_qual % (65536 - kFirstUnprivilegedPort));
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_FOLD_H_
