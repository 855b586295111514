// SPDX-License-Identifier: BSD-3-Clause
// Questions about one socket address. Any address is allowed; one that is neither IPv4 nor IPv6 is
// like no other.
#ifndef SOFTDAT_DAT_BASE_SOCKET_ADDRESS_H_
#define SOFTDAT_DAT_BASE_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace softdat {

// 0 when it is neither IPv4 nor IPv6.
socklen_t AddressSize(const sockaddr_storage& address);
// Host order; the address is IPv4 or IPv6.
uint16_t SocketPort(const sockaddr_storage& address);
void SetSocketPort(uint16_t port, sockaddr_storage* address);

// "127.0.0.1", "fe80::1%eth0".
std::string HostText(const sockaddr_storage& address);
// "127.0.0.1:7", "[fe80::1%eth0]:7".
std::string AddressText(const sockaddr_storage& address);

// Whatever the ports are.
bool SameHost(const sockaddr_storage& a, const sockaddr_storage& b);
// 127.0.0.0/8, ::1
bool IsLoopback(const sockaddr_storage& address);
// 0.0.0.0, ::
bool IsWildcard(const sockaddr_storage& address);
// A multicast group or the limited broadcast address: no connection leads there.
bool IsOfNoHost(const sockaddr_storage& address);
// An IPv4 address as an IPv6 socket shows it (::ffff:127.0.0.1) becomes IPv4 again. The functions
// above take it for what it is written as.
sockaddr_storage Unmapped(const sockaddr_storage& address);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_SOCKET_ADDRESS_H_
