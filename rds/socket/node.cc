// SPDX-License-Identifier: BSD-3-Clause
// Sockets: opening, naming, closing, memory, and what they are told. Sending is in node_send.cc,
// peers are in node_peers.cc.
#include "rds/socket/node.h"

#include <cerrno>
#include <utility>

namespace softdat::rds {
namespace {

constexpr size_t kMostSpare = 4096;       // octets of memory that are kept for the next payload
constexpr uint64_t kMaxRegion = 1 << 20;  // octets that one cookie opens

}  // namespace

Node::Node(Instance self, Link* link, const Directory* directory)
    : self_(self), link_(*link), directory_(*directory), router_(self, link, this) {}

// Peers take leave of the channels.
Node::~Node() { peers_.clear(); }

Socket& Node::Open() {
  const SocketId id = ++last_socket_;
  return *sockets_.emplace(id, std::make_unique<Socket>(id)).first->second;
}

Socket* Node::Find(SocketId id) {
  const auto found = sockets_.find(id);
  return found == sockets_.end() ? nullptr : found->second.get();
}

void Node::Bind(Socket& socket, const SocketName& name) {
  socket.SetName(name);
  by_name_.emplace(name, &socket);
  own_.try_emplace(name.address);
  MoveHere(name);
}

void Node::Close(Socket& socket, Time now) {
  Cancel(socket, std::nullopt, now);
  while (!socket.regions().empty()) CloseMemory(socket, socket.regions().begin());
  if (socket.bound()) {
    SetCongested(socket.name(), false);
    by_name_.erase(socket.name());
  }
  for (const auto& [name, peer] : peers_) peer->TellNews(now);
  changed_.erase(socket.id());
  sockets_.erase(socket.id());
}

void Node::Pop(Socket& socket, Time now) {
  now_ = now;
  counters_.Count(Counter::kRecvBytesFreedFromSock, socket.first()->message.payload.size());
  if (socket.Pop(&spare_payload_)) SetCongested(socket.name(), false);
  if (spare_payload_.capacity() > kMostSpare) spare_payload_ = {};
  changed_.insert(socket.id());
}

// ---- congestion ----

void Node::SetCongested(const SocketName& name, bool congested) {
  CongestionMap& map = own_[name.address];
  if (!(congested ? map.Set(name.port) : map.Clear(name.port))) return;
  MergeMaps(name.address);
  for (const auto& [peer_name, peer] : peers_) {
    if (peer_name.own != name.address) continue;
    peer->connection().MapChanged();
    due_.insert(peer.get());
  }
  if (!congested) TellFreed(uint64_t{1} << name.port % 64);
}

void Node::TellFreed(uint64_t groups) {
  for (const auto& [id, socket] : sockets_) {
    socket->Freed(groups);
    // Those that wait in a blocking send do not monitor.
    changed_.insert(id);
  }
}

// ---- memory ----

int Node::OpenMemory(Socket& socket, const RegionRequest& request, rds_rdma_cookie_t* cookie) {
  const auto& [address, octets] = request.area;
  if (!socket.bound()) return ENOTCONN;
  uint64_t end = 0;
  if (octets == 0 || octets > kMaxRegion || __builtin_add_overflow(address, octets, &end)) {
    return EINVAL;
  }
  if (!IsWritable(request.area)) return EFAULT;
  if (regions_ == kMostRegions) return EAGAIN;
  OwnRegion region;
  region.area = request.area;
  region.use_once = request.use_once;
  const int error = link_.Register(socket.name().address, request.area, &region.open);
  if (error != 0) return error;
  *cookie = region.open.rkey | rds_rdma_cookie_t{region.open.offset} << 32;
  socket.regions().emplace(region.open.rkey, region);
  ++regions_;
  return 0;
}

int Node::CloseMemory(Socket& socket, rds_rdma_cookie_t cookie) {
  const auto region = socket.regions().find(static_cast<uint32_t>(cookie));
  if (region == socket.regions().end()) return EINVAL;
  CloseMemory(socket, region);
  return 0;
}

void Node::CloseMemory(Socket& socket, std::map<uint32_t, OwnRegion>::iterator region) {
  link_.Deregister(region->second.open.handle);
  socket.regions().erase(region);
  --regions_;
}

const OwnRegion* Node::RegionOf(const Address& own, uint32_t rkey) {
  for (const auto& [id, socket] : sockets_) {
    if (!socket->bound() || socket->name().address != own) continue;
    const auto found = socket->regions().find(rkey);
    if (found != socket->regions().end()) return &found->second;
  }
  return nullptr;
}

// ---- what sockets are told ----

void Node::Tell(const Outgoing& outgoing, const std::vector<Notification>& notifications) {
  Socket* const socket = Find(outgoing.socket);
  if (socket == nullptr) return;
  for (const Notification& n : notifications) socket->Notify(n);
  changed_.insert(socket->id());
}

// A message needs nothing any more: the peer has it, or it never will.
void Node::End(uint64_t id, int status) {
  EndForwarded(id);
  const auto found = outgoing_.find(id);
  if (found == outgoing_.end()) return;
  spare_ = outgoing_.extract(found);
  Outgoing& outgoing = spare_.mapped();
  if (Socket* const socket = Find(outgoing.socket)) {
    socket->Unqueued(outgoing.octets);
    if (outgoing.zero_copy_cookie) {
      socket->returned_payloads().push_back(*outgoing.zero_copy_cookie);
    }
    changed_.insert(outgoing.socket);
  }
  if (outgoing.operations.any()) Tell(outgoing, outgoing.operations.AllEnded(status));
}

void Node::Reset(const Address& own, const std::optional<Address>& peer, Time now) {
  now_ = now;
  for (const auto& [name, one] : peers_) {
    if (name.own == own && (!peer || name.peer == *peer)) one->Reset(now);
  }
}

void Node::Cancel(Socket& socket, const std::optional<SocketName>& to, Time now) {
  now_ = now;
  const auto unwanted = [&](const OutgoingMessage& message) {
    const auto found = outgoing_.find(message.id);
    return found != outgoing_.end() && found->second.socket == socket.id() &&
           (!to || found->second.to == *to);
  };
  std::vector<uint64_t> ids = router_.Cancel(unwanted);
  for (const auto& [name, peer] : peers_) {
    for (const uint64_t id : peer->connection().Cancel(unwanted)) ids.push_back(id);
  }
  for (auto& [way, move] : moves_) {
    for (auto* const messages : {&move.returned, &move.held}) {
      std::erase_if(*messages, [&](const OutgoingMessage& message) {
        if (!unwanted(message)) return false;
        ids.push_back(message.id);
        return true;
      });
    }
  }
  for (const uint64_t id : ids) End(id, RDS_RDMA_CANCELED);
}

}  // namespace softdat::rds
