// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses and interfaces.
#include "provider_verbs/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace softdat::verbs {
namespace {

const sockaddr_in& V4(const sockaddr_storage& a) { return reinterpret_cast<const sockaddr_in&>(a); }
const sockaddr_in6& V6(const sockaddr_storage& a) {
  return reinterpret_cast<const sockaddr_in6&>(a);
}

struct FreeInterfaces {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};
using Interfaces = std::unique_ptr<ifaddrs, FreeInterfaces>;

Interfaces AllInterfaces() {
  ifaddrs* list = nullptr;
  return Interfaces(getifaddrs(&list) == 0 ? list : nullptr);
}

bool IsInternet(const ifaddrs& entry) {
  return entry.ifa_addr != nullptr &&
         (entry.ifa_addr->sa_family == AF_INET || entry.ifa_addr->sa_family == AF_INET6);
}

sockaddr_storage Copy(const sockaddr* address) {
  sockaddr_storage copy{};
  std::memcpy(&copy, address,
              address->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  return copy;
}

int Rank(const sockaddr_storage& a) {
  if (a.ss_family == AF_INET) return 0;
  return IN6_IS_ADDR_LINKLOCAL(&V6(a).sin6_addr) ? 2 : 1;
}

}  // namespace

std::string Text(const sockaddr_storage& address) {
  char buffer[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &V4(address).sin_addr, buffer, sizeof buffer);
    return fmt::format("{}:{}", buffer, PortOfAddress(address));
  }
  if (address.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &V6(address).sin6_addr, buffer, sizeof buffer);
    return fmt::format("[{}]:{}", buffer, PortOfAddress(address));
  }
  return fmt::format("address of family {}", address.ss_family);
}

size_t AddressSize(const sockaddr_storage& address) {
  return address.ss_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

uint16_t PortOfAddress(const sockaddr_storage& address) {
  return ntohs(address.ss_family == AF_INET6 ? V6(address).sin6_port : V4(address).sin_port);
}

void SetPort(uint16_t port, sockaddr_storage* address) {
  if (address->ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(address)->sin_port = htons(port);
  }
}

bool SameHost(const sockaddr_storage& a, const sockaddr_storage& b) {
  if (a.ss_family != b.ss_family) return false;
  if (a.ss_family == AF_INET) return V4(a).sin_addr.s_addr == V4(b).sin_addr.s_addr;
  return std::memcmp(&V6(a).sin6_addr, &V6(b).sin6_addr, sizeof(in6_addr)) == 0;
}

bool IsLoopback(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return ntohl(V4(address).sin_addr.s_addr) >> 24 == 127;
  return address.ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&V6(address).sin6_addr);
}

bool IsWildcard(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) return V4(address).sin_addr.s_addr == htonl(INADDR_ANY);
  return address.ss_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&V6(address).sin6_addr);
}

bool IsOfNoHost(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    const in_addr_t host = ntohl(V4(address).sin_addr.s_addr);
    return IN_MULTICAST(host) || host == INADDR_BROADCAST;
  }
  return address.ss_family == AF_INET6 && IN6_IS_ADDR_MULTICAST(&V6(address).sin6_addr);
}

std::vector<sockaddr_storage> AddressesOf(const std::string& netdev) {
  std::vector<sockaddr_storage> found;
  const Interfaces all = AllInterfaces();
  for (const ifaddrs* i = all.get(); i != nullptr; i = i->ifa_next) {
    if (IsInternet(*i) && netdev == i->ifa_name) found.push_back(Copy(i->ifa_addr));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return Rank(a) < Rank(b); });
  return found;
}

bool AddressOfFamily(const std::string& netdev, int family, sockaddr_storage* address) {
  for (const sockaddr_storage& candidate : AddressesOf(netdev)) {
    if (candidate.ss_family != family) continue;
    *address = candidate;
    return true;
  }
  return false;
}

bool IsLocalAddress(const sockaddr_storage& address) {
  const Interfaces all = AllInterfaces();
  for (const ifaddrs* i = all.get(); i != nullptr; i = i->ifa_next) {
    if (IsInternet(*i) && SameHost(Copy(i->ifa_addr), address)) return true;
  }
  return false;
}

std::vector<std::string> InterfacesUp() {
  std::vector<std::string> names;
  const Interfaces all = AllInterfaces();
  for (const ifaddrs* i = all.get(); i != nullptr; i = i->ifa_next) {
    if ((i->ifa_flags & IFF_UP) == 0) continue;
    if (std::find(names.begin(), names.end(), i->ifa_name) == names.end())
      names.push_back(i->ifa_name);
  }
  return names;
}

}  // namespace softdat::verbs
