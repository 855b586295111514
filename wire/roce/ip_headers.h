// SPDX-License-Identifier: BSD-3-Clause
// Takes an IP packet of a vector or a capture apart, for tests.

#ifndef SOFTDAT_WIRE_ROCE_IP_HEADERS_H_
#define SOFTDAT_WIRE_ROCE_IP_HEADERS_H_

#include <cstdint>
#include <variant>

#include "wire/bytes.h"
#include "wire/roce/icrc.h"

namespace softdat::roce {

struct Datagram {
  std::variant<Ipv4Flow, Ipv6Flow> flow;
  ByteSpan payload;  ///< From the BTH to the ICRC.

  uint32_t Start() const {
    return std::visit([this](const auto& f) { return IcrcStart(f, payload.size()); }, flow);
  }
};

/// `ip` begins with the IP header. Anything but one whole UDP datagram in an IPv4 packet without
/// options or an IPv6 packet fails the calling test, and gives no payload.
Datagram ParseIp(ByteSpan ip);

}  // namespace softdat::roce

#endif  // SOFTDAT_WIRE_ROCE_IP_HEADERS_H_
