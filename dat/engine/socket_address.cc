// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses of consumers.
#include "dat/engine/socket_address.h"

#include <netinet/in.h>

#include <cstring>
#include <string>

#include "dat/engine/object/dat_error.h"

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

}  // namespace softdat::engine
