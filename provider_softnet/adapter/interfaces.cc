// SPDX-License-Identifier: BSD-3-Clause
// Interfaces by getifaddrs().
#include "provider_softnet/adapter/interfaces.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "dat/base/socket_address.h"
#include "provider_softnet/driver/descriptor_limit.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {
namespace {

// How suitable an address is to be the adapter's: IPv4 first, then global IPv6, then link-local.
int Rank(const sockaddr_storage& a) {
  if (a.ss_family == AF_INET) return 3;
  if (a.ss_family != AF_INET6) return 0;
  return IN6_IS_ADDR_LINKLOCAL(&reinterpret_cast<const sockaddr_in6&>(a).sin6_addr) ? 1 : 2;
}

// AF_UNSPEC when it is no address.
sockaddr_storage ParseAddress(const std::string& text) {
  sockaddr_storage out{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    memcpy(&out, &v4, sizeof(v4));
  } else if (inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    memcpy(&out, &v6, sizeof(v6));
  }
  return out;
}

// Makes one of its addresses the adapter's.
Status Choose(const std::string& text, Interface* i) {
  const sockaddr_storage wanted = ParseAddress(text);
  if (wanted.ss_family == AF_UNSPEC) {
    return Status(Code::kAddressUnsupported, fmt::format("'{}' is no address", text));
  }
  std::string has;
  for (const sockaddr_storage& address : i->addresses) {
    if (SameHost(address, wanted)) {
      i->address = address;
      i->chosen = true;
      return Status::Ok();
    }
    has += (has.empty() ? "" : ", ") + HostText(address);
  }
  return Status(Code::kUnreachable,
                fmt::format("{} has no address {}; it has: {}", i->name, text, has));
}

uint32_t MtuOf(const std::string& name) {
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (!fd.valid() || ioctl(fd.get(), SIOCGIFMTU, &request) != 0) return 1500;
  return static_cast<uint32_t>(request.ifr_mtu);
}

Result<std::vector<Interface>> ReadInterfaces() {
  std::vector<Interface> out;
  ifaddrs* list = nullptr;
  while (getifaddrs(&list) != 0) {
    if (errno == ENOMEM) throw std::bad_alloc();
    if (errno == EMFILE && RaiseDescriptorLimit()) continue;
    return Status(Code::kNoResources,
                  fmt::format("cannot list the network interfaces: {}", strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    auto it = std::find_if(out.begin(), out.end(),
                           [&](const Interface& x) { return x.name == i->ifa_name; });
    if (it == out.end()) {
      Interface fresh;
      fresh.name = i->ifa_name;
      fresh.index = if_nametoindex(i->ifa_name);
      fresh.mtu = MtuOf(fresh.name);
      fresh.up = (i->ifa_flags & IFF_UP) != 0;
      it = out.insert(out.end(), fresh);
    }
    if (i->ifa_addr == nullptr) continue;
    sockaddr_storage a{};
    if (i->ifa_addr->sa_family == AF_INET) {
      memcpy(&a, i->ifa_addr, sizeof(sockaddr_in));
    } else if (i->ifa_addr->sa_family == AF_INET6) {
      memcpy(&a, i->ifa_addr, sizeof(sockaddr_in6));
    }
    if (Rank(a) == 0) continue;
    it->addresses.push_back(a);
    if (Rank(a) > Rank(it->address)) it->address = a;
  }
  return out;
}

}  // namespace

std::vector<Interface> ListInterfaces() {
  Result<std::vector<Interface>> all = ReadInterfaces();
  return all.ok() ? all.Take() : std::vector<Interface>();
}

std::string UnavailableReason(const Interface& i) {
  if (!i.up) return "the interface is down";
  if (i.address.ss_family == AF_UNSPEC) return "the interface has no IP address";
  return "";
}

Result<Interface> FindInterface(const std::string& device) {
  const size_t slash = device.find('/');  // which no interface's name contains
  const std::string name = device.substr(0, slash);
  Result<std::vector<Interface>> all = ReadInterfaces();
  if (!all.ok()) return all.TakeStatus();
  std::string names;
  for (Interface& i : all.value()) {
    if (i.name != name) {
      names += names.empty() ? i.name : ", " + i.name;
      continue;
    }
    const std::string why = UnavailableReason(i);
    if (!why.empty()) return Status(Code::kUnreachable, fmt::format("{}: {}", name, why));
    if (slash != std::string::npos) {
      if (Status s = Choose(device.substr(slash + 1), &i); !s.ok()) return s;
    }
    return std::move(i);
  }
  return Status(Code::kNotFound, fmt::format("no network interface '{}'; there are: {}", name,
                                             names.empty() ? "none" : names));
}

}  // namespace softdat::softnet
