// SPDX-License-Identifier: BSD-3-Clause
// The header in front of a received datagram's payload (transport::kDatagramHeader), as RoCEv2 has
// it, for back ends that do not get it from a device.
#ifndef SOFTDAT_DAT_BACKEND_KIT_DATAGRAM_HEADER_H_
#define SOFTDAT_DAT_BACKEND_KIT_DATAGRAM_HEADER_H_

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace softdat {

inline constexpr size_t kDatagramHeaderSize = 40;
using DatagramHeader = std::array<uint8_t, kDatagramHeaderSize>;

// The IPv6 header of the packet, or 20 zeros and its IPv4 header with the right checksum, by which
// Linux tells the two apart. What a receiver cannot know (class, flow, identification, remaining
// hops) is as its sender most likely wrote it. `from` and `to` are of the same family, IPv4 or
// IPv6. `udp_payload`: octets behind the UDP header.
DatagramHeader MakeDatagramHeader(const sockaddr_storage& from, const sockaddr_storage& to,
                                  size_t udp_payload);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BACKEND_KIT_DATAGRAM_HEADER_H_
