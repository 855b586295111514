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
#include <string>
#include <utility>

#include "provider_softnet/cm/cm_events.h"
#include "provider_softnet/driver/event_loop.h"

namespace softdat::softnet {

class PeerWatch {
 public:
  // UdpPort::HasMember: whether the member that owns a queue pair lives on this host.
  using HasMember = std::function<bool(const std::string& host, uint32_t qpn)>;

  // `gone` is called once for each connection whose peer has gone. It may add and remove.
  PeerWatch(HasMember has_member, EventLoop* loop, std::function<void(CmId)> gone);

  // `qpn`: of the peer at `host`.
  void Add(CmId id, const sockaddr_storage& host, uint32_t qpn);
  void Remove(CmId id);

 private:
  // The host's text, and the queue pair numbers of one member without their lower bits.
  using MemberKey = std::pair<std::string, uint32_t>;
  struct Member {
    uint32_t qpn = 0;   // one of them
    size_t peers = 0;   // connections with it
    bool lives = true;  // at the last look
  };
  using Members = std::map<MemberKey, Member>;

  // Takes nothing from the heap while all members live: it comes in the middle of traffic.
  void Look();

  const HasMember has_member_;
  const std::function<void(CmId)> gone_;
  Members members_;
  std::map<CmId, Members::iterator> peers_;
  LoopTimer timer_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_PEER_WATCH_H_
