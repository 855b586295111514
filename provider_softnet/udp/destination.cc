// SPDX-License-Identifier: BSD-3-Clause
// Flow and Destination.
#include "provider_softnet/udp/destination.h"

#include <netinet/in.h>
#include <string.h>

#include "dat/base/socket_address.h"

namespace softdat::softnet {
namespace {

template <size_t kSize>
std::array<uint8_t, kSize> Octets(const void* address) {
  std::array<uint8_t, kSize> out;
  memcpy(out.data(), address, kSize);
  return out;
}

std::array<uint8_t, 4> Ipv4Of(const sockaddr_storage& a) {
  return Octets<4>(&reinterpret_cast<const sockaddr_in&>(a).sin_addr);
}
std::array<uint8_t, 16> Ipv6Of(const sockaddr_storage& a) {
  return Octets<16>(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr);
}

sockaddr_storage AtRocePort(sockaddr_storage peer) {
  SetSocketPort(roce::kUdpPort, &peer);
  return peer;
}

}  // namespace

Flow::Flow(const sockaddr_storage& source, const sockaddr_storage& destination) {
  if (destination.ss_family == AF_INET) {
    flow_ = roce::Ipv4Flow{Ipv4Of(source), Ipv4Of(destination), SocketPort(source),
                           SocketPort(destination)};
  } else {
    flow_ = roce::Ipv6Flow{Ipv6Of(source), Ipv6Of(destination), SocketPort(source),
                           SocketPort(destination)};
  }
}

Destination::Destination(const sockaddr_storage& source, const sockaddr_storage& peer)
    : address_(AtRocePort(peer)),
      address_size_(AddressSize(address_)),
      may_be_cut_(SameHost(source, peer) || IsLoopback(peer)),
      flow_(source, address_) {}

}  // namespace softdat::softnet
