// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/calls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/rds.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/common/address.h"
#include "tools/common/unique_fd.h"

namespace softdat::tools {
namespace {

int KernelIoctl(int fd, unsigned long request, void* argument) {
  return ioctl(fd, request, argument);
}

// The part of `remedies` that fits.
struct Remedy {
  int error;
  const char* library;
  const char* kernel;
};
constexpr Remedy kRemedies[] = {
    {EAFNOSUPPORT, "the library was built without RDS",
     "this kernel has no RDS: load rds_tcp or rds_rdma, or leave out --kernel"},
    {EADDRNOTAVAIL,
     "no interface adapter has this address: dat_info lists them, and SOFTDAT_RDS_IA says which "
     "one "
     "to take for an address (docs/rds.md)",
     "no RDS transport has this address: load rds_tcp, or rds_rdma for an address of an adapter"},
    {EADDRINUSE, "another socket has this port: choose other ports with -p, or another address",
     "another socket has this port: choose other ports with -p, or another address"},
    {ENOMEM, "more memory, or a higher limit on locked memory (ulimit -l), is needed",
     "more memory, or a higher limit on locked memory (ulimit -l), is needed"},
    {EMSGSIZE,
     "a message may have 1 MiB and must fit into the send buffer; an RDMA transfer may have 1 MiB",
     "a message may have 1 MiB and must fit into the send buffer (sysctl net.core.wmem_max); an "
     "RDMA transfer may have 1 MiB"},
    {EMFILE, "raise the limit on open files (ulimit -n)",
     "raise the limit on open files (ulimit -n)"},
};

}  // namespace

const RdsCalls& KernelCalls() {
  static constexpr RdsCalls kCalls = {
      .kernel = true,
      .socket = ::socket,
      .close = ::close,
      .bind = ::bind,
      .getsockname = ::getsockname,
      .sendmsg = ::sendmsg,
      .recvmsg = ::recvmsg,
      .setsockopt = ::setsockopt,
      .getsockopt = ::getsockopt,
      .ioctl = KernelIoctl,
  };
  return kCalls;
}

std::string RdsRemedy(bool kernel, const std::string& what, int error) {
  if (error == ENOTTY && what.find("type of service") != std::string::npos)
    return "this RDS has no types of service: leave out -Q";
  for (const Remedy& remedy : kRemedies) {
    if (remedy.error == error) return kernel ? remedy.kernel : remedy.library;
  }
  return "";
}

Outcome RdsFailure(const RdsCalls& calls, const std::string& what, int error) {
  const std::string remedy = RdsRemedy(calls.kernel, what, error);
  return Outcome::Fail(fmt::format("{}: {} ({}){}{}", what, strerrordesc_np(error),
                                   strerrorname_np(error), remedy.empty() ? "" : "\n  ", remedy));
}

Outcome RdsSocket::Open(const RdsCalls& calls, const sockaddr_storage& address, int flags) {
  calls_ = &calls;
  fd_ = calls.socket(AF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
  if (fd_ < 0) return RdsFailure(calls, "socket(AF_RDS, SOCK_SEQPACKET)", errno);
  if (calls.bind(fd_, reinterpret_cast<const sockaddr*>(&address), AddressLength(address)) != 0) {
    return RdsFailure(
        calls,
        fmt::format("bind to {} port {}",
                    FormatAddress(reinterpret_cast<const sockaddr*>(&address)), PortOf(address)),
        errno);
  }
  return {};
}

Outcome RdsSocket::OpenUnbound(const RdsCalls& calls) {
  calls_ = &calls;
  fd_ = calls.socket(AF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  return fd_ < 0 ? RdsFailure(calls, "socket(AF_RDS, SOCK_SEQPACKET)", errno) : Outcome();
}

Outcome RdsSocket::SetTypeOfService(uint8_t tos) {
  // The kernel reads one byte.
  if (tos == 0 || calls_->ioctl(fd_, SIOCRDSSETTOS, &tos) == 0) return {};
  return RdsFailure(*calls_, fmt::format("setting the type of service {}", tos), errno);
}

socklen_t AddressLength(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

uint16_t PortOf(const sockaddr_storage& address) {
  // The port is at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

void SetPort(sockaddr_storage* address, uint16_t port) {
  reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
}

bool SameHost(const sockaddr_storage& one, const sockaddr_storage& other) {
  if (one.ss_family != other.ss_family) return false;
  if (one.ss_family == AF_INET6) {
    return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(one).sin6_addr,
                       &reinterpret_cast<const sockaddr_in6&>(other).sin6_addr,
                       sizeof(in6_addr)) == 0;
  }
  return reinterpret_cast<const sockaddr_in&>(one).sin_addr.s_addr ==
         reinterpret_cast<const sockaddr_in&>(other).sin_addr.s_addr;
}

Outcome SourceFor(const sockaddr_storage& destination, sockaddr_storage* source) {
  const std::string host = FormatAddress(reinterpret_cast<const sockaddr*>(&destination));
  sockaddr_storage target = destination;
  if (PortOf(target) == 0) SetPort(&target, 1);
  const UniqueFd udp(socket(target.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  socklen_t length = sizeof *source;
  if (!udp ||
      connect(udp.get(), reinterpret_cast<sockaddr*>(&target), AddressLength(target)) != 0 ||
      getsockname(udp.get(), reinterpret_cast<sockaddr*>(source), &length) != 0) {
    return Outcome::Fail(fmt::format("no way from here to {}: {}", host, strerrordesc_np(errno)));
  }
  SetPort(source, 0);
  return {};
}

}  // namespace softdat::tools
