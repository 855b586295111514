// SPDX-License-Identifier: BSD-3-Clause
// RoceAdapter.
#include "provider_softnet/udp_wire/roce_adapter.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include <optional>
#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/udp_wire/roce_plane.h"

namespace softdat::softnet {

namespace {

// For requests behind a missing one, of all connections: as much as sixteen windows hold. When it
// is in use, losses cost what they cost a peer without such memory.
constexpr uint64_t kEarlyBytes = 4 * 1024 * 1024;

// The address of the interface in the family that `first` is not of: a global one before a
// link-local one.
std::optional<sockaddr_storage> OtherAddress(uint32_t interface, const sockaddr_storage& first) {
  const int family = first.ss_family == AF_INET ? AF_INET6 : AF_INET;
  std::optional<sockaddr_storage> found;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return found;
  for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != family) continue;
    if (if_nametoindex(a->ifa_name) != interface) continue;
    sockaddr_storage address{};
    memcpy(&address, a->ifa_addr, family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
    const bool link_local = family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr);
    if (!found || !link_local) found = address;
    if (!link_local) break;
  }
  freeifaddrs(all);
  return found;
}

}  // namespace

RoceAdapter::RoceAdapter(std::shared_ptr<AdapterShared> adapter, const RoceOptions& o)
    : shared(std::move(adapter)),
      options(o),
      attributes(shared->attributes),
      memory(shared->memory),
      driver(shared->driver),
      early(attributes.mtu, kEarlyBytes) {
  planes_[count_++] = std::make_shared<RocePlane>(this, attributes.address);
  if (shared->address_chosen) return;
  if (const auto other = OtherAddress(shared->interface_index, attributes.address)) {
    planes_[count_++] = std::make_shared<RocePlane>(this, *other);
  }
}

RoceAdapter::~RoceAdapter() = default;

Result<std::shared_ptr<RocePlane>> RoceAdapter::PlaneFor(const sockaddr_storage& peer) {
  for (const std::shared_ptr<RocePlane>& plane : planes()) {
    if (plane->address().ss_family != peer.ss_family) continue;
    if (Status s = plane->Start(); !s.ok()) return s;
    return plane;
  }
  return Status(Code::kAddressUnsupported, fmt::format("{} has no address of the family of {}",
                                                       attributes.device_name, HostText(peer)));
}

void RoceAdapter::Stop() {
  for (const std::shared_ptr<RocePlane>& plane : planes()) plane->Stop();
}

}  // namespace softdat::softnet
