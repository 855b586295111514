// SPDX-License-Identifier: BSD-3-Clause
// Consumers' socket addresses: copied by family, never trusted further.
#ifndef SOFTDAT_DAT_ENGINE_SOCKET_ADDRESS_H_
#define SOFTDAT_DAT_ENGINE_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>

#include "dat2/udat.h"

namespace softdat::engine {

// DAT_SUCCESS, or INVALID_ADDRESS: MALFORMED without a family, UNSUPPORTED with one that is not
// IPv4 or IPv6.
DAT_RETURN CopySocketAddress(const DAT_SOCK_ADDR* from, sockaddr_storage* to);

// Host order; the address is IPv4 or IPv6.
uint16_t SocketPort(const sockaddr_storage& address);
void SetSocketPort(uint16_t port, sockaddr_storage* address);
// 0.0.0.0 or ::
bool IsWildcard(const sockaddr_storage& address);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_SOCKET_ADDRESS_H_
