// SPDX-License-Identifier: BSD-3-Clause
// A process with RDS in virtual time, for tests that say themselves what happens to it.
#ifndef SOFTDAT_TESTS_SIM_RDS_PROCESS_H_
#define SOFTDAT_TESTS_SIM_RDS_PROCESS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "rds/socket/node.h"
#include "tests/sim/rds_network.h"
#include "tests/sim/virtual_time.h"

namespace softdat::sim {

using rds::Address;
using rds::SocketName;

inline Address AddressOf(uint8_t host) {
  Address out;
  out.octets = {10, 0, 0, host};
  return out;
}

// What the processes of this host know of each other.
struct Ports : rds::Directory {
  rds::Location Find(const SocketName& name) const override {
    const auto found = at.find(name);
    return found == at.end() ? rds::Location{} : found->second;
  }
  bool IsKernel(const Address& own, const Address& peer) const override {
    return kernels.contains({own, peer});
  }
  std::map<SocketName, rds::Location> at;
  std::map<std::pair<Address, Address>, rds::Instance> kernels;  // who says so
};

struct World {
  explicit World(uint64_t seed) : random(seed), network(&time, &random) {}
  uint64_t Draw(uint64_t bound) { return random() % bound; }

  std::mt19937_64 random;
  VirtualTime time;
  RdsNetwork network;
  Ports ports;
  bool roomy = false;  // connections have room for all
};

class Process {
 public:
  Process(World* world, rds::Instance instance, const Address& address)
      : world_(*world), instance_(instance), address_(address) {
    const uint32_t credits[] = {0, 8, 64};
    const uint32_t credit = world_.roomy ? 0 : credits[world_.Draw(3)];
    const size_t ring = world_.roomy ? 1000 : 3 + world_.Draw(8);
    link_ = std::make_unique<RdsLink>(&world_.network, credit, ring, [this] { TurnSoon(); });
    node_ = std::make_unique<rds::Node>(instance, link_.get(), &world_.ports);
    world_.network.Listen(link_.get(), address);
    TakeOver();
  }
  // Becomes the one who has RDS's own service, unless somebody has it.
  void TakeOver() {
    if (!world_.network.Hold(link_.get(), address_) || node_->holds(address_)) return;
    world_.ports.at[{address_, rds::kReservedPort}] = {instance_, link_->service(address_)};
    node_->Hold(address_, now());
    Settle();
  }

  rds::Socket& Bind(const SocketName& name) {
    rds::Socket& socket = node_->Open();
    socket.options().send_limit = 1 << 20;
    node_->SetNow(now());
    node_->Bind(socket, name);
    world_.ports.at[name] = {instance_, link_->service(name.address)};
    Settle();
    return socket;
  }
  void Close(rds::Socket& socket) {
    world_.ports.at.erase(socket.name());
    node_->Close(socket, now());
    Settle();
  }
  // Returns 0 or an errno.
  int TrySend(rds::Socket& socket, const SocketName& to, uint64_t number,
              rds::SendRequests requests = {}) {
    std::vector<uint8_t> payload(sizeof number);
    std::memcpy(payload.data(), &number, sizeof number);
    const int error = node_->Send(socket, to, std::move(requests), &payload, now());
    Settle();
    return error;
  }
  void Send(rds::Socket& socket, const SocketName& to, uint64_t number) {
    EXPECT_EQ(TrySend(socket, to, number), 0);
  }
  std::vector<uint64_t> ReceiveAll(rds::Socket& socket) {
    std::vector<uint64_t> out;
    for (; socket.first() != nullptr; node_->Pop(socket, now())) {
      std::memcpy(&out.emplace_back(), socket.first()->message.payload.data(), sizeof(uint64_t));
    }
    Settle();
    return out;
  }
  void Kill() {
    alive_ = false;
    world_.time.Cancel(std::exchange(timer_, 0));
    std::erase_if(world_.ports.at, [&](const auto& p) { return p.second.instance == instance_; });
    std::erase_if(world_.ports.kernels, [&](const auto& k) { return k.second == instance_; });
    world_.network.Kill(link_.get());
    node_.reset();
  }
  rds::Node& node() { return *node_; }

 private:
  rds::Time now() const { return std::chrono::microseconds(world_.time.now_us()); }
  void TurnSoon() {
    if (std::exchange(turn_due_, true)) return;
    world_.time.After(world_.Draw(30), [this] { Turn(); });
  }
  void Turn() {
    if (!alive_) return;
    turn_due_ = false;
    node_->SetNow(now());
    link_->Drain(*node_);
    Settle();
  }
  void Settle() {
    node_->EndTurn(now());
    if (node_->PostReceives()) node_->EndTurn(now());
    node_->TakeChanged();
    for (const auto& pair : node_->TakeNewKernels()) world_.ports.kernels[pair] = instance_;
    world_.time.Cancel(std::exchange(timer_, 0));
    const std::optional<rds::Time> at = node_->deadline();
    if (!at) return;
    const auto us = std::chrono::ceil<std::chrono::microseconds>(*at).count();
    timer_ = world_.time.At(static_cast<uint64_t>(us), [this] {
      timer_ = 0;
      Turn();
    });
  }

  World& world_;
  const rds::Instance instance_;
  const Address address_;
  std::unique_ptr<RdsLink> link_;
  std::unique_ptr<rds::Node> node_;
  bool alive_ = true, turn_due_ = false;
  VirtualTime::Id timer_ = 0;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_RDS_PROCESS_H_
