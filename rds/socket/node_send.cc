// SPDX-License-Identifier: BSD-3-Clause
// Messages from a socket to a peer or to another socket of this process, and messages that come.
#include <sys/time.h>

#include <cerrno>
#include <utility>

#include "rds/socket/local_operations.h"
#include "rds/socket/node.h"

namespace softdat::rds {
namespace {

uint32_t KeyOf(rds_rdma_cookie_t cookie) { return static_cast<uint32_t>(cookie); }

RdmaDestination DestinationOf(rds_rdma_cookie_t cookie) {
  return {KeyOf(cookie), static_cast<uint32_t>(cookie >> 32)};
}

}  // namespace

// What the message tells the peer of memory of this socket.
int Node::Open(Socket& socket, const SendRequests& requests, std::optional<RdmaDestination>* out) {
  if (requests.destination) {
    if (!socket.regions().contains(KeyOf(*requests.destination))) return EINVAL;
    *out = DestinationOf(*requests.destination);
  }
  if (!requests.map) return 0;
  rds_rdma_cookie_t cookie = 0;
  if (const int error = OpenMemory(socket, *requests.map, &cookie); error != 0) return error;
  *out = DestinationOf(cookie);
  const uint64_t at = requests.map->cookie_address;
  return at == 0 || CopyToProgram(at, &cookie, sizeof cookie) ? 0 : EFAULT;
}

int Node::Send(Socket& socket, const SocketName& to, SendRequests requests,
               std::vector<uint8_t>* payload, Time now) {
  now_ = now;
  socket.SetHasSent();
  // DAT has no masked atomics.
  if (requests.atomic && requests.atomic->masked()) return EOPNOTSUPP;
  const bool has_memory = requests.rdma || requests.atomic || requests.destination || requests.map;
  if (has_memory && IsHeldElsewhere(socket.name().address, to)) return EOPNOTSUPP;
  OutgoingMessage out;
  out.message.source_port = socket.name().port;
  out.message.destination_port = to.port;
  std::optional<RdmaDestination>& opened = out.message.extensions.rdma_destination;
  int error = Open(socket, requests, &opened);
  const Target target = TargetOf(socket.name().address, to);
  if (error == 0 && IsCongested(to, target)) error = ENOBUFS;
  if (error == 0 && !socket.HasRoom()) error = EAGAIN;
  if (error == EAGAIN) counters_.Count(Counter::kSendQueueFull);
  if (error != 0) {
    if (requests.map && opened) CloseMemory(socket, opened->rkey);
    return error;
  }
  Operations operations(std::move(requests.rdma), requests.atomic, socket.options().errors);
  if (operations.rdma()) out.message.extensions.rdma_rkey = KeyOf(operations.rdma()->cookie);
  out.behind_rdma = operations.rdma().has_value();
  out.behind_atomic = operations.atomic().has_value() && !out.behind_rdma;
  out.silent = operations.silent() && payload->empty();
  out.id = ++last_id_;
  out.message.payload = std::move(*payload);
  const size_t octets = out.message.payload.size();
  const bool asks = socket.Queued(octets);
  counters_.Count(Counter::kSendQueued);
  counters_.Count(Counter::kCopyFromUser, octets);
  CountOperations(operations);
  out.asks_for_ack = asks || operations.any();
  out.has_little_room = 2 * socket.queued() >= socket.options().send_limit;
  AddOutgoing(out.id, {socket.id(), to, octets, std::move(operations), requests.zero_copy_cookie});
  changed_.insert(socket.id());
  Dispatch(socket.name().address, to, target, std::move(out));
  return 0;
}

// Most take the place of one that has ended, and so no memory.
void Node::AddOutgoing(uint64_t id, Outgoing&& outgoing) {
  if (spare_.empty()) {
    outgoing_.emplace(id, std::move(outgoing));
    return;
  }
  spare_.key() = id;
  spare_.mapped() = std::move(outgoing);
  outgoing_.insert(std::move(spare_));
}

void Node::CountOperations(const Operations& operations) {
  if (const auto& rdma = operations.rdma()) {
    counters_.Count(Counter::kSendRdma);
    counters_.Count(rdma->write ? Counter::kSendRdmaBytes : Counter::kRecvRdmaBytes, rdma->bytes);
  }
  if (const auto& atomic = operations.atomic()) {
    const bool add = atomic->kind == AtomicOperation::Kind::kFetchAdd;
    counters_.Count(add ? Counter::kIbAtomicFadd : Counter::kIbAtomicCswp);
  }
}

Node::Target Node::TargetOf(const Address& own, const SocketName& to) {
  const auto here = by_name_.find(to);
  if (here != by_name_.end()) return {.here = here->second};
  return {.peer = PeerFor(own, to)};
}

bool Node::IsCongested(const SocketName& to, const Target& target) const {
  if (target.here != nullptr) return own_.at(to.address).Has(to.port);
  return target.peer != nullptr && target.peer->connection().PeerIsCongested(to.port);
}

void Node::Dispatch(const Address& own, const SocketName& to, OutgoingMessage&& message) {
  Dispatch(own, to, TargetOf(own, to), std::move(message));
}

void Node::Dispatch(const Address& own, const SocketName& to, const Target& target,
                    OutgoingMessage&& message) {
  if (HoldIfMoving(own, to, message)) return;
  const SocketName from{own, message.message.source_port};
  if (target.here != nullptr) {
    DispatchHere(*target.here, from, std::move(message));
  } else if (target.peer != nullptr) {
    SendTo(*target.peer, std::move(message));
  } else if (own_.contains(to.address) && !router_.IsAsking(own, to)) {
    // An own address needs no connection to be asked.
    if (to.port == kPingPort) {
      const uint64_t id = message.id;
      Deliver(to.address, from, std::move(message.message), now_);
      End(id, RDS_RDMA_SUCCESS);
      return;
    }
    std::deque<OutgoingMessage> waiting;
    waiting.push_back(std::move(message));
    OnLocated(own, to, directory_.Find(to), std::move(waiting));
  } else {
    router_.Keep(own, to, std::move(message), now_);
  }
}

// Both ends are sockets of this process.
void Node::DispatchHere(Socket& target, const SocketName& from, OutgoingMessage&& message) {
  int status = RDS_RDMA_SUCCESS;
  const auto found = outgoing_.find(message.id);
  if (found != outgoing_.end() && found->second.operations.any()) {
    const Operations& operations = found->second.operations;
    const auto region = [&](rds_rdma_cookie_t cookie) {
      return RegionOf(target.name().address, KeyOf(cookie));
    };
    if (operations.rdma()) status = Carry(*operations.rdma(), region(operations.rdma()->cookie));
    if (operations.atomic() && status == RDS_RDMA_SUCCESS) {
      status = Carry(*operations.atomic(), region(operations.atomic()->cookie));
    }
  }
  const uint64_t id = message.id;
  if (status == RDS_RDMA_SUCCESS && !message.silent) {
    Deliver(target.name().address, from, std::move(message.message), now_);
  }
  End(id, status);
}

// ---- in ----

void Node::Deliver(const Address& own, const SocketName& from, Message&& message, Time began) {
  if (message.destination_port == kPingPort) {
    counters_.Count(Counter::kRecvPing);
    Pong(own, from);
    return;
  }
  const auto found = by_name_.find({own, message.destination_port});
  if (found == by_name_.end()) {
    counters_.Count(Counter::kRecvDropNoSock);
    return;
  }
  Socket& socket = *found->second;
  counters_.Count(Counter::kRecvQueued);
  counters_.Count(Counter::kRecvBytesAddedToSock, message.payload.size());
  if (message.extensions.rdma_rkey) {
    const auto region = socket.regions().find(*message.extensions.rdma_rkey);
    if (region != socket.regions().end() && region->second.use_once) CloseMemory(socket, region);
  }
  Received received{from, std::move(message), {}, began, now_};
  if (socket.options().timestamps) gettimeofday(&received.arrival.emplace(), nullptr);
  if (socket.Take(std::move(received))) SetCongested(socket.name(), true);
  changed_.insert(socket.id());
}

void Node::Pong(const Address& own, const SocketName& to) {
  OutgoingMessage out;
  out.id = ++last_id_;
  out.message.destination_port = to.port;
  const Target target = TargetOf(own, to);
  if (IsCongested(to, target)) return;
  counters_.Count(Counter::kSendPong);
  Dispatch(own, to, target, std::move(out));
}

}  // namespace softdat::rds
