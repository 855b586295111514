// SPDX-License-Identifier: BSD-3-Clause
// The network interfaces of this host, as adapters see them.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ADAPTER_INTERFACES_H_
#define SOFTDAT_PROVIDER_SOFTNET_ADAPTER_INTERFACES_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dat/base/status.h"

namespace softdat::softnet {

struct Interface {
  std::string name;
  uint32_t index = 0;
  uint32_t mtu = 0;  // bytes
  bool up = false;
  sockaddr_storage address{};  // IPv4 before IPv6, global before link-local; AF_UNSPEC if none
};

// Why an adapter cannot be opened on this interface. Empty when it can.
std::string UnavailableReason(const Interface& i);

// All interfaces, in the kernel's order.
std::vector<Interface> ListInterfaces();

// The interface of that name, if it is usable. Fails with kNotFound (and lists the names that
// exist), or with kUnreachable (it is down or has no address).
Result<Interface> FindInterface(const std::string& name);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ADAPTER_INTERFACES_H_
