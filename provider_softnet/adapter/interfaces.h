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
  std::vector<sockaddr_storage> addresses;
  // The adapter's: the one that was asked for, or IPv4 before IPv6, global before link-local.
  // AF_UNSPEC if there is none.
  sockaddr_storage address{};
  bool chosen = false;  // it was asked for
};

// Why an adapter cannot be opened on this interface. Empty when it can.
std::string UnavailableReason(const Interface& i);

// All interfaces, in the kernel's order. None if the kernel cannot be asked.
std::vector<Interface> ListInterfaces();

// The interface of that name, if it is usable. The name may be followed by a slash and one of its
// addresses, without a zone. Fails with kNotFound (and lists the names that exist), with
// kUnreachable (it is down, has no address or not that one), with kAddressUnsupported (what follows
// the slash is no address), or with kNoResources (the kernel cannot be asked).
Result<Interface> FindInterface(const std::string& device);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_ADAPTER_INTERFACES_H_
