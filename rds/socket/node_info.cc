// SPDX-License-Identifier: BSD-3-Clause
// What a node tells of itself: RDS_INFO_*.
#include <linux/rds.h>

#include <algorithm>

#include "rds/socket/node.h"

namespace softdat::rds {
namespace {

// As RoCE has it, an IPv4 address is mapped.
std::array<uint8_t, 16> GidOf(const Address& address) {
  if (address.ipv6) return address.octets;
  std::array<uint8_t, 16> out{};
  out[10] = out[11] = 0xff;
  std::copy_n(address.octets.begin(), 4, out.begin() + 12);
  return out;
}

MessageInfo InfoOf(const SocketName& local, const SocketName& remote, const Message& message,
                   uint64_t sequence) {
  return {local, remote, sequence, static_cast<uint32_t>(message.payload.size()), 0};
}

}  // namespace

Info Node::CollectInfo(const std::function<uint64_t(SocketId)>& inode_of) const {
  Info out;
  out.counters = counters_;
  for (const auto& [name, peer] : peers_) {
    // What goes to and from another process is its own affair.
    if (!peer->is_served()) TellOf(*peer, &out);
  }
  const auto waits = [&](const Address& own, const SocketName& to, const OutgoingMessage& waiting) {
    const SocketName from{own, waiting.message.source_port};
    out.unsent.push_back(InfoOf(from, to, waiting.message, /*sequence=*/0));
  };
  router_.ForEach(waits);
  for (const auto& [way, move] : moves_) {
    for (const OutgoingMessage& message : move.returned) waits(way.first, way.second, message);
    for (const OutgoingMessage& message : move.held) waits(way.first, way.second, message);
  }
  for (const auto& [id, socket] : sockets_) {
    SocketInfo info;
    if (socket->bound()) info.bound = socket->name();
    info.connected = socket->peer();
    info.send_limit = static_cast<uint32_t>(socket->options().send_limit);
    info.receive_limit = static_cast<uint32_t>(socket->options().receive_limit);
    info.inode = inode_of(id);
    out.sockets.push_back(info);
    for (size_t i = 0; i < socket->received().size(); ++i) {
      const Received& received = socket->received()[i];
      out.arrived.push_back(InfoOf(socket->name(), received.from, received.message, 0));
    }
  }
  std::ranges::sort(out.sockets, {}, &SocketInfo::inode);
  return out;
}

void Node::TellOf(const Peer& peer, Info* out) const {
  const PeerName& name = peer.name();
  const Connection& connection = peer.connection();
  ConnectionInfo info;
  info.local = name.own;
  info.remote = name.peer;
  info.next_send = connection.queue().next_sequence();
  info.next_receive = connection.ack_sequence() + 1;
  if (peer.up()) info.flags |= RDS_INFO_CONNECTION_FLAG_CONNECTED;
  if (peer.connecting()) info.flags |= RDS_INFO_CONNECTION_FLAG_CONNECTING;
  out->connections.push_back(info);
  RdmaConnectionInfo rdma;
  rdma.local = name.own;
  rdma.remote = name.peer;
  if (peer.up()) {
    const ChannelLimits limits = link_.limits(name.own);
    rdma.local_gid = GidOf(name.own);
    rdma.remote_gid = GidOf(name.peer);
    rdma.max_send_requests = limits.sends;
    rdma.max_receive_requests = limits.receives;
    rdma.max_send_segments = limits.segments;
    rdma.max_regions = kMostRegions;
    rdma.max_region_pages = 257;  // 1 MiB, wherever it begins
  }
  out->rdma_connections.push_back(rdma);
  out->counters += connection.counters();
  connection.queue().ForEach([&](const OutgoingMessage& waiting, uint64_t sequence, bool sent) {
    if (waiting.message.marks != 0) return;  // between processes: no program has sent it
    const SocketName from{name.own, waiting.message.source_port};
    const SocketName to{name.peer, waiting.message.destination_port};
    (sent ? out->unacknowledged : out->unsent)
        .push_back(InfoOf(from, to, waiting.message, sequence));
  });
}

}  // namespace softdat::rds
