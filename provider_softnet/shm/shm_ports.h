// SPDX-License-Identifier: BSD-3-Clause
// The ports of this wire on which this process listens. They are names of local sockets.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_PORTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_PORTS_H_

#include <string>

#include "dat/base/process_wide.h"
#include "provider_softnet/connection/port_registry.h"

namespace softdat::softnet {

ProcessWide<PortRegistry>& ShmPorts();

// Listens at the host's port; "" is every local address. *port 0 chooses one. kInUse, kNoResources.
Result<UniqueFd> OpenShmPort(const std::string& host, uint16_t* port);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_SHM_PORTS_H_
