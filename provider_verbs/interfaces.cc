// SPDX-License-Identifier: BSD-3-Clause
// Implements interfaces.h with getifaddrs().
#include "provider_verbs/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace softdat::verbs {
namespace {

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
  return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr) ? 2 : 1;
}

}  // namespace

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
