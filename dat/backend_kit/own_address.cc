// SPDX-License-Identifier: BSD-3-Clause
// Own addresses by getifaddrs().
#include "dat/backend_kit/own_address.h"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>

#include "dat/base/socket_address.h"

namespace softdat {
namespace {

// The family is 0 when the entry is neither IPv4 nor IPv6.
sockaddr_storage AddressOf(const ifaddrs& entry) {
  sockaddr_storage address{};
  if (entry.ifa_addr == nullptr) return address;
  if (entry.ifa_addr->sa_family == AF_INET)
    std::memcpy(&address, entry.ifa_addr, sizeof(sockaddr_in));
  if (entry.ifa_addr->sa_family == AF_INET6)
    std::memcpy(&address, entry.ifa_addr, sizeof(sockaddr_in6));
  return address;
}

}  // namespace

bool IsOwnAddress(const sockaddr_storage& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return false;
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    if (SameHost(AddressOf(*i), address)) return true;
  }
  return false;
}

}  // namespace softdat
