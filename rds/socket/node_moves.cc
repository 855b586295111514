// SPDX-License-Identifier: BSD-3-Clause
// Ports that go from one process to another while both live.
//
// The process that had the port returns what comes for it, in order and once: it says which
// messages these were, as messages on the same connection (kReturned). With the first one, or when
// the port is heard of from elsewhere, the sender holds back what it wants to send there, and sends
// a barrier (kBarrier) behind what is under way. The old process returns that, too. So when it
// comes back, so has everything in front of it that was not delivered, and all of it is sent to
// where the port is now: first what came back, then what was held.
//
// What is returned is not acknowledged before that was said. So when the old process dies, each
// message is still the sender's, returned or not.
//
// Only what nobody had the port for is lost, as on Linux.
#include <algorithm>
#include <utility>
#include <vector>

#include "rds/socket/node.h"

namespace softdat::rds {

// ---- the process that had the port ----

void Node::SendBack(Peer& peer, const Message& message) {
  OutgoingMessage out;
  out.id = ++last_id_;
  out.message.source_port = message.source_port;
  out.message.destination_port = message.destination_port;
  out.message.marks = message.marks | kReturned;
  out.message.extensions.returned = static_cast<uint32_t>(message.sequence);
  out.returns = message.sequence;
  returns_[out.id] = message.sequence;
  peer.connection().Send(std::move(out));
  due_.insert(&peer);
}

// The sender has it again.
void Node::EndReturn(Peer& peer, uint64_t id) {
  const auto found = returns_.find(id);
  if (found == returns_.end()) return;
  peer.connection().EndReturn(found->second);
  returns_.erase(found);
}

// Once a message was returned, so are those behind it, until the sender knows.
bool Node::ReturnIfMoved(Peer& peer, const Message& message) {
  const std::pair refusal{peer.name(), message.destination_port};
  if ((message.marks & kBarrier) != 0) {
    refusing_.erase(refusal);
    SendBack(peer, message);
    return true;
  }
  if (!refusing_.contains(refusal)) {
    const SocketName name{peer.name().own, message.destination_port};
    if (name.port == kPingPort || by_name_.contains(name)) return false;
    const Location there = directory_.Find(name);
    if (there.service == 0 || there.instance == self_) return false;
    refusing_.insert(refusal);
  }
  SendBack(peer, message);
  return true;
}

// ---- the sender ----

void Node::MoveFrom(Peer& old, const SocketName& to) {
  const Address own = old.name().own;
  const auto [move, fresh] = moves_.try_emplace({own, to});
  if (!fresh) return;
  move->second.old = &old;
  routes_.erase({own, to});
  OutgoingMessage barrier;
  barrier.id = ++last_id_;
  barrier.message.destination_port = to.port;
  barrier.message.marks = kBarrier;
  barrier.asks_for_ack = true;
  old.connection().Send(std::move(barrier));
  due_.insert(&old);
}

// A peer can return what was sent to it, and nothing else.
void Node::TakeReturned(Peer& peer, const Message& message) {
  const Address own = peer.name().own;
  const SocketName to{peer.name().peer, message.destination_port};
  const auto route = routes_.find({own, to});
  if (route != routes_.end() && route->second == &peer) MoveFrom(peer, to);
  const auto move = moves_.find({own, to});
  if (move == moves_.end() || move->second.old != &peer) return;
  if ((message.marks & kBarrier) != 0) {
    EndMove(move);
    return;
  }
  if (!message.extensions.returned) return;
  // Unless its socket has taken it back.
  std::optional<OutgoingMessage> again =
      peer.connection().TakeReturned(*message.extensions.returned, to.port);
  if (!again) return;
  ForgetOperations(*again);
  move->second.returned.push_back(*std::move(again));
}

// Those of a message that came have been carried out. They say nothing to another process.
void Node::ForgetOperations(OutgoingMessage& message) {
  message.behind_rdma = message.behind_atomic = false;
  message.message.extensions.rdma_rkey.reset();
  message.message.extensions.carried.reset();
  const auto found = outgoing_.find(message.id);
  if (found == outgoing_.end()) return;
  Tell(found->second, found->second.operations.AllEnded(RDS_RDMA_SUCCESS));
  found->second.operations = {};
}

void Node::EndMove(std::map<Way, PortMove>::iterator at) {
  const auto [own, to] = at->first;
  PortMove move = std::move(at->second);
  moves_.erase(at);
  for (auto* const messages : {&move.returned, &move.held}) {
    for (OutgoingMessage& message : *messages) Dispatch(own, to, std::move(message));
  }
}

bool Node::HoldIfMoving(const Address& own, const SocketName& to, OutgoingMessage& message) {
  if (moves_.empty()) return false;
  const auto move = moves_.find({own, to});
  if (move == moves_.end()) return false;
  move->second.held.push_back(std::move(message));
  return true;
}

// A message of the peer, and its marks. False: it is an ordinary one.
bool Node::TakeMoved(Peer& peer, const Message& message) {
  if (peer.name().instance == kKernelInstance) return false;
  if ((message.marks & kReturned) == 0) return ReturnIfMoved(peer, message);
  TakeReturned(peer, message);
  return true;
}

// The peer has the port: what went elsewhere is to come back first.
void Node::HearFrom(Peer& peer, const SocketName& from) {
  const Way way{peer.name().own, from};
  const auto route = routes_.find(way);
  if (route != routes_.end()) {
    if (route->second == &peer) return;
    MoveFrom(*route->second, from);
  }
  routes_.try_emplace(way, &peer);
}

// This process has the port.
void Node::MoveHere(const SocketName& name) {
  std::vector<Peer*> old;
  for (const auto& [way, peer] : routes_) {
    if (way.second == name) old.push_back(peer);
  }
  for (Peer* const peer : old) MoveFrom(*peer, name);
  // What waits to hear where the port is goes in front of what is sent from now on.
  for (auto& [own, message] : router_.Take(name)) Dispatch(own, name, std::move(message));
}

// The peer is to be forgotten, and has left this message. False: it has nothing to do with a move.
bool Node::KeepOfGone(const Peer& peer, OutgoingMessage& message) {
  returns_.erase(message.id);
  if ((message.message.marks & (kNumbered | kBarrier | kReturned)) != 0) return true;
  const auto move =
      moves_.find({peer.name().own, {peer.name().peer, message.message.destination_port}});
  if (move == moves_.end() || move->second.old != &peer) return false;
  move->second.returned.push_back(std::move(message));
  return true;
}

void Node::EndMovesOf(Peer& peer) {
  std::erase_if(refusing_, [&](const auto& refusal) { return refusal.first == peer.name(); });
  const auto of_peer = [&](const auto& move) { return move.second.old == &peer; };
  for (auto move = std::ranges::find_if(moves_, of_peer); move != moves_.end();
       move = std::ranges::find_if(moves_, of_peer)) {
    EndMove(move);
  }
}

}  // namespace softdat::rds
