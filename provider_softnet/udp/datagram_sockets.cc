// SPDX-License-Identifier: BSD-3-Clause
// Opening UDP sockets.
#include "provider_softnet/udp/datagram_sockets.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "dat/base/socket_address.h"
#include "provider_softnet/driver/busy_polling.h"
#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/udp/port_holder.h"
#include "wire/roce/icrc.h"

namespace softdat::softnet {
namespace {

// Room for some hundred packets of the largest MTU, with what the kernel adds to each.
constexpr int kWantedBuffer = 4 << 20;
constexpr uint16_t kFirstSourcePort = 0xc000;
constexpr uint16_t kSourcePorts = 0x4000;

void SetOption(int fd, int level, int option, int value) {
  setsockopt(fd, level, option, &value, sizeof(value));
}

int BufferSize(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 ? value : 0;
}

// The forced form needs CAP_NET_ADMIN. The other one is cut to the limit of the kernel.
void RaiseBuffer(int fd, int forced, int plain) {
  const int wanted = kWantedBuffer;
  if (setsockopt(fd, SOL_SOCKET, forced, &wanted, sizeof(wanted)) == 0) return;
  if (BufferSize(fd, plain) < 2 * kWantedBuffer) SetOption(fd, SOL_SOCKET, plain, wanted);
}

Result<UniqueFd> OpenUdp(int family) {
  while (true) {
    UniqueFd fd(socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP));
    if (fd.valid()) {
      if (family == AF_INET6) SetOption(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
      return fd;
    }
    const int error = errno;
    if (error == EMFILE && RaiseDescriptorLimit()) continue;
    const Code code = error == EAFNOSUPPORT ? Code::kAddressUnsupported : Code::kNoResources;
    return Status(code, fmt::format("no UDP socket: {}", strerror(error)));
  }
}

bool Bind(int fd, const sockaddr_storage& address) {
  return bind(fd, reinterpret_cast<const sockaddr*>(&address), AddressSize(address)) == 0;
}

Status WhyNotBound(const sockaddr_storage& address, int error) {
  const std::string host = HostText(address);
  if (error == EADDRINUSE) {
    return Status(Code::kInUse, fmt::format("UDP port {} of {} is not free: {}", roce::kUdpPort,
                                            host, WhoHolds(address)));
  }
  const Code code = error == EADDRNOTAVAIL ? Code::kAddressUnsupported : Code::kNoResources;
  return Status(code,
                fmt::format("no UDP port {} on {}: {}", roce::kUdpPort, host, strerror(error)));
}

}  // namespace

Result<UniqueFd> OpenReceiver(const sockaddr_storage& address) {
  Result<UniqueFd> opened = OpenUdp(address.ss_family);
  if (!opened.ok()) return opened;
  const int fd = opened.value().get();
  SetOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  // Adapters and rdma_rxe send UDP's checksum 0, also over IPv6: the ICRC is the stronger one.
  if (address.ss_family == AF_INET6) SetOption(fd, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
  // What was sent together may come together.
  SetOption(fd, IPPROTO_UDP, UDP_GRO, 1);
  AllowBusyPolling(fd);
  RaiseBuffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
  sockaddr_storage local = address;
  SetSocketPort(roce::kUdpPort, &local);
  if (!Bind(fd, local)) return WhyNotBound(local, errno);
  return opened;
}

// A socket of this user at the very address is a member's. It is not bound for a try if there are
// no others, because a socket that is there for a moment takes packets away from members.
Status CheckReceiverPort(const sockaddr_storage& address, uid_t user) {
  sockaddr_storage local = address;
  SetSocketPort(roce::kUdpPort, &local);
  for (const UdpSocketRow& row : UdpSocketsAt(local)) {
    if (row.user == user && !IsWildcard(row.local)) continue;
    Result<UniqueFd> receiver = OpenReceiver(address);
    return receiver.ok() ? Status::Ok() : receiver.TakeStatus();
  }
  return Status::Ok();
}

Result<UniqueFd> OpenReceiverOf(const sockaddr_storage& address, const sockaddr_storage& source) {
  Result<UniqueFd> opened = OpenReceiver(address);
  if (!opened.ok()) return opened;
  const auto* peer = reinterpret_cast<const sockaddr*>(&source);
  if (connect(opened.value().get(), peer, AddressSize(source)) == 0) return opened;
  return Status(Code::kUnreachable, fmt::format("no socket for what comes from {}: {}",
                                                AddressText(source), strerror(errno)));
}

Result<UniqueFd> OpenSender(const sockaddr_storage& address,
                            const std::function<uint64_t()>& random) {
  constexpr int kTries = 1000;
  Result<UniqueFd> opened = OpenUdp(address.ss_family);
  if (!opened.ok()) return opened;
  const int fd = opened.value().get();
  if (address.ss_family == AF_INET6) {
    SetOption(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
  } else {
    SetOption(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
  }
  RaiseBuffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
  SetOption(fd, SOL_SOCKET, SO_RCVBUF, 0);  // nobody reads what comes to this port
  sockaddr_storage local = address;
  for (int i = 0; i < kTries; ++i) {
    SetSocketPort(static_cast<uint16_t>(kFirstSourcePort + random() % kSourcePorts), &local);
    if (Bind(fd, local)) return opened;
    if (errno != EADDRINUSE) return WhyNotBound(local, errno);
  }
  return Status(Code::kNoResources, fmt::format("no free UDP port from {} on at {}",
                                                kFirstSourcePort, HostText(address)));
}

sockaddr_storage LocalEnd(int fd) {
  sockaddr_storage a{};
  socklen_t size = sizeof(a);
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&a), &size) != 0) return {};
  return a;
}

int ReceiveBufferSize(int fd) { return BufferSize(fd, SO_RCVBUF); }
int SendBufferSize(int fd) { return BufferSize(fd, SO_SNDBUF); }

}  // namespace softdat::softnet
