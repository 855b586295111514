// SPDX-License-Identifier: BSD-3-Clause
// WayTo, MakeDatagramPeer.
#include "provider_verbs/datagram_peer.h"

#include <errno.h>
#include <fmt/format.h>
#include <netinet/in.h>

#include <cstring>
#include <memory>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_verbs/address_way.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {
namespace {

constexpr uint8_t kHops = 64;

// RoCEv2: an IPv6 address as it is, an IPv4 address as IPv6 has it.
ibv_gid GidOf(const sockaddr_storage& address) {
  ibv_gid gid{};
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    std::memcpy(gid.raw, &v6.sin6_addr, sizeof gid.raw);
  } else {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    gid.raw[10] = gid.raw[11] = 0xff;
    std::memcpy(gid.raw + 12, &v4.sin_addr, sizeof v4.sin_addr);
  }
  return gid;
}

}  // namespace

Result<ibv_ah_attr> WayTo(const Device& device, const sockaddr_storage& local,
                          const sockaddr_storage& remote) {
  const DeviceTraits& t = device.traits;
  const ibv_gid own = GidOf(local);
  for (uint32_t i = 0; i < t.gids; ++i) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(device.context, t.port, i, &entry, 0) != 0) continue;
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    if (std::memcmp(entry.gid.raw, own.raw, sizeof own.raw) != 0) continue;
    ibv_ah_attr way{};
    way.is_global = 1;
    way.port_num = t.port;
    way.grh.dgid = GidOf(remote);
    way.grh.sgid_index = static_cast<uint8_t>(i);
    way.grh.hop_limit = kHops;
    return way;
  }
  return Status(Code::kUnreachable, fmt::format("{} port {} has no RoCEv2 address {}",
                                                t.rdma_device, t.port, HostText(local)));
}

Result<transport::DatagramPeer> MakeDatagramPeer(const ProtectionDomain& pd, ibv_ah_attr way,
                                                 uint32_t number, uint32_t qkey,
                                                 const sockaddr_storage& address) {
  ibv_ah* const made = ibv_create_ah(pd.hardware(), &way);
  if (made == nullptr) return OsStatus(errno, "ibv_create_ah for " + HostText(address));
  // The domain stays as long as the way.
  std::shared_ptr<ibv_ah> ah(made, [share = pd.share()](ibv_ah* gone) {
    const int error = ibv_destroy_ah(gone);
    if (error != 0) SOFTDAT_LOG(Error, "ibv_destroy_ah: {}", OsText(error));
  });
  transport::DatagramPeer peer;
  peer.handle = std::make_unique<AddressWay>(std::move(ah));
  peer.number = number;
  peer.qkey = qkey;
  peer.address = address;
  return peer;
}

}  // namespace softdat::verbs
