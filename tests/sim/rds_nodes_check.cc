// SPDX-License-Identifier: BSD-3-Clause
// RdsNodesProgram: the end, and what must have become of everything.
#include <linux/rds.h>

#include <algorithm>

#include "tests/sim/rds_nodes_program.h"

namespace softdat::sim {

// Nothing goes wrong any more, and everybody reads.
void RdsNodesProgram::Calm() {
  time_.RunUntil(time_.now_us() + 25'000);  // what had begun, comes
  calm_ = true;
  for (const auto& process : processes_) process->dies = false;
  network_.Heal();
  RdsNetwork::Weather& weather = network_.weather();
  weather.late_one_in = weather.connect_fails_one_in = weather.register_fails_one_in = 0;
  for (const rds::Address& address : addresses_) {
    const bool somebody = std::ranges::any_of(processes_, [&](const auto& process) {
      return process->alive && process->link->listens(address);
    });
    if (somebody) {
      TakeOver(address);
    } else {
      StartProcess(address);
    }
  }
  for (size_t i = 0; i < sockets_.size(); ++i) Read(i, SIZE_MAX);
  Rest("after all of it");
  if (wrong_.empty()) SendToAll();
}

// Until nothing is to happen any more.
void RdsNodesProgram::Rest(const char* when) {
  const uint64_t until_us = time_.now_us() + 60'000'000;
  for (uint64_t steps = 0; wrong_.empty() && time_.Step(); ++steps) {
    Expect(time_.now_us() < until_us && steps < 500'000, std::string("there is no rest ") + when);
  }
}

void RdsNodesProgram::SendToAll() {
  std::vector<size_t> living;
  for (const auto& [name, socket] : bound_) living.push_back(socket);
  for (Socket& socket : sockets_) socket.pings = socket.pongs = 0;
  const size_t first = messages_.size();
  for (size_t i = 0; i < living.size(); ++i) {
    for (size_t k = 1; k <= 3; ++k) {
      const rds::SocketName& to = sockets_[living[(i + k) % living.size()]].name;
      Expect(!sockets_[living[i]].blocked, "a send waits in the end");
      Blocked send;
      send.message = NewMessage(living[i], to, sizeof(uint64_t));
      Expect(TrySend(living[i], std::move(send)), "a send fails in the end");
    }
    Ping(living[i]);
  }
  Rest("in the end");
  for (size_t i = first; i < messages_.size(); ++i) {
    Expect(messages_[i].arrived == 1, "message " + std::to_string(i) + " of the end is lost");
  }
  for (const size_t i : living) {
    Expect(sockets_[i].pongs == sockets_[i].pings, "a ping of the end has no answer");
  }
}

// ---- nodes ----

void RdsNodesProgram::CheckNodes() {
  size_t channels = 0;
  for (const auto& process : processes_) {
    if (!process->alive) continue;
    CheckNode(*process);
    channels += process->link->channels();
  }
  Expect(channels == 2 * network_.wires(), "a connection has one end");
}

void RdsNodesProgram::CheckNode(Process& process) {
  const rds::Node& node = *process.node;
  for (const auto& [name, peer] : node.peers()) {
    const bool lives = std::ranges::any_of(processes_, [&name = name](const auto& other) {
      return other->alive && other->instance == name.instance;
    });
    Expect(lives, "a process that has ended is still a peer");
    Expect(peer->up(), "a peer has no connection");
    Expect(peer->connection().unacknowledged() == 0, "something is not acknowledged");
  }
  Expect(process.link->channels() == node.peers().size(), "a channel is left");
  size_t regions = 0;
  for (const auto& [id, socket] : node.sockets()) {
    Expect(socket->queued() == 0, "the room of a socket is still taken");
    Expect(socket->first() == nullptr && socket->notifications().empty(),
           "something waits to be read");
    regions += socket->regions().size();
  }
  Expect(process.link->regions() == regions, "memory is still open");
  for (const Socket& socket : sockets_) {
    if (!socket.alive || socket.process != process.index) continue;
    Expect(!socket.blocked, "a send waits for ever");
    Expect(!socket.awaits_freed, "a socket that monitors is not told that a port is free");
  }
}

// ---- messages and operations ----

void RdsNodesProgram::CheckMessages() {
  for (size_t i = 0; i < messages_.size(); ++i) {
    const Sent& sent = messages_[i];
    if (sent.cancelled || !sent.receiver || sent.size == 0) continue;
    if (!sockets_[sent.from].alive || !sockets_[*sent.receiver].alive) continue;
    const Operation* const operation = sent.operation ? &operations_[*sent.operation] : nullptr;
    // What follows an RDMA operation may be lost with it, what follows another one only if that
    // fails.
    const bool may_be_lost = operation != nullptr && (!operation->atomic || OutOfReach(*operation));
    Expect(sent.arrived == 1 || may_be_lost, "message " + std::to_string(i) + " is lost");
    if (operation == nullptr || operation->told == 0) continue;
    if (operation->status == RDS_RDMA_SUCCESS) {
      Expect(sent.arrived == 1, "message " + std::to_string(i) + " behind an operation is lost");
    }
    if (operation->status == RDS_RDMA_REMOTE_ERROR) {
      Expect(sent.arrived == 0, "a message comes behind an operation that failed");
    }
  }
}

void RdsNodesProgram::CheckOperations() {
  for (size_t i = 0; i < operations_.size(); ++i) {
    const Operation& operation = operations_[i];
    if (!sockets_[operation.socket].alive || !operation.notify) continue;
    Expect(
        operation.told == (operation.not_sent ? 0 : 1),
        "operation " + std::to_string(i) + " is told " + std::to_string(operation.told) + " times");
  }
}

}  // namespace softdat::sim
