// SPDX-License-Identifier: BSD-3-Clause
// A port of RDS has gone from one process to another, and the old one dies while it returns what
// still comes for that port: at any moment, with what it has sent lost in part. All of it reaches
// the new process, once and in order.
#include <gtest/gtest.h>

#include <vector>

#include "tests/sim/rds_process.h"

namespace softdat::sim {
namespace {

const Address kHere = AddressOf(1), kThere = AddressOf(2);
const SocketName kSender{kHere, 4000}, kPort{kThere, 4001}, kOther{kThere, 4002};

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
    fresh.TakeOver();
    world.time.RunUntil(world.time.now_us() + 20'000'000);
    ASSERT_EQ(fresh.ReceiveAll(after), Numbers(2, kMessages)) << "seed " << seed;
    ASSERT_EQ(from.queued(), 0u) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
