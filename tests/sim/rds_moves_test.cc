// SPDX-License-Identifier: BSD-3-Clause
// A port of RDS has gone from one process to another, and the old one dies while it returns what
// still comes for that port: at any moment, with what it has sent lost in part. All of it reaches
// the new process, once and in order.
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
namespace {

using rds::Address;
using rds::SocketName;

Address AddressOf(uint8_t host) {
  Address out;
  out.octets = {10, 0, 0, host};
  return out;
}

const Address kHere = AddressOf(1), kThere = AddressOf(2);
const SocketName kSender{kHere, 4000}, kPort{kThere, 4001}, kOther{kThere, 4002};

struct Ports : rds::Directory {
  rds::Location Find(const SocketName& name) const override {
    const auto found = at.find(name);
    return found == at.end() ? rds::Location{} : found->second;
  }
  std::map<SocketName, rds::Location> at;
};

struct World {
  explicit World(uint64_t seed) : random(seed), network(&time, &random) {}
  uint64_t Draw(uint64_t bound) { return random() % bound; }

  std::mt19937_64 random;
  VirtualTime time;
  RdsNetwork network;
  Ports ports;
};

class Process {
 public:
  Process(World* world, rds::Instance instance, const Address& address)
      : world_(*world), instance_(instance) {
    const uint32_t credits[] = {0, 8, 64};
    link_ = std::make_unique<RdsLink>(&world_.network, credits[world_.Draw(3)], 3 + world_.Draw(8),
                                      [this] { TurnSoon(); });
    node_ = std::make_unique<rds::Node>(instance, link_.get(), &world_.ports);
    world_.network.Listen(link_.get(), address);
    world_.network.Hold(link_.get(), address);
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
  void Send(rds::Socket& socket, const SocketName& to, uint64_t number) {
    std::vector<uint8_t> payload(sizeof number);
    std::memcpy(payload.data(), &number, sizeof number);
    EXPECT_EQ(node_->Send(socket, to, {}, &payload, now()), 0);
    Settle();
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
    world_.network.Kill(link_.get());
    node_.reset();
  }
  void TakeOver(const Address& address) { world_.network.Hold(link_.get(), address); }

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
    node_->TakeChanged();
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
  std::unique_ptr<RdsLink> link_;
  std::unique_ptr<rds::Node> node_;
  bool alive_ = true, turn_due_ = false;
  VirtualTime::Id timer_ = 0;
};

std::vector<uint64_t> Numbers(uint64_t first, uint64_t last) {
  std::vector<uint64_t> out;
  for (; first <= last; ++first) out.push_back(first);
  return out;
}

TEST(RdsMovesTest, TheOldProcessDiesWhileItReturns) {
  constexpr uint64_t kSeeds = 400, kMessages = 20;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    World world(seed);
    world.network.weather().latency_us = seed % 2 == 0 ? 30 : 400;
    Process sender(&world, 3, kHere), old(&world, 1 + 3 * (seed % 2), kThere);
    rds::Socket& from = sender.Bind(kSender);
    rds::Socket& before = old.Bind(kPort);
    old.Bind(kOther);
    sender.Send(from, kPort, 1);
    world.time.RunUntil(world.time.now_us() + 1'000'000);
    ASSERT_EQ(old.ReceiveAll(before), Numbers(1, 1)) << "seed " << seed;
    Process fresh(&world, 2, kThere);
    old.Close(before);
    rds::Socket& after = fresh.Bind(kPort);
    for (uint64_t i = 2; i <= kMessages; ++i) {
      sender.Send(from, kPort, i);
      world.time.RunUntil(world.time.now_us() + world.Draw(30));
    }
    world.time.RunUntil(world.time.now_us() + world.Draw(1500));
    old.Kill();
    fresh.TakeOver(kThere);
    world.time.RunUntil(world.time.now_us() + 20'000'000);
    ASSERT_EQ(fresh.ReceiveAll(after), Numbers(2, kMessages)) << "seed " << seed;
    ASSERT_EQ(from.queued(), 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
