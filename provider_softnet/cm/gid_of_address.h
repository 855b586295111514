// SPDX-License-Identifier: BSD-3-Clause
// The GID that stands for a host over RoCE: the host itself, without port and zone. IPv4 and the
// same written as IPv6 are one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_GID_OF_ADDRESS_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_GID_OF_ADDRESS_H_

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>

#include "wire/rdmacm/cm_messages.h"
#include "wire/rdmacm/ip_header.h"

namespace softdat::softnet {

// None for what is neither IPv4 nor IPv6.
inline std::optional<rdmacm::Gid> GidOfAddress(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof(in));
    std::array<uint8_t, 4> ipv4;
    std::memcpy(ipv4.data(), &in.sin_addr, ipv4.size());
    return rdmacm::GidOf(4, rdmacm::HeaderAddressOf(ipv4));
  }
  if (address.ss_family != AF_INET6) return std::nullopt;
  sockaddr_in6 in6;
  std::memcpy(&in6, &address, sizeof(in6));
  rdmacm::Gid gid;
  std::memcpy(gid.data(), &in6.sin6_addr, gid.size());
  return gid;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_GID_OF_ADDRESS_H_
