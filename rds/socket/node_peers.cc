// SPDX-License-Identifier: BSD-3-Clause
// Peers: finding them, their events, and what becomes of messages when one has gone.
#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "rds/socket/node.h"

namespace softdat::rds {
namespace {

// The link's names of operations: those of a message share its id.
uint64_t OperationId(uint64_t message, Operations::Kind kind) {
  return 2 * message + static_cast<uint64_t>(kind);
}

}  // namespace

Peer& Node::PeerAt(const PeerName& name, uint16_t service) {
  auto& place = peers_[name];
  if (!place) {
    PeerHost* const host = this;
    const CongestionMap* map = &own_[name.own];
    if (name.instance == kKernelInstance) {
      const Pair pair{name.own, name.peer};
      Kernel& kernel = KnowKernel(pair);
      MergeMaps(pair, kernel);
      map = &kernel.of_address;
    }
    place = std::make_unique<Peer>(name, self_, service, map, &link_, host);
    // Linux forgets what it has acknowledged when a connection ends, but not which sequence was the
    // last. No process of this host has sent a larger one before, as none sends one in each
    // microsecond.
    if (name.instance == kKernelInstance) {
      const auto since_boot = std::chrono::duration_cast<std::chrono::microseconds>(now_);
      place->connection().StartBehind(static_cast<uint64_t>(since_boot.count()));
    }
  }
  return *place;
}

// Nothing when it is not known where the port is.
Peer* Node::PeerFor(const Address& own, const SocketName& to) {
  const auto route = routes_.find({own, to});
  if (route != routes_.end()) return route->second;
  // A kernel has all ports of its address.
  return PeerForKernel({own, to.address});
}

// ---- where a port is ----

void Node::OnLocated(const Address& own, const SocketName& to, const Location& location,
                     std::deque<OutgoingMessage> waiting) {
  if (location.service == 0 || location.instance == self_) {
    // Messages to a port that nobody has are lost, as Linux has it. Memory that nobody has cannot
    // be accessed.
    for (OutgoingMessage& message : waiting) {
      const auto here = by_name_.find(to);
      if (here == by_name_.end()) {
        End(message.id, RDS_RDMA_REMOTE_ERROR);
      } else {
        const SocketName from{own, message.message.source_port};
        DispatchHere(*here->second, from, std::move(message));
      }
    }
    return;
  }
  // All were taken back meanwhile.
  if (waiting.empty()) return;
  if (location.instance == kKernelInstance) {
    Peer& peer = *PeerForKernel({own, to.address});
    for (OutgoingMessage& message : waiting) SendTo(peer, std::move(message));
    return;
  }
  const bool for_kernel = kernels_.contains({to.address, own});
  Peer& peer = for_kernel ? ServedAt({to.address, own}, location)
                          : PeerAt({own, to.address, location.instance}, location.service);
  routes_[{own, to}] = &peer;
  for (OutgoingMessage& message : waiting) SendTo(peer, std::move(message));
}

void Node::OnKernel(const Address& own, const Address& peer, ChannelId channel,
                    const Introduction& introduction) {
  KnowKernel({own, peer});
  // The one who has RDS's own service speaks to it.
  if (!holds_.contains(own)) {
    link_.Close(channel);
    return;
  }
  PeerAt({own, peer, kKernelInstance}, peer.ipv6 ? kPort6 : kPort)
      .Adopt(channel, introduction, now_);
}

// ---- events of the link ----

void Node::OnChannel(ChannelId channel, Peer* peer) {
  if (peer == nullptr) {
    channels_.erase(channel);
    posted_.erase(channel);
  } else {
    channels_[channel] = peer;
  }
}

// Where TCP carries RDS, a host has one listener for all its addresses, so the question may be
// about another one than that on which it has come.
Refusal Node::Locate(const Address& own, const Address& peer, const Introduction& question) const {
  SocketName name{question.peer, question.port};
  // Which link it is on is not said. A peer that is link-local itself is on it.
  if (IsLinkLocal(name.address)) {
    name.address.scope = name.address.octets == own.octets ? own.scope : peer.scope;
  }
  const bool here = name.address == own;
  if (here && (name.port == kPingPort || by_name_.contains({own, name.port}))) {
    return {Refusal::Kind::kLocated, {self_, link_.service(own)}};
  }
  const Location there = directory_.Find(here ? SocketName{own, name.port} : name);
  // Whether anybody has RDS at the other address is not known.
  if (!here && there.service == 0) return {};
  return {Refusal::Kind::kLocated, there};
}

void Node::OnRequest(ChannelId request, const Address& own, const Address& peer, ByteSpan data) {
  const std::optional<Introduction> introduction = ParseIntroduction(data, own.ipv6);
  if (introduction && introduction->kind == Introduction::Kind::kLocate) {
    link_.Reject(request, Encode(Locate(own, peer, *introduction)));
    return;
  }
  if (introduction && introduction->for_kernel) {
    Peer* const joined = own == peer ? JoinedForKernel(own, *introduction) : nullptr;
    if (joined != nullptr && joined->OnJoin(request, *introduction, now_)) return;
    const auto why = joined == nullptr ? Refusal::Kind::kOther : Refusal::Kind::kBusy;
    link_.Reject(request, Encode(Refusal{why, {}}));
    return;
  }
  if (!introduction || introduction->own.octets != peer.octets ||
      introduction->peer.octets != own.octets) {
    link_.Reject(request, Encode(Refusal{}));
    return;
  }
  // What it says is about messages of another process, which had this service before.
  if (introduction->for_instance != kKernelInstance && introduction->for_instance != self_) {
    link_.Reject(request, Encode(Refusal{}));
    return;
  }
  const bool kernel = introduction->kind == Introduction::Kind::kKernel;
  const Instance instance = kernel ? kKernelInstance : introduction->instance;
  const uint16_t service = kernel ? (own.ipv6 ? kPort6 : kPort) : introduction->port;
  if (PeerAt({own, peer, instance}, service).OnJoin(request, *introduction, now_)) {
    // It would take a question for a new connection, and end this one.
    if (kernel) router_.StopAsking(own, peer);
    return;
  }
  link_.Reject(request, Encode(Refusal{kernel ? Refusal::Kind::kOther : Refusal::Kind::kBusy, {}}));
}

void Node::OnEstablished(ChannelId channel, ByteSpan data) {
  if (router_.OnEstablished(channel, data, now_)) return;
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return;
  Peer* const peer = found->second;
  peer->OnEstablished(data, now_);
  due_.insert(peer);
}

void Node::OnRejected(ChannelId channel, ByteSpan data) {
  const Refusal refusal = ParseRefusal(data);
  if (router_.OnRejected(channel, refusal, now_)) return;
  const auto found = channels_.find(channel);
  if (found != channels_.end()) found->second->OnRejected(refusal, now_);
}

void Node::OnBroken(ChannelId channel, bool refused) {
  if (router_.OnBroken(channel, now_)) return;
  const auto found = channels_.find(channel);
  if (found != channels_.end()) found->second->OnBroken(refused, now_);
}

void Node::OnFrame(ChannelId channel, ByteSpan frame) {
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return;
  Peer* const peer = found->second;
  peer->OnFrame(frame, now_);
  due_.insert(peer);
  used_.insert(peer);
}

bool Node::PostReceives() {
  while (!used_.empty()) {
    Peer* const peer = used_.TakeFirst();
    peer->PostReceives();
    if (peer->connection().wants_frame()) due_.insert(peer);
  }
  return !due_.empty();
}

void Node::OnRoom(ChannelId channel) {
  const auto found = channels_.find(channel);
  if (found != channels_.end()) due_.insert(found->second);
}

// ---- operations ----

void Node::PostOperations(ChannelId channel, uint64_t id) {
  const auto found = outgoing_.find(id);
  if (found == outgoing_.end()) return;
  const SocketId socket = found->second.socket;
  const Operations& operations = found->second.operations;
  if (operations.rdma()) {
    const uint64_t rdma = OperationId(id, Operations::Kind::kRdma);
    posted_[channel][rdma] = socket;
    link_.Post(channel, rdma, *operations.rdma());
  }
  if (operations.atomic()) {
    const uint64_t atomic = OperationId(id, Operations::Kind::kAtomic);
    posted_[channel][atomic] = socket;
    link_.Post(channel, atomic, *operations.atomic());
  }
}

bool Node::IsAtWork(SocketId socket) const {
  return std::ranges::any_of(posted_, [&](const auto& of_channel) {
    return std::ranges::any_of(of_channel.second, [&](const auto& operation) {
      return operation.second == socket && IsTakenBack(operation.first);
    });
  });
}

void Node::Revoke(SocketId socket) {
  for (auto& of_channel : posted_) {
    std::erase_if(of_channel.second, [&](const auto& operation) {
      if (operation.second != socket || !IsTakenBack(operation.first)) return false;
      link_.Revoke(of_channel.first, operation.first);
      return true;
    });
  }
}

void Node::OnOperation(ChannelId channel, uint64_t id, int status) {
  if (const auto of_channel = posted_.find(channel); of_channel != posted_.end()) {
    of_channel->second.erase(id);
  }
  const auto found = outgoing_.find(id / 2);
  if (found == outgoing_.end()) return;
  Outgoing& outgoing = found->second;
  const bool alone = outgoing.operations.silent() && outgoing.octets == 0;
  Tell(outgoing, outgoing.operations.Ended(static_cast<Operations::Kind>(id % 2), status, alone));
  if (status == RDS_RDMA_SUCCESS) {
    if (alone && outgoing.operations.succeeded()) Complete(channel, id / 2);
  } else if (status != RDS_RDMA_DROPPED) {
    // What was refused will be refused again, and would break each connection. This one may have
    // broken before that was told.
    for (const auto& [name, peer] : peers_) peer->connection().Fail(id / 2);
  }
}

// No message follows that the peer would acknowledge. The channel may have broken meanwhile.
void Node::Complete(ChannelId channel, uint64_t id) {
  const auto own = channels_.find(channel);
  if (own != channels_.end()) {
    own->second->connection().Complete(id);
  } else {
    for (const auto& [name, peer] : peers_) peer->connection().Complete(id);
  }
  End(id, RDS_RDMA_SUCCESS);
}

// ---- events of a peer ----

void Node::OnEvent(Peer& peer, Event&& event) {
  if (auto* const arrived = std::get_if<Arrived>(&event)) {
    if (TakeForOthers(peer, arrived->message)) return;
    const SocketName from{peer.name().peer, arrived->message.source_port};
    // Whoever sends can be answered there, unless messages wait to hear where it is: they go first.
    if (peer.name().instance != kKernelInstance && !peer.is_holder() && from.port != kPingPort &&
        !router_.IsAsking(peer.name().own, from)) {
      HearFrom(peer, from);
    }
    Deliver(peer.name().own, from, std::move(arrived->message), peer.began());
  } else if (const auto* const done = std::get_if<Done>(&event)) {
    EndReturn(peer, done->id);
    End(done->id, RDS_RDMA_SUCCESS);
  } else if (const auto* const dropped = std::get_if<Dropped>(&event)) {
    End(dropped->id, RDS_RDMA_DROPPED);
  } else if (const auto* const freed = std::get_if<Freed>(&event)) {
    if (!peer.is_served()) TellFreed(freed->groups);
  } else if (std::holds_alternative<MapCame>(event)) {
    TakeMapOf(peer);
  } else if (std::holds_alternative<Met>(event)) {
    MeetKernel(peer);
  }
}

void Node::OnGone(Peer& peer) { gone_.insert(&peer); }

// Its messages are for whoever has their ports now, and who waits for one of them may try again.
void Node::Forget(Peer& peer) {
  const Address own = peer.name().own;
  const Address remote = peer.name().peer;
  std::vector<SendQueue::Taken> messages = peer.TakeMessages();
  const uint64_t freed = peer.is_served() ? 0 : peer.connection().FreeAll();
  std::erase_if(routes_, [&](const auto& route) { return route.second == &peer; });
  due_.erase(&peer);
  used_.erase(&peer);
  // It stays until nothing names it any more, but cannot be found.
  const auto place = peers_.find(peer.name());
  const std::unique_ptr<Peer> gone = std::move(place->second);
  peers_.erase(place);
  counters_ += gone->connection().counters();
  ForgetKernelsOf(*gone);
  for (SendQueue::Taken& taken : messages) {
    if (taken.begun && taken.message.behind_rdma) {
      End(taken.message.id, RDS_RDMA_DROPPED);
      continue;
    }
    if (KeepOfGone(peer, taken.message)) continue;
    const SocketName to{remote, taken.message.message.destination_port};
    Dispatch(own, to, std::move(taken.message));
  }
  EndMovesOf(peer);
  if (freed != 0) TellFreed(freed);
}

void Node::EndTurn(Time now) {
  now_ = now;
  router_.OnTimer(now);
  LeaveHolders(now);
  for (const auto& [name, peer] : peers_) {
    if (peer->deadline() && *peer->deadline() <= now) peer->OnTimer(now);
  }
  while (!due_.empty() || !gone_.empty()) {
    if (!gone_.empty()) {
      Forget(*gone_.TakeFirst());
      continue;
    }
    due_.TakeFirst()->Pump(now);
  }
}

std::optional<Time> Node::deadline() const {
  std::optional<Time> first = router_.deadline();
  for (const auto& [pair, kernel] : kernels_) {
    if (kernel.leave_at && (!first || *kernel.leave_at < *first)) first = kernel.leave_at;
  }
  for (const auto& [name, peer] : peers_) {
    const std::optional<Time> at = peer->deadline();
    if (at && (!first || *at < *first)) first = at;
  }
  return first;
}

}  // namespace softdat::rds
