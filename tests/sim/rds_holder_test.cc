// SPDX-License-Identifier: BSD-3-Clause
// Several processes of an address, and Linux as the peer, which has one connection between two
// addresses: one process holds it for the others, and another one when it dies.
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "tests/sim/rds_linux.h"
#include "tests/sim/rds_process.h"

namespace softdat::sim {
namespace {

const Address kHere = AddressOf(1), kThere = AddressOf(2);
constexpr uint16_t kPort = 4001, kFirst = 5001, kSecond = 5002;

std::vector<uint64_t> Numbers(uint64_t first, uint64_t last) {
  std::vector<uint64_t> out;
  for (; first <= last; ++first) out.push_back(first);
  return out;
}

// The first process is the holder.
struct Scene {
  explicit Scene(uint64_t seed) : world(seed) {
    world.network.weather().latency_us = seed % 2 == 0 ? 30 : 400;
  }
  void Pass(uint64_t us) { world.time.RunUntil(world.time.now_us() + us); }
  void PassSome(uint64_t us) { Pass(world.Draw(us)); }

  World world;
  Linux linux_peer{&world, kThere, kHere};
  Process first{&world, 10, kHere}, second{&world, 20, kHere};
  rds::Socket& of_first = first.Bind({kHere, kFirst});
  rds::Socket& of_second = second.Bind({kHere, kSecond});
};

constexpr uint64_t kSeconds = 1'000'000, kSeeds = 300;

TEST(RdsHolderTest, OneConnectionForBoth) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scene s(seed);
    constexpr uint64_t kMessages = 20;
    // Whoever begins. Two who ask at the same time may end the connection of the other.
    for (uint64_t i = 1; i <= kMessages; ++i) {
      if (seed % 3 != 0) s.first.Send(s.of_first, {kThere, kPort}, i);
      s.PassSome(i == 1 ? 10'000 : 100);
      if (seed % 3 != 1) s.second.Send(s.of_second, {kThere, kPort}, i);
      s.PassSome(100);
      if (i == kMessages / 2) s.Pass(5 * kSeconds);
    }
    s.Pass(5 * kSeconds);
    const int ended = s.linux_peer.ended();
    EXPECT_LE(ended, 2) << "seed " << seed;
    for (uint64_t i = 1; i <= kMessages; ++i) {
      s.linux_peer.Send(kPort, kFirst, i);
      s.linux_peer.Send(kPort, kSecond, i);
      s.PassSome(100);
    }
    s.Pass(5 * kSeconds);
    const auto expected = Numbers(1, kMessages);
    ASSERT_EQ(s.linux_peer.TakeFrom(kFirst), seed % 3 != 0 ? expected : Numbers(1, 0)) << seed;
    ASSERT_EQ(s.linux_peer.TakeFrom(kSecond), seed % 3 != 1 ? expected : Numbers(1, 0)) << seed;
    ASSERT_EQ(s.first.ReceiveAll(s.of_first), expected) << "seed " << seed;
    ASSERT_EQ(s.second.ReceiveAll(s.of_second), expected) << "seed " << seed;
    EXPECT_EQ(s.of_first.queued() + s.of_second.queued(), 0u) << "seed " << seed;
    EXPECT_EQ(s.linux_peer.unacknowledged(), 0u) << "seed " << seed;
    EXPECT_EQ(s.linux_peer.ended(), ended) << "seed " << seed;
  }
}

}  // namespace
}  // namespace softdat::sim
