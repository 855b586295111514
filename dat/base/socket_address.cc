// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses by family.
#include "dat/base/socket_address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>

namespace softdat {
namespace {

// The address as the type of its family. The bytes are copied, because the types of sockaddr may
// not alias each other.
template <typename T>
T As(const sockaddr_storage& address) {
  T t;
  std::memcpy(&t, &address, sizeof(t));
  return t;
}

in_addr V4(const sockaddr_storage& a) { return As<sockaddr_in>(a).sin_addr; }
in6_addr V6(const sockaddr_storage& a) { return As<sockaddr_in6>(a).sin6_addr; }

}  // namespace

[[gnu::hot]] socklen_t AddressSize(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return sizeof(sockaddr_in);
  if (address.ss_family == AF_INET6) return sizeof(sockaddr_in6);
  return 0;
}

uint16_t SocketPort(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET ? As<sockaddr_in>(address).sin_port
                                            : As<sockaddr_in6>(address).sin6_port);
}

void SetSocketPort(uint16_t port, sockaddr_storage* address) {
  if (address->ss_family == AF_INET) {
    auto in = As<sockaddr_in>(*address);
    in.sin_port = htons(port);
    std::memcpy(address, &in, sizeof(in));
  } else {
    auto in6 = As<sockaddr_in6>(*address);
    in6.sin6_port = htons(port);
    std::memcpy(address, &in6, sizeof(in6));
  }
}

std::string HostText(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.ss_family == AF_INET) {
    const in_addr host = V4(address);
    inet_ntop(AF_INET, &host, text, sizeof(text));
    return text;
  }
  if (address.ss_family == AF_INET6) {
    const in6_addr host = V6(address);
    inet_ntop(AF_INET6, &host, text, sizeof(text));
    const uint32_t scope = As<sockaddr_in6>(address).sin6_scope_id;
    char name[IF_NAMESIZE];
    if (scope == 0 || if_indextoname(scope, name) == nullptr) return text;
    return std::string(text) + "%" + name;
  }
  return "address family " + std::to_string(address.ss_family);
}

std::string AddressText(const sockaddr_storage& address) {
  const std::string port = ":" + std::to_string(SocketPort(address));
  if (address.ss_family == AF_INET6) return "[" + HostText(address) + "]" + port;
  return HostText(address) + port;
}

[[gnu::hot]] bool SameHost(const sockaddr_storage& a, const sockaddr_storage& b) {
  if (a.ss_family != b.ss_family) return false;
  if (a.ss_family == AF_INET) return V4(a).s_addr == V4(b).s_addr;
  const in6_addr x = V6(a), y = V6(b);
  return a.ss_family == AF_INET6 && IN6_ARE_ADDR_EQUAL(&x, &y);
}

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return ntohl(V4(address).s_addr) >> 24 == 127;
  const in6_addr host = V6(address);
  return address.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&host);
}

bool IsWildcard(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return V4(address).s_addr == htonl(INADDR_ANY);
  const in6_addr host = V6(address);
  return address.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&host);
}

bool IsOfNoHost(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const in_addr_t host = ntohl(V4(address).s_addr);
    return IN_MULTICAST(host) || host == INADDR_BROADCAST;
  }
  const in6_addr host = V6(address);
  return address.ss_family == AF_INET6 && IN6_IS_ADDR_MULTICAST(&host);
}

sockaddr_storage Unmapped(const sockaddr_storage& address) {
  const in6_addr host = V6(address);
  if (address.ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&host)) return address;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = As<sockaddr_in6>(address).sin6_port;
  std::memcpy(&v4.sin_addr, host.s6_addr + 12, sizeof(v4.sin_addr));
  sockaddr_storage out{};
  std::memcpy(&out, &v4, sizeof(v4));
  return out;
}

}  // namespace softdat
