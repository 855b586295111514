// SPDX-License-Identifier: BSD-3-Clause
// The header in front of a datagram's payload, like that of a datagram that crossed a network over
// RoCEv2.
#ifndef SOFTDAT_PROVIDER_TOY_DATAGRAM_HEADER_H_
#define SOFTDAT_PROVIDER_TOY_DATAGRAM_HEADER_H_

#include <sys/socket.h>

#include <array>
#include <cstdint>

#include "dat/transport/transport.h"

namespace softdat::toy {

using DatagramHeader = std::array<uint8_t, transport::kDatagramHeader>;

// `from` and `to` must be of the same family, IPv4 or IPv6. `payload` is in bytes.
DatagramHeader MakeDatagramHeader(const sockaddr_storage& from, const sockaddr_storage& to,
                                  uint64_t payload);

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_DATAGRAM_HEADER_H_
