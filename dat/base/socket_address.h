// SPDX-License-Identifier: BSD-3-Clause
// Questions about one socket address. Any address is allowed. One that is neither IPv4 nor IPv6
// equals no other.
#ifndef SOFTDAT_DAT_BASE_SOCKET_ADDRESS_H_
#define SOFTDAT_DAT_BASE_SOCKET_ADDRESS_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace softdat {

// 0 when it is neither IPv4 nor IPv6.
socklen_t AddressSize(const sockaddr_storage& address);
// In host order. The address must be IPv4 or IPv6.
uint16_t SocketPort(const sockaddr_storage& address);
void SetSocketPort(uint16_t port, sockaddr_storage* address);

// "127.0.0.1", "fe80::1%eth0".
std::string HostText(const sockaddr_storage& address);
// "127.0.0.1:7", "[fe80::1%eth0]:7".
std::string AddressText(const sockaddr_storage& address);

// Compares the hosts and ignores the ports.
bool SameHost(const sockaddr_storage& a, const sockaddr_storage& b);
// 127.0.0.0/8, ::1
bool IsLoopback(const sockaddr_storage& address);
// 0.0.0.0, ::
bool IsWildcard(const sockaddr_storage& address);
// A multicast group or the limited broadcast address: no connection leads there.
bool IsOfNoHost(const sockaddr_storage& address);
// Turns an IPv4 address as an IPv6 socket shows it (::ffff:127.0.0.1) into IPv4 again. The
// functions above treat such an address as the IPv6 address that it is written as.
sockaddr_storage Unmapped(const sockaddr_storage& address);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_SOCKET_ADDRESS_H_
