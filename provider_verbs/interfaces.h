// SPDX-License-Identifier: BSD-3-Clause
// The interfaces of this host and their addresses.
#ifndef SOFTDAT_PROVIDER_VERBS_INTERFACES_H_
#define SOFTDAT_PROVIDER_VERBS_INTERFACES_H_

#include <sys/socket.h>

#include <string>
#include <vector>

namespace softdat::verbs {

// The addresses of an interface: IPv4 before IPv6, global before link-local (which carry their
// scope).
std::vector<sockaddr_storage> AddressesOf(const std::string& netdev);
// The first address of that family. False when there is none.
bool AddressOfFamily(const std::string& netdev, int family, sockaddr_storage* address);
// Interfaces that are up, in the kernel's order.
std::vector<std::string> InterfacesUp();

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_INTERFACES_H_
