// SPDX-License-Identifier: BSD-3-Clause
// RdsNodesProgram: what programs do with their sockets.
#include <linux/rds.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/sim/rds_nodes_program.h"

namespace softdat::sim {

using rds::SocketName;

namespace {

constexpr uint16_t kFirstPort = 4000, kPorts = 8;
constexpr size_t kNumber = sizeof(uint64_t);  // octets of a message that say which one it is

// A message says its number, and the rest follows from that.
std::vector<uint8_t> PayloadOf(size_t message, size_t size) {
  std::vector<uint8_t> out(size);
  if (size == 0) return out;
  for (size_t k = kNumber; k < size; ++k) {
    out[k] = static_cast<uint8_t>(k * 7 + k / 251 + message * 31);
  }
  const uint64_t number = message;
  std::memcpy(out.data(), &number, kNumber);
  return out;
}

}  // namespace

// ---- sockets ----

std::optional<size_t> RdsNodesProgram::AnySocket() {
  if (bound_.empty()) return std::nullopt;
  auto chosen = bound_.begin();
  std::advance(chosen, static_cast<ptrdiff_t>(Draw(bound_.size())));
  return chosen->second;
}

std::optional<SocketName> RdsNodesProgram::FreeName(const Process& process) {
  const rds::Address& address = process.addresses[Draw(process.addresses.size())];
  const uint64_t first = Draw(kPorts);
  for (uint64_t i = 0; i < kPorts; ++i) {
    const SocketName name{address, static_cast<uint16_t>(kFirstPort + (first + i) % kPorts)};
    const auto last = last_owners_.find(name);
    const bool moves = last != last_owners_.end() && last->second != process.index &&
                       processes_[last->second]->alive;
    if (bound_.contains(name) || (moves && !ports_move_)) continue;
    if (moves) ++tally_.moves;
    return name;
  }
  return std::nullopt;
}

void RdsNodesProgram::OpenSocket(Process& process) {
  const std::optional<SocketName> name = FreeName(process);
  if (!name) return;
  Socket socket;
  rds::Socket& opened = process.node->Open();
  socket.process = process.index;
  socket.id = opened.id();
  socket.name = *name;
  socket.reads_one_in = 1 + Draw(reads_one_in_);
  if (!process.link->listens(name->address)) {
    network_.Listen(process.link.get(), name->address);
    network_.Hold(process.link.get(), name->address);
  }
  opened.options().receive_limit = receive_limit_;
  opened.options().send_limit = send_limit_;
  opened.options().errors = Draw(2) == 0;
  opened.SetMonitor(Draw(2) == 0);
  process.node->SetNow(now());
  process.node->Bind(opened, *name);
  ports_.at[*name] = {process.instance, process.link->service(name->address)};
  bound_[*name] = sockets_.size();
  last_owners_[*name] = process.index;
  sockets_.push_back(std::move(socket));
  Settle(process);
}

void RdsNodesProgram::CloseSocket(size_t socket) {
  Socket& s = sockets_[socket];
  s.alive = false;
  Unblock(socket);
  bound_.erase(s.name);
  ports_.at.erase(s.name);
  Process& process = *processes_[s.process];
  process.node->Close(Of(socket), now());
  process.node->Revoke(s.id);
  ReuseMemory(socket);
  Settle(process);
}

// ---- sending ----

// Mostly that of a socket that there is.
SocketName RdsNodesProgram::AnyName() {
  const std::optional<size_t> other = AnySocket();
  if (other && Draw(12) != 0) return sockets_[*other].name;
  // Or of one that there is not.
  return {addresses_[Draw(addresses_.size())], static_cast<uint16_t>(kFirstPort + Draw(kPorts))};
}

size_t RdsNodesProgram::NewMessage(size_t socket, const SocketName& to, size_t size) {
  Sent sent;
  sent.from = socket;
  sent.to = to;
  sent.size = size;
  messages_.push_back(std::move(sent));
  return messages_.size() - 1;
}

void RdsNodesProgram::SendSomething(size_t socket) {
  if (sockets_[socket].blocked) return;
  const size_t size = kNumber + Draw(OneIn(4) ? largest_ : 60);
  Blocked send;
  send.message = NewMessage(socket, AnyName(), size);
  if (rdma_ && OneIn(2)) {
    messages_[send.message].offers = OfferMemory(socket, &send.requests);
  }
  TrySend(socket, std::move(send));
}

// Returns whether it was accepted, or will be tried again.
bool RdsNodesProgram::TrySend(size_t socket, Blocked send) {
  Socket& s = sockets_[socket];
  Process& process = *processes_[s.process];
  Sent& sent = messages_[send.message];
  send.payload = PayloadOf(send.message, sent.size);
  // Who has no memory is not told when there is some again.
  const uint64_t no_memory = network_.weather().register_fails_one_in;
  if (send.requests.map) network_.weather().register_fails_one_in = 0;
  const auto receiver = bound_.find(sent.to);
  sent.receiver.reset();
  if (receiver != bound_.end()) sent.receiver = receiver->second;
  const int error = process.node->Send(Of(socket), sent.to, send.requests, &send.payload, now());
  network_.weather().register_fails_one_in = no_memory;
  if (error == 0) {
    ++tally_.sent;
    Settle(process);
    return true;
  }
  Expect(error == EAGAIN || error == ENOBUFS, "a send fails with " + std::to_string(error));
  ++(error == EAGAIN ? tally_.full : tally_.congested);
  if (error == ENOBUFS) {
    Of(socket).MetCongestion(sent.to.port);
    s.awaits_freed = Of(socket).options().monitor;
  }
  if (calm_ || OneIn(2)) {
    s.blocked = std::move(send);
    Settle(process);
    return true;
  }
  sent.cancelled = true;
  if (sent.operation) operations_[*sent.operation].not_sent = true;
  Settle(process);
  return false;
}

// A send that waits will not be tried again.
void RdsNodesProgram::Unblock(size_t socket) {
  std::optional<Blocked>& blocked = sockets_[socket].blocked;
  if (!blocked) return;
  const Sent& sent = messages_[blocked->message];
  if (sent.operation) operations_[*sent.operation].not_sent = true;
  blocked.reset();
}

void RdsNodesProgram::Ping(size_t socket) {
  Process& process = *processes_[sockets_[socket].process];
  const SocketName to{addresses_[Draw(addresses_.size())], rds::kPingPort};
  std::vector<uint8_t> nothing;
  if (process.node->Send(Of(socket), to, {}, &nothing, now()) == 0) ++sockets_[socket].pings;
  Settle(process);
}

void RdsNodesProgram::Cancel(size_t socket) {
  std::optional<SocketName> to;
  if (Draw(3) != 0) to = AnyName();
  Process& process = *processes_[sockets_[socket].process];
  process.node->Cancel(Of(socket), to, now());
  process.node->Revoke(sockets_[socket].id);
  for (Sent& sent : messages_) {
    if (sent.from != socket || (to && sent.to != *to)) continue;
    sent.cancelled = true;
    ++tally_.cancelled;
  }
  ReuseMemory(socket);
  Settle(process);
}

// ---- receiving ----

void RdsNodesProgram::Read(size_t socket, size_t most) {
  if (!sockets_[socket].alive) return;
  Process& process = *processes_[sockets_[socket].process];
  TakeStatuses(socket);
  while (most-- > 0 && Of(socket).first() != nullptr) {
    const rds::Received received = *Of(socket).first();
    process.node->Pop(Of(socket), now());
    if (received.from.port == rds::kPingPort) {
      TakePong(socket, received);
    } else {
      TakeMessage(socket, received);
    }
  }
  Settle(process);
}

void RdsNodesProgram::TakeStatuses(size_t socket) {
  rds::Socket& s = Of(socket);
  while (!s.notifications().empty()) {
    TakeStatus(socket, s.notifications().front());
    s.notifications().pop_front();
  }
  if (s.TakeFreed() != 0) sockets_[socket].awaits_freed = false;
}

void RdsNodesProgram::TakePong(size_t socket, const rds::Received& received) {
  Socket& s = sockets_[socket];
  ++tally_.pongs;
  Expect(received.message.payload.empty(), "a pong has a payload");
  // One may be for a socket that had the name before.
  ++s.pongs;
}

void RdsNodesProgram::TakeMessage(size_t socket, const rds::Received& received) {
  ++tally_.arrived;
  const std::vector<uint8_t>& payload = received.message.payload;
  uint64_t number = UINT64_MAX;
  if (payload.size() >= kNumber) std::memcpy(&number, payload.data(), kNumber);
  Expect(number < messages_.size(), "nobody sent this");
  if (number >= messages_.size()) return;
  Sent& sent = messages_[number];
  Socket& s = sockets_[socket];
  const std::string name = "message " + std::to_string(number);
  Expect(sent.to == s.name, name + " comes to another socket");
  Expect(received.from == sockets_[sent.from].name, name + " comes from another name");
  Expect(payload == PayloadOf(number, sent.size), name + " is not what was sent");
  const auto last = s.last.find(sent.from);
  if (last != s.last.end()) {
    Expect(last->second != number, name + " comes twice");
    Expect(last->second <= number, name + " comes late");
  }
  s.last[sent.from] = number;
  // A socket that had the name later may get it as well.
  if (sent.receiver == socket) ++sent.arrived;
  if (sent.operation) {
    if (operations_[*sent.operation].write) CheckWritten(*sent.operation, "when its message comes");
  }
  const auto& opened = received.message.extensions.rdma_destination;
  Expect(opened.has_value() == sent.offers.has_value(), name + " has lost its cookie");
  if (!opened || !sent.offers) return;
  Region& region = regions_[*sent.offers];
  region.cookie = opened->rkey | uint64_t{opened->offset} << 32;
  if (region.atomic) {
    s.counters.push_back(*sent.offers);
  } else {
    s.offers.push_back(*sent.offers);
  }
}

}  // namespace softdat::sim
