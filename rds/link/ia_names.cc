// SPDX-License-Identifier: BSD-3-Clause
#include "rds/link/ia_names.h"

#include <ifaddrs.h>

#include <algorithm>
#include <cstdlib>

namespace softdat::rds {
namespace {

constexpr std::string_view kDefault = "softnet-";

// A link-local address without its interface is that of any.
std::string DeviceOf(const Address& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  std::string device;
  for (const ifaddrs* i = list; i != nullptr && device.empty(); i = i->ifa_next) {
    if (i->ifa_addr == nullptr) continue;
    Address found = NameOf(*i->ifa_addr).address;
    if (address.scope == 0) found.scope = 0;
    if (found == address) device = i->ifa_name;
  }
  freeifaddrs(list);
  return device;
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
  return IaNameFor(setting == nullptr ? "" : setting, address, DeviceOf(address));
}

bool IsOfThisHost(const Address& address) { return !DeviceOf(address).empty(); }

}  // namespace softdat::rds
