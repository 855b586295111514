// SPDX-License-Identifier: BSD-3-Clause
// Consumers' socket addresses: copied according to their family, and never trusted further.
#ifndef SOFTDAT_DAT_ENGINE_SOCKET_ADDRESS_H_
#define SOFTDAT_DAT_ENGINE_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include "dat2/udat.h"

namespace softdat::engine {

// Returns DAT_SUCCESS, or INVALID_ADDRESS: MALFORMED without a family, UNSUPPORTED with a family
// that is not IPv4 or IPv6.
DAT_RETURN CopySocketAddress(const DAT_SOCK_ADDR* from, sockaddr_storage* to);

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_SOCKET_ADDRESS_H_
