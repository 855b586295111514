// SPDX-License-Identifier: BSD-3-Clause
// PeerAddress, RouteError.
#include "provider_softnet/udp_wire/route.h"

#include <errno.h>
#include <netinet/in.h>

#include "dat/base/socket_address.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

namespace {

constexpr uint16_t kDiscardPort = 9;  // any would do

}  // namespace

sockaddr_storage PeerAddress(const RoceAdapter& adapter, const sockaddr_storage& remote) {
  sockaddr_storage peer = Unmapped(remote);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&peer);
  if (peer.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr) &&
      v6->sin6_scope_id == 0) {
    v6->sin6_scope_id = adapter.shared->interface_index;
  }
  return peer;
}

int RouteError(const sockaddr_storage& from, const sockaddr_storage& to) {
  if (IsOfNoHost(to)) return ENETUNREACH;
  const UniqueFd fd(socket(to.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return 0;  // it will be seen
  sockaddr_storage source = from;
  SetSocketPort(0, &source);
  sockaddr_storage target = to;
  SetSocketPort(kDiscardPort, &target);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&source), AddressSize(source)) != 0) {
    return errno;
  }
  // Connecting a datagram socket looks for a route, and sends nothing.
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&target), AddressSize(target)) != 0) {
    return errno;
  }
  return 0;
}

}  // namespace softdat::softnet
