// SPDX-License-Identifier: BSD-3-Clause
#include "rds/link/ia_names.h"

#include <ifaddrs.h>

#include <algorithm>
#include <cstdlib>

namespace softdat::rds {
namespace {

constexpr std::string_view kDefault = "softnet-";

struct Own {
  std::string device;
  Address address;
};

// A link-local address without its interface is that of any, and other addresses have no scope.
std::optional<Own> Find(const Address& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::nullopt;
  std::optional<Own> out;
  for (const ifaddrs* i = list; i != nullptr && !out; i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    const Address found = NameOf(*i->ifa_addr).address;
    if (found.ipv6 != address.ipv6 || found.octets != address.octets) continue;
    if (AreOfOneLink(found, address)) out = Own{i->ifa_name, found};
  }
  freeifaddrs(list);
  return out;
}

}  // namespace

std::string IaNameFor(std::string_view setting, const Address& address, std::string_view device) {
  const std::string text = ToText(address);
  while (setting.find('=') != std::string_view::npos) {
    const std::string_view entry = setting.substr(0, setting.find(','));
    const size_t equals = entry.find('=');
    if (equals != std::string_view::npos && entry.substr(0, equals) == text) {
      return std::string(entry.substr(equals + 1));
    }
    setting.remove_prefix(std::min(setting.size(), entry.size() + 1));
    if (setting.empty()) return {};
  }
  if (!setting.empty() && !setting.ends_with('-')) return std::string(setting);
  if (device.empty()) return {};
  return std::string(setting.empty() ? kDefault : setting) + std::string(device);
}

std::string IaNameFor(const Address& address) {
  const char* const setting = std::getenv("SOFTDAT_RDS_IA");
  const std::optional<Own> own = Find(address);
  return IaNameFor(setting == nullptr ? "" : setting, address, own ? own->device : "");
}

std::optional<Address> OnThisHost(const Address& address) {
  const std::optional<Own> own = Find(address);
  return own ? std::optional(own->address) : std::nullopt;
}

}  // namespace softdat::rds
