// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses of this host's interfaces.
#ifndef SOFTDAT_PROVIDER_VERBS_SOCKET_ADDRESS_H_
#define SOFTDAT_PROVIDER_VERBS_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

namespace softdat::verbs {

// "10.7.0.1:4711", "[fe80::1]:4711"
std::string Text(const sockaddr_storage& address);
size_t AddressSize(const sockaddr_storage& address);
uint16_t PortOfAddress(const sockaddr_storage& address);
void SetPort(uint16_t port, sockaddr_storage* address);
bool SameHost(const sockaddr_storage& a, const sockaddr_storage& b);
// 127.0.0.0/8, ::1
bool IsLoopback(const sockaddr_storage& address);
bool IsWildcard(const sockaddr_storage& address);
// A multicast group or the limited broadcast address: no connection leads there.
bool IsOfNoHost(const sockaddr_storage& address);

// The addresses of an interface: IPv4 before IPv6, global before link-local (which carry their
// scope).
std::vector<sockaddr_storage> AddressesOf(const std::string& netdev);
// The first of that family; false when there is none.
bool AddressOfFamily(const std::string& netdev, int family, sockaddr_storage* address);
// Whether the address is one of this host.
bool IsLocalAddress(const sockaddr_storage& address);
// Interfaces that are up, in the kernel's order.
std::vector<std::string> InterfacesUp();

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_SOCKET_ADDRESS_H_
