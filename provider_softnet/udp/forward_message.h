// SPDX-License-Identifier: BSD-3-Clause
// What one member sends to another. Pure functions over bytes.
//
// When it hands a packet on: who sent the packet, and the packet as it came.
//
//   0   4  magic 53 44 52 01 ("SDR", version 1)
//   4   2  IP version of the sender's address, 4 or 6, big-endian
//   6   2  its port, big-endian
//   8  16  its address; of IPv4 the first four bytes, the others zero
//   24  4  its scope (a link of this host), big-endian; 0 for IPv4
//   28  n  the UDP payload
//
// When it offers a connection request, which a consumer hands off: who asks, and for what.
//
//   0   4  magic 53 44 48 01 ("SDH", version 1)
//   4  24  the requester's address, as above
//   28  8  the qualifier of the service point that it is offered to, big-endian
//   36  n  the REQ as it came, a MAD
//
// Two descriptors of local sockets come with an offer. By the first one the other member answers it
// (handoff_sockets.h). The second one is its end of a lease (udp_wire/handoff_lease.h).
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_FORWARD_MESSAGE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_FORWARD_MESSAGE_H_

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace softdat::softnet {

inline constexpr size_t kForwardPrefixSize = 28;
using ForwardPrefix = std::array<uint8_t, kForwardPrefixSize>;

// `source` is IPv4 or IPv6.
ForwardPrefix EncodeForwardPrefix(const sockaddr_storage& source);

struct ForwardedPacket {
  sockaddr_storage source{};
  std::span<const uint8_t> datagram;  // not looked into
};
// Nothing for bytes that are no message of this version. The packet points into `in`.
std::optional<ForwardedPacket> DecodeForward(std::span<const uint8_t> in);

inline constexpr size_t kOfferPrefixSize = kForwardPrefixSize + 8;
using OfferPrefix = std::array<uint8_t, kOfferPrefixSize>;

struct MemberOffer {
  sockaddr_storage source{};  // IPv4 or IPv6
  uint64_t conn_qual = 0;
  std::span<const uint8_t> mad;  // not looked into
};
// Without the MAD, which follows.
OfferPrefix EncodeOfferPrefix(const MemberOffer& offer);
// Nothing for bytes that are no offer of this version. The MAD points into `in`.
std::optional<MemberOffer> DecodeOffer(std::span<const uint8_t> in);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_FORWARD_MESSAGE_H_
