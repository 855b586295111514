// SPDX-License-Identifier: BSD-3-Clause
// Whether this host knows a way to another one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROUTE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROUTE_H_

#include <sys/socket.h>

namespace softdat::softnet {

// 0, or the errno that says why nothing can be sent from one address to the other. Sends nothing.
int RouteError(const sockaddr_storage& from, const sockaddr_storage& to);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROUTE_H_
