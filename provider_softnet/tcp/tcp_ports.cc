// SPDX-License-Identifier: BSD-3-Clause
// TcpPorts, OpenTcpPort.
#include "provider_softnet/tcp/tcp_ports.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <string>

#include "dat/base/socket_address.h"
#include "provider_softnet/tcp/socket_util.h"

namespace softdat::softnet {
namespace {

constexpr int kBacklog = 4096;

constinit ProcessWide<PortRegistry> g_ports;

Status BindFailure(int error, uint64_t conn_qual, uint16_t port) {
  const std::string what = conn_qual > 65535
                               ? fmt::format("port {} (qualifier {} folded)", port, conn_qual)
                               : fmt::format("port {}", port);
  switch (error) {
    case EADDRINUSE:
      return Status(Code::kInUse, fmt::format("{} is taken by another program", what));
    case EADDRNOTAVAIL:
      return Status(Code::kAddressUnsupported, "the address to listen on is not one of this host");
    case EACCES:
      return Status(Code::kNoResources, fmt::format("{} needs privileges", what));
    default:
      return Status(Code::kNoResources,
                    fmt::format("cannot listen on {}: {}", what, strerror(error)));
  }
}

// The address that stands for every local address. One socket serves both families if the host has
// IPv6.
sockaddr_storage AnyAddress(int family) {
  sockaddr_storage a{};
  a.ss_family = static_cast<sa_family_t>(family);
  return a;  // INADDR_ANY and in6addr_any are zeros
}

Result<UniqueFd> ListenOn(const sockaddr_storage& address, bool both, uint64_t conn_qual,
                          std::chrono::milliseconds dead_path, uint16_t port) {
  Result<UniqueFd> fd = OpenTcp(address.ss_family);
  if (!fd.ok()) return fd;
  const int on = 1, v6_only = both ? 0 : 1;
  setsockopt(fd.value().get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.ss_family == AF_INET6) {
    setsockopt(fd.value().get(), IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only));
  }
  PrepareStream(fd.value().get(), dead_path);
  sockaddr_storage a = address;
  SetSocketPort(port, &a);
  if (bind(fd.value().get(), reinterpret_cast<const sockaddr*>(&a), AddressSize(a)) != 0 ||
      listen(fd.value().get(), kBacklog) != 0) {
    return BindFailure(errno, conn_qual, port);
  }
  return fd;
}

}  // namespace

ProcessWide<PortRegistry>& TcpPorts() { return g_ports; }

Result<UniqueFd> OpenTcpPort(const sockaddr_storage* address, uint64_t conn_qual,
                             std::chrono::milliseconds dead_path, uint16_t* port) {
  const auto listen_on = [&](const sockaddr_storage& at, bool both) {
    return ListenOn(at, both, conn_qual, dead_path, *port);
  };
  Result<UniqueFd> socket =
      address != nullptr ? listen_on(*address, false) : listen_on(AnyAddress(AF_INET6), true);
  if (!socket.ok() && address == nullptr && socket.status().code() == Code::kAddressUnsupported) {
    socket = listen_on(AnyAddress(AF_INET), false);  // no IPv6 here
  }
  if (socket.ok() && *port == 0) *port = SocketPort(LocalAddressOf(socket.value().get()));
  return socket;
}

}  // namespace softdat::softnet
