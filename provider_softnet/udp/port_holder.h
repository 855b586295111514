// SPDX-License-Identifier: BSD-3-Clause
// Who has UDP port 4791 when it cannot be shared, from the kernel's tables of sockets, and what to
// do about it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_PORT_HOLDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_PORT_HOLDER_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace softdat::softnet {

// A line of /proc/net/udp or udp6.
struct UdpSocketRow {
  sockaddr_storage local;
  uid_t user;
  uint64_t inode;
};
// Lines that are not understood are left out.
std::vector<UdpSocketRow> ParseUdpSockets(std::string_view table, int family);

// Of all sockets of this network namespace, those at the address and port of `wanted`, or at its
// port on all addresses. A socket for all of IPv6 may have IPv4, too.
std::vector<UdpSocketRow> UdpSocketsAt(const sockaddr_storage& wanted);

struct ProcessName {
  pid_t pid;
  std::string name;
};
// The process that has a socket, if this one may look into it.
std::optional<ProcessName> ProcessOfSocket(uint64_t inode);

// "process 12 (dtest) of user 1000 has it; end that process, ...". `process`: who has the socket,
// if one can tell. `rxe_loaded`: the kernel has soft-RoCE.
std::string HolderText(const UdpSocketRow& row, const std::optional<ProcessName>& process,
                       bool rxe_loaded);

// The same for whatever keeps a socket from being bound to `wanted`.
std::string WhoHolds(const sockaddr_storage& wanted);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_PORT_HOLDER_H_
