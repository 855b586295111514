// SPDX-License-Identifier: BSD-3-Clause
// Several processes of an address, and Linux as the peer, which has one connection between two
// addresses: one process holds it for the others, and another one when it dies.
#include <gtest/gtest.h>
#include <linux/rds.h>

#include <cerrno>
#include <optional>
#include <vector>

#include "tests/sim/rds_linux.h"
#include "tests/sim/rds_process.h"

namespace softdat::sim {
namespace {

const Address kHere = AddressOf(1), kThere = AddressOf(2);
constexpr uint16_t kPort = 4001, kFirst = 5001, kSecond = 5002, kThird = 5003, kNobodys = 5009;

constexpr uint64_t kSeconds = 1'000'000, kSeeds = 300;

std::vector<uint64_t> Numbers(uint64_t first, uint64_t last) {
  std::vector<uint64_t> out;
  for (; first <= last; ++first) out.push_back(first);
  return out;
}

// The first process is the holder.
struct Scene {
  // `roomy`: the holder's last word of what it sends arrives, as it does on a host.
  explicit Scene(uint64_t seed, bool roomy = false) : world(seed) {
    world.network.weather().latency_us = seed % 2 == 0 ? 30 : 400;
    world.network.weather().loses = !roomy;
    world.roomy = roomy;
    if (seed % 2 == 0) SpeakBefore();
    first.emplace(&world, 10, kHere);
    second.emplace(&world, 20, kHere);
    of_first = &first->Bind({kHere, kFirst});
    of_second = &second->Bind({kHere, kSecond});
  }
  void Pass(uint64_t us) { world.time.RunUntil(world.time.now_us() + us); }
  // A former process.
  void SpeakBefore() {
    Process former(&world, 5, kHere);
    rds::Socket& socket = former.Bind({kHere, kNobodys});
    for (uint64_t i = 1; i <= 40; ++i) former.Send(socket, {kThere, kPort}, i);
    Pass(5 * kSeconds);
    former.Kill();
    Pass(world.Draw(1000));
    EXPECT_EQ(linux_peer.TakeCame().size(), 40u);
  }
  // Until all has arrived. Of the last messages Linux tells when it sends one.
  void Rest() {
    Pass(20 * kSeconds);
    linux_peer.Send(kPort, kNobodys, 1);
    Pass(kSeconds);
  }
  void PassSome(uint64_t us) { Pass(world.Draw(us)); }

  World world;
  Linux linux_peer{&world, kThere, kHere};
  std::optional<Process> first, second;
  rds::Socket *of_first = nullptr, *of_second = nullptr;
};

TEST(RdsHolderTest, OneConnectionForBoth) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scene s(seed);
    constexpr uint64_t kMessages = 20;
    // Whoever begins. Two who ask at the same time may end the connection of the other.
    for (uint64_t i = 1; i <= kMessages; ++i) {
      if (seed % 3 != 0) s.first->Send(*s.of_first, {kThere, kPort}, i);
      s.PassSome(i == 1 ? 10'000 : 100);
      if (seed % 3 != 1) s.second->Send(*s.of_second, {kThere, kPort}, i);
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
    ASSERT_EQ(s.first->ReceiveAll(*s.of_first), expected) << "seed " << seed;
    ASSERT_EQ(s.second->ReceiveAll(*s.of_second), expected) << "seed " << seed;
    EXPECT_EQ(s.of_first->queued() + s.of_second->queued(), 0u) << "seed " << seed;
    EXPECT_EQ(s.linux_peer.unacknowledged(), 0u) << "seed " << seed;
    EXPECT_EQ(s.linux_peer.ended(), ended) << "seed " << seed;
  }
}

// Of those that come twice only the last one is left.
std::vector<uint64_t> WithoutTheFirstOfTwo(const std::vector<uint64_t>& numbers) {
  std::vector<uint64_t> out;
  for (const uint64_t number : numbers) {
    std::erase(out, number);
    out.push_back(number);
  }
  return out;
}

// What Linux has not acknowledged the next holder sends again, and what Linux sends again comes to
// each process once.
TEST(RdsHolderTest, TheHolderDies) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scene s(seed, /*roomy=*/seed % 3 != 0);
    constexpr uint64_t kMessages = 30;
    Process third(&s.world, 30, kHere);
    rds::Socket& of_third = third.Bind({kHere, kThird});
    const uint64_t dies_at = 1 + s.world.Draw(kMessages);
    for (uint64_t i = 1; i <= kMessages; ++i) {
      if (seed % 3 != 0 && i < dies_at) s.first->Send(*s.of_first, {kThere, kPort}, i);
      s.second->Send(*s.of_second, {kThere, kPort}, i);
      third.Send(of_third, {kThere, kPort}, i);
      if (seed % 4 != 0) s.linux_peer.Send(kPort, kSecond, i);
      s.linux_peer.Send(kPort, kThird, i);
      s.PassSome(i == 1 && seed % 2 == 0 ? kSeconds : 100);
      if (i == dies_at) {
        s.first->Kill();
        s.PassSome(seed % 5 == 0 ? 250'000 : 200);
        s.second->TakeOver();
      }
    }
    s.Rest();
    const auto expected = Numbers(1, kMessages);
    for (const uint16_t port : {kSecond, kThird}) {
      std::vector<uint64_t> came = s.linux_peer.TakeFrom(port);
      // What Linux had, and the holder could not say that it would have, comes again.
      if (!s.world.roomy) came = WithoutTheFirstOfTwo(came);
      ASSERT_EQ(came, expected) << "seed " << seed;
    }
    if (seed % 4 != 0) {
      ASSERT_EQ(s.second->ReceiveAll(*s.of_second), expected) << "seed " << seed;
    }
    ASSERT_EQ(third.ReceiveAll(of_third), expected) << "seed " << seed;
    EXPECT_EQ(s.of_second->queued() + of_third.queued(), 0u) << "seed " << seed;
    EXPECT_EQ(s.linux_peer.unacknowledged(), 0u) << "seed " << seed;
  }
}

// Connections break at any moment, also those between the processes.
TEST(RdsHolderTest, ConnectionsBreak) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scene s(seed);
    constexpr uint64_t kMessages = 30;
    for (uint64_t i = 1; i <= kMessages; ++i) {
      s.first->Send(*s.of_first, {kThere, kPort}, i);
      s.second->Send(*s.of_second, {kThere, kPort}, i);
      s.linux_peer.Send(kPort, kFirst, i);
      s.linux_peer.Send(kPort, kSecond, i);
      s.PassSome(i == 1 ? 10'000 : 200);
      if (s.world.Draw(4) == 0) s.world.network.BreakOne();
    }
    s.Rest();
    const auto expected = Numbers(1, kMessages);
    ASSERT_EQ(s.linux_peer.TakeFrom(kFirst), expected) << "seed " << seed;
    ASSERT_EQ(s.linux_peer.TakeFrom(kSecond), expected) << "seed " << seed;
    ASSERT_EQ(s.first->ReceiveAll(*s.of_first), expected) << "seed " << seed;
    ASSERT_EQ(s.second->ReceiveAll(*s.of_second), expected) << "seed " << seed;
    ASSERT_EQ(s.of_first->queued() + s.of_second->queued(), 0u) << "seed " << seed;
  }
}

// What comes for the process that had it goes on to the one that has it, in order.
TEST(RdsHolderTest, APortGoesToAnotherProcess) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Scene s(seed);
    constexpr uint64_t kMessages = 30;
    s.linux_peer.Send(kPort, kSecond, 1);
    s.Pass(5 * kSeconds);
    ASSERT_EQ(s.second->ReceiveAll(*s.of_second), Numbers(1, 1)) << "seed " << seed;
    Process third(&s.world, 30, kHere);
    Process& next = seed % 2 == 0 ? *s.first : third;
    s.second->Close(*s.of_second);
    rds::Socket& after = next.Bind({kHere, kSecond});
    for (uint64_t i = 2; i <= kMessages; ++i) {
      s.linux_peer.Send(kPort, kSecond, i);
      s.PassSome(100);
    }
    s.Rest();
    ASSERT_EQ(next.ReceiveAll(after), Numbers(2, kMessages)) << "seed " << seed;
    ASSERT_EQ(s.linux_peer.unacknowledged(), 0u) << "seed " << seed;
  }
}

TEST(RdsHolderTest, CongestionGoesThrough) {
  Scene s(1);
  s.first->Send(*s.of_first, {kThere, kPort}, 1);
  s.second->Send(*s.of_second, {kThere, kPort}, 1);
  s.Pass(kSeconds);
  // Linux's.
  s.of_second->SetMonitor(true);
  s.linux_peer.SetCongested(kPort, true);
  s.Pass(kSeconds);
  EXPECT_EQ(s.first->TrySend(*s.of_first, {kThere, kPort}, 2), ENOBUFS);
  EXPECT_EQ(s.second->TrySend(*s.of_second, {kThere, kPort}, 2), ENOBUFS);
  s.of_second->MetCongestion(kPort);
  s.linux_peer.SetCongested(kPort, false);
  s.Pass(kSeconds);
  EXPECT_EQ(s.of_second->TakeFreed(), uint64_t{1} << kPort % 64);
  s.second->Send(*s.of_second, {kThere, kPort}, 2);
  // Those of either process.
  s.of_first->options().receive_limit = s.of_second->options().receive_limit = 10;
  for (const uint16_t port : {kFirst, kSecond}) {
    s.linux_peer.Send(kPort, port, 1);
    s.linux_peer.Send(kPort, port, 2);
    s.Pass(kSeconds);
    EXPECT_TRUE(s.linux_peer.SeesCongested(port));
  }
  EXPECT_EQ(s.second->ReceiveAll(*s.of_second), Numbers(1, 2));
  s.Pass(kSeconds);
  EXPECT_TRUE(s.linux_peer.SeesCongested(kFirst));
  EXPECT_FALSE(s.linux_peer.SeesCongested(kSecond));
  // One that dies has none.
  s.linux_peer.Send(kPort, kSecond, 1);
  s.linux_peer.Send(kPort, kSecond, 2);
  s.Pass(kSeconds);
  EXPECT_TRUE(s.linux_peer.SeesCongested(kSecond));
  s.second->Kill();
  s.Pass(5 * kSeconds);
  EXPECT_FALSE(s.linux_peer.SeesCongested(kSecond));
  EXPECT_TRUE(s.linux_peer.SeesCongested(kFirst));
}

TEST(RdsHolderTest, PingsGoThrough) {
  Scene s(1);
  for (int i = 0; i < 2; ++i) {
    s.second->Send(*s.of_second, {kThere, rds::kPingPort}, 1);
    s.linux_peer.Send(kPort, rds::kPingPort, std::nullopt);
    s.Pass(kSeconds);
    ASSERT_NE(s.of_second->first(), nullptr);
    EXPECT_EQ(s.of_second->first()->from, (SocketName{kThere, rds::kPingPort}));
    s.second->node().Pop(*s.of_second, {});
    EXPECT_EQ(s.linux_peer.TakeFrom(rds::kPingPort).size(), 1u);
  }
}

// Memory is one process's.
TEST(RdsHolderTest, MemoryDoesNotGoThrough) {
  Scene s(1);
  rds::SendRequests requests;
  requests.rdma.emplace();
  requests.rdma->notify = true;
  requests.rdma->token = 7;
  // It was sent before anybody knew of a kernel there.
  EXPECT_EQ(s.second->TrySend(*s.of_second, {kThere, kPort}, 1, requests), 0);
  s.Pass(kSeconds);
  ASSERT_EQ(s.of_second->notifications().size(), 1u);
  EXPECT_EQ(s.of_second->notifications()[0].status, RDS_RDMA_OTHER_ERROR);
  EXPECT_EQ(s.of_second->queued(), 0u);
  EXPECT_EQ(s.second->TrySend(*s.of_second, {kThere, kPort}, 2, requests), EOPNOTSUPP);
  // The next process hears of it at once.
  Process third(&s.world, 30, kHere);
  rds::Socket& of_third = third.Bind({kHere, kThird});
  EXPECT_EQ(third.TrySend(of_third, {kThere, kPort}, 1, requests), EOPNOTSUPP);
  s.Pass(kSeconds);
  EXPECT_TRUE(s.linux_peer.TakeCame().empty());
}

}  // namespace
}  // namespace softdat::sim
