// SPDX-License-Identifier: BSD-3-Clause
// Whether this host knows a way to another one.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROUTE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROUTE_H_

#include <sys/socket.h>

#include "provider_softnet/udp_wire/roce_adapter.h"

namespace softdat::softnet {

// The address that a consumer means, with the link that a link-local one is meant on.
sockaddr_storage PeerAddress(const RoceAdapter& adapter, const sockaddr_storage& remote);

// 0, or the errno that says why nothing can be sent from one address to the other. Sends nothing.
int RouteError(const sockaddr_storage& from, const sockaddr_storage& to);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROUTE_H_
