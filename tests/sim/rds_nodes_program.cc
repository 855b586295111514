// SPDX-License-Identifier: BSD-3-Clause
// RdsNodesProgram: processes, their turns, and what happens to them.
#include "tests/sim/rds_nodes_program.h"

#include <algorithm>
#include <utility>

namespace softdat::sim {

using rds::Address;

namespace {

constexpr size_t kMostProcesses = 6;  // that live
constexpr size_t kMostSockets = 16;

}  // namespace

RdsNodesProgram::RdsNodesProgram(uint64_t seed)
    : seed_(seed), random_(seed * 0x9e3779b97f4a7c15), network_(&time_, &random_) {
  const auto one_of = [&](std::initializer_list<uint64_t> choices) {
    return choices.begin()[Draw(choices.size())];
  };
  RdsNetwork::Weather& weather = network_.weather();
  weather.latency_us = one_of({5, 30, 400});
  weather.late_one_in = one_of({0, 3, 20});
  weather.late_us = one_of({1000, 30'000});
  weather.connect_fails_one_in = one_of({0, 0, 10});
  weather.register_fails_one_in = one_of({0, 20});
  trouble_one_in_ = one_of({0, 8, 25, 80});
  kill_one_in_ = one_of({0, 3, 8});
  rdma_ = Draw(2) == 0;
  largest_ = one_of({60, 300, 9000, 30'000});
  receive_limit_ = one_of({2000, 20'000, 100'000});
  send_limit_ = one_of({2000, 20'000, 100'000});
  reads_one_in_ = one_of({1, 3, 30});
  ports_move_ = Draw(2) == 0;
  const size_t count = 1 + Draw(3);
  for (size_t i = 0; i < count; ++i) {
    Address address;
    address.octets = {10, 0, 0, static_cast<uint8_t>(i + 1)};
    addresses_.push_back(address);
  }
  const size_t processes = std::max<size_t>(count, 2 + Draw(kMostProcesses - 1));
  for (size_t i = 0; i < processes; ++i) StartProcess(addresses_[i % count]);
}

void RdsNodesProgram::Expect(bool ok, const std::string& what) {
  if (ok || !wrong_.empty()) return;
  wrong_ =
      "seed " + std::to_string(seed_) + " at " + std::to_string(time_.now_us()) + " us: " + what;
}

std::string RdsNodesProgram::Run() {
  const uint64_t actions = 60 + Draw(200);
  const uint64_t pace_us = 1 + Draw(Draw(2) == 0 ? 100 : 3000);
  for (uint64_t i = 0; wrong_.empty() && i < actions; ++i) {
    time_.RunUntil(time_.now_us() + Draw(pace_us));
    if (OneIn(trouble_one_in_)) {
      Trouble();
    } else {
      Act();
    }
  }
  if (wrong_.empty()) Calm();
  if (wrong_.empty()) CheckNodes();
  if (wrong_.empty()) CheckMessages();
  if (wrong_.empty()) CheckOperations();
  if (wrong_.empty()) CheckMemory();
  Expect(network_.wrong().empty(), network_.wrong());
  return wrong_;
}

void RdsNodesProgram::Act() {
  const uint64_t kind = Draw(40);
  if (kind == 0) {
    if (Process* const process = AnyProcess(); process != nullptr && bound_.size() < kMostSockets) {
      OpenSocket(*process);
    }
    return;
  }
  const std::optional<size_t> socket = AnySocket();
  if (!socket) return;
  switch (kind) {
    case 1:
      return OneIn(3) ? CloseSocket(*socket) : void();
    case 2:
      return OneIn(3) ? Cancel(*socket) : void();
    case 3:
      return Ping(*socket);
    case 4:
    case 5:
      return CloseMemory(*socket);
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
      return rdma_ ? UseOffer(*socket) : SendSomething(*socket);
    case 11:
    case 12:
      return rdma_ ? UseCounter(*socket) : SendSomething(*socket);
    default:
      if (kind < 28) return SendSomething(*socket);
      if (OneIn(sockets_[*socket].reads_one_in)) Read(*socket, 1 + Draw(10));
  }
}

void RdsNodesProgram::Trouble() {
  if (OneIn(kill_one_in_)) {
    Process* const process = AnyProcess();
    if (process == nullptr) return;
    // Or when it has taken what comes next, and said something to that.
    if (Draw(2) == 0) {
      process->dies = true;
    } else {
      Kill(*process);
    }
    return;
  }
  if (OneIn(6)) {
    const Address& one = addresses_[Draw(addresses_.size())];
    network_.Part(one, addresses_[Draw(addresses_.size())]);
    time_.After(Draw(20'000), [this] { network_.Heal(); });
    ++tally_.breaks;
    return;
  }
  if (network_.BreakOne()) ++tally_.breaks;
}

// ---- processes ----

RdsNodesProgram::Process* RdsNodesProgram::AnyProcess() {
  std::vector<Process*> living;
  for (const auto& process : processes_) {
    if (process->alive) living.push_back(process.get());
  }
  return living.empty() ? nullptr : living[Draw(living.size())];
}

void RdsNodesProgram::StartProcess(const Address& address) {
  auto process = std::make_unique<Process>();
  Process* const p = process.get();
  p->index = processes_.size();
  // Which of two has the lower one decides whose connection they use.
  p->instance = static_cast<rds::Instance>(1 + Draw(UINT32_MAX));
  p->addresses = {address};
  const uint32_t credits[] = {0, 8, 64, 64};
  p->link = std::make_unique<RdsLink>(&network_, credits[Draw(4)], 3 + Draw(30), [this, p] {
    if (std::exchange(p->turn_due, true)) return;
    time_.After(Draw(30), [this, p] { Turn(*p, /*timer=*/false); });
  });
  p->node = std::make_unique<rds::Node>(p->instance, p->link.get(), &ports_);
  processes_.push_back(std::move(process));
  OpenSocket(*p);
  if (addresses_.size() > 1 && OneIn(3)) {
    const Address& more = addresses_[Draw(addresses_.size())];
    if (std::ranges::find(p->addresses, more) == p->addresses.end()) p->addresses.push_back(more);
  }
  for (uint64_t i = Draw(3); i > 0; --i) OpenSocket(*p);
}

void RdsNodesProgram::Kill(Process& process) {
  ++tally_.kills;
  process.alive = process.dies = false;
  time_.Cancel(std::exchange(process.timer, 0));
  std::erase_if(ports_.at, [&](const auto& p) { return p.second.instance == process.instance; });
  for (size_t i = 0; i < sockets_.size(); ++i) {
    Socket& socket = sockets_[i];
    if (socket.process != process.index || !socket.alive) continue;
    socket.alive = false;
    Unblock(i);
    bound_.erase(socket.name);
  }
  network_.Kill(process.link.get());
  process.node.reset();
  for (const Address& address : process.addresses) {
    time_.After(Draw(20'000), [this, address] { TakeOver(address); });
  }
  if (Draw(3) != 0) {
    time_.After(Draw(10'000), [this, address = process.addresses[0]] {
      if (processes_.size() < 3 * kMostProcesses) StartProcess(address);
    });
  }
}

// One of the processes that are left takes RDS's own service.
void RdsNodesProgram::TakeOver(const Address& address) {
  for (const auto& process : processes_) {
    if (process->alive && process->link->listens(address)) {
      network_.Hold(process->link.get(), address);
    }
  }
}

// ---- turns ----

void RdsNodesProgram::Turn(Process& process, bool timer) {
  if (!process.alive) return;
  ++tally_.turns;
  process.idle_turns = timer ? process.idle_turns + 1 : 0;
  Expect(process.idle_turns < 3000, "a timer fires again and again");
  process.turn_due = false;
  process.node->SetNow(now());
  process.link->Drain(*process.node);
  Settle(process);
  if (process.dies && !timer) Kill(process);
}

// What a call or events have left to be done.
void RdsNodesProgram::Settle(Process& process) {
  process.node->EndTurn(now());
  if (process.node->PostReceives()) process.node->EndTurn(now());
  time_.Cancel(std::exchange(process.timer, 0));
  if (const std::optional<rds::Time> at = process.node->deadline()) {
    const auto us = std::chrono::ceil<std::chrono::microseconds>(*at).count();
    process.timer = time_.At(static_cast<uint64_t>(us), [this, p = &process] {
      p->timer = 0;
      Turn(*p, /*timer=*/true);
    });
  }
  Changed(process);
}

// Who waits tries again when it is told that something has changed, and only then.
void RdsNodesProgram::Changed(Process& process) {
  const rds::SmallSet<rds::SocketId>& changed = process.node->TakeChanged();
  for (size_t i = 0; i < sockets_.size(); ++i) {
    Socket& socket = sockets_[i];
    if (!socket.alive || socket.process != process.index || !changed.contains(socket.id)) continue;
    if (calm_) time_.After(Draw(20), [this, i] { Read(i, 100); });
    if (!socket.blocked) continue;
    time_.After(Draw(20), [this, i] {
      if (!sockets_[i].blocked) return;
      Blocked again = std::move(*sockets_[i].blocked);
      sockets_[i].blocked.reset();
      TrySend(i, std::move(again));
    });
  }
}

}  // namespace softdat::sim
