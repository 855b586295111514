// SPDX-License-Identifier: BSD-3-Clause
// Packets that wait for one in front of them, and the memory that connections share for it.
#include "provider_softnet/roce/early_packets.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <vector>

namespace softdat::softnet {
namespace {

constexpr uint32_t kMtu = 256;
constexpr uint64_t kBase = 1 << 24;

roce::Packet PacketOf(const std::vector<uint8_t>& payload, uint32_t psn) {
  roce::Packet p;
  p.bth.opcode = roce::Opcode::kSendOnly;
  p.bth.psn = psn;
  p.payload = payload;
  return p;
}

// How many packets a connection keeps that is offered many.
int Fill(EarlyPackets* early, int many) {
  const std::vector<uint8_t> payload(kMtu, 1);
  int kept = 0;
  for (int i = 0; i < many; ++i) {
    const Psn psn = kBase + static_cast<Psn>(i);
    early->Keep(psn, PacketOf(payload, 0));
    kept += early->Has(psn) ? 1 : 0;
  }
  return kept;
}

TEST(EarlyPacketsTest, ComeOutInTheOrderOfTheirNumbers) {
  EarlyPool pool(kMtu, 1 << 20);
  EarlyPackets early(&pool);
  for (const uint8_t n : std::initializer_list<uint8_t>{5, 9, 7, 1, 8}) {
    const std::vector<uint8_t> payload(n * 20u, n);  // gone when it comes out
    early.Keep(kBase + n, PacketOf(payload, n));
    EXPECT_TRUE(early.Has(kBase + n));
    EXPECT_FALSE(early.Has(kBase + 6));
    EXPECT_FALSE(early.Has(kBase + 10));
  }
  for (const uint8_t n : std::initializer_list<uint8_t>{1, 5, 7, 8, 9}) {
    ASSERT_FALSE(early.empty());
    EXPECT_EQ(early.first_psn(), kBase + n);
    const roce::Packet& p = early.first();
    EXPECT_EQ(p.bth.psn, n);
    ASSERT_EQ(p.payload.size(), n * 20u);
    EXPECT_TRUE(std::ranges::all_of(p.payload, [n](uint8_t byte) { return byte == n; }));
    early.DropFirst();
  }
  EXPECT_TRUE(early.empty());
}

TEST(EarlyPacketsTest, OnePeerTakesSoManyAtMost) {
  EarlyPool pool(kMtu, 1 << 24);
  EarlyPackets early(&pool);
  EXPECT_EQ(Fill(&early, 1000), static_cast<int>(EarlyPackets::kMost));
}

TEST(EarlyPacketsTest, AllPeersTogetherTakeWhatThePoolHas) {
  constexpr uint64_t kBytes = 200 * 1024;
  EarlyPool pool(kMtu, kBytes);
  int together = 0;
  {
    std::vector<std::unique_ptr<EarlyPackets>> all;
    for (int i = 0; i < 20; ++i) {
      all.push_back(std::make_unique<EarlyPackets>(&pool));
      together += Fill(all.back().get(), 1000);
    }
    EXPECT_GT(together, static_cast<int>(EarlyPackets::kMost));
    EXPECT_LE(together * (kMtu + sizeof(EarlyPool::Block)), kBytes);
  }
  EarlyPackets another(&pool);
  EXPECT_EQ(Fill(&another, 1000), static_cast<int>(EarlyPackets::kMost)) << "all came back";
  another.Clear();
  EXPECT_TRUE(another.empty());
}

TEST(EarlyPacketsTest, NothingIsKeptThatDoesNotFitOrWithoutAPool) {
  EarlyPool pool(kMtu, 1 << 20);
  EarlyPackets early(&pool);
  const std::vector<uint8_t> payload(kMtu + 1, 1);
  early.Keep(kBase, PacketOf(payload, 0));
  EXPECT_TRUE(early.empty());
  EarlyPackets none(nullptr);
  EXPECT_EQ(Fill(&none, 10), 0);
  EarlyPool small(kMtu, 10 * kMtu);
  EarlyPackets poor(&small);
  EXPECT_EQ(Fill(&poor, 10), 0);
}

}  // namespace
}  // namespace softdat::softnet
