// SPDX-License-Identifier: BSD-3-Clause
// The TCP ports on which this process listens.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_PORTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_PORTS_H_

#include <chrono>

#include "dat/base/process_wide.h"
#include "provider_softnet/connection/port_registry.h"

namespace softdat::softnet {

ProcessWide<PortRegistry>& TcpPorts();

// Listens at the address; null is every local address. *port 0 chooses one. `conn_qual` is for
// texts. What is accepted has inherited PrepareStream(). kInUse, kNoResources, kAddressUnsupported.
Result<UniqueFd> OpenTcpPort(const sockaddr_storage* address, uint64_t conn_qual,
                             std::chrono::milliseconds dead_path, uint16_t* port);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_TCP_PORTS_H_
