// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses of consumers.
#include "dat/engine/socket_address.h"

#include <netinet/in.h>

#include <cstring>
#include <string>

#include "dat/engine/dat_error.h"

namespace softdat::engine {

DAT_RETURN CopySocketAddress(const DAT_SOCK_ADDR* from, sockaddr_storage* to) {
  std::memset(to, 0, sizeof(*to));
  switch (from->sa_family) {
    case AF_INET:
      std::memcpy(to, from, sizeof(sockaddr_in));
      return DAT_SUCCESS;
    case AF_INET6:
      std::memcpy(to, from, sizeof(sockaddr_in6));
      return DAT_SUCCESS;
    case AF_UNSPEC:
      return Error(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_MALFORMED, "the address has no family");
    default:
      return Error(
          DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED,
          "address family " + std::to_string(from->sa_family) + " is neither IPv4 nor IPv6");
  }
}

namespace {

// The address as what its family says it is; sockaddr types may not alias each other.
template <typename T>
T As(const sockaddr_storage& address) {
  T t;
  std::memcpy(&t, &address, sizeof(t));
  return t;
}

}  // namespace

uint16_t SocketPort(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET ? As<sockaddr_in>(address).sin_port
                                            : As<sockaddr_in6>(address).sin6_port);
}

void SetSocketPort(uint16_t port, sockaddr_storage* address) {
  if (address->ss_family == AF_INET) {
    auto in = As<sockaddr_in>(*address);
    in.sin_port = htons(port);
    std::memcpy(address, &in, sizeof(in));
  } else {
    auto in6 = As<sockaddr_in6>(*address);
    in6.sin6_port = htons(port);
    std::memcpy(address, &in6, sizeof(in6));
  }
}

bool IsWildcard(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET)
    return As<sockaddr_in>(address).sin_addr.s_addr == htonl(INADDR_ANY);
  const auto in6 = As<sockaddr_in6>(address);
  return IN6_IS_ADDR_UNSPECIFIED(&in6.sin6_addr);
}

}  // namespace softdat::engine
