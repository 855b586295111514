// SPDX-License-Identifier: BSD-3-Clause
// Notices that the process of a peer on this host has ended. An adapter of hardware says so for its
// process, by a DREQ. A process that is killed here leaves nobody who could, but its names among
// the members go with it. One whose names are gone when its connection is made has ended already:
// nobody but members has the port on an address of this host. Peers on other hosts are not watched:
// traffic finds out about them, as on InfiniBand.
//
// Needs the driver token.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_PEER_WATCH_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_PEER_WATCH_H_

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <map>

#include "provider_softnet/cm/cm_events.h"
#include "provider_softnet/driver/event_loop.h"

namespace softdat::softnet {

class PeerWatch {
 public:
  // UdpPort::HasMember: whether the member that owns a queue pair lives on this host.
  using HasMember = std::function<bool(const sockaddr_storage& host, uint32_t qpn)>;

  // `gone` is called once for each connection whose peer has gone. It may add and remove.
  PeerWatch(HasMember has_member, EventLoop* loop, std::function<void(CmId)> gone);

  // `qpn`: of the peer at `host`.
  void Add(CmId id, const sockaddr_storage& host, uint32_t qpn);
  void Remove(CmId id) { peers_.erase(id); }

 private:
  struct Peer {
    sockaddr_storage host;
    uint32_t qpn;
  };

  void Look();

  const HasMember has_member_;
  const std::function<void(CmId)> gone_;
  std::map<CmId, Peer> peers_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_PEER_WATCH_H_
