// SPDX-License-Identifier: BSD-3-Clause
// Numbers of queue pairs: given out, found, resting, and found while others release them.
#include "provider_softnet/udp/qpn_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace softdat::softnet {
namespace {

using Clock = QpnBlock::Clock;
using std::chrono::seconds;

constexpr Clock::time_point kNow{seconds(1000)};

class Pair {
 public:
  explicit Pair(std::atomic<int>* living) : living_(living) { living_->fetch_add(1); }
  void Ref() { references_.fetch_add(1); }
  void Unref() {
    if (references_.fetch_sub(1) == 1) delete this;
  }

 private:
  ~Pair() { living_->fetch_sub(1); }
  std::atomic<int>* const living_;
  std::atomic<int> references_{1};
};

class QpnTableTest : public testing::Test {
 protected:
  RefPtr<Pair> NewPair() { return RefPtr<Pair>::Adopt(new Pair(&living_)); }
  uint32_t Allocate(Clock::time_point now = kNow) {
    Result<uint32_t> qpn = table_.Allocate(NewPair(), now);
    EXPECT_TRUE(qpn.ok()) << qpn.status().reason();
    return qpn.value();
  }

  std::atomic<int> living_{0};
  uint32_t claims_ = 0;
  QpnTable<Pair> table_{[this]() -> Result<uint32_t> {
                          if (claims_ == 2) return Status(Code::kNoResources, "no more");
                          return 0x123 + claims_++;
                        },
                        [] { return uint64_t{0x9999'0ffe}; }};
};

TEST_F(QpnTableTest, NumbersLieInClaimedBlocksAndBeginAnywhere) {
  EXPECT_EQ(Allocate(), 0x123ffeu);
  EXPECT_EQ(Allocate(), 0x123fffu);
  EXPECT_EQ(Allocate(), 0x123000u);
  EXPECT_EQ(claims_, 1u);
}

TEST_F(QpnTableTest, FindsUntilReleased) {
  const uint32_t qpn = Allocate();
  RefPtr<Pair> found = table_.Find(qpn);
  EXPECT_TRUE(found);
  EXPECT_FALSE(table_.Find(qpn + 1));
  EXPECT_FALSE(table_.Find(1));
  table_.Release(qpn, kNow);
  EXPECT_FALSE(table_.Find(qpn));
  EXPECT_EQ(living_, 1) << "the one that was found lives on";
  found = {};
  EXPECT_EQ(living_, 0);
}

TEST_F(QpnTableTest, WhatIsNotGivenOutIsNotReleased) {
  const uint32_t qpn = Allocate();
  table_.Release(qpn + 1, kNow);
  table_.Release(0xffffff, kNow);
  table_.Release(qpn, kNow);
  table_.Release(qpn, kNow + seconds(10));
  std::set<uint32_t> numbers;
  for (uint32_t i = 0; i < kQpnsPerBlock; ++i) numbers.insert(Allocate());
  EXPECT_EQ(numbers.size(), kQpnsPerBlock);
  EXPECT_EQ(claims_, 1u);
}

TEST_F(QpnTableTest, AFullBlockIsFollowedByAnother) {
  for (uint32_t i = 0; i < kQpnsPerBlock; ++i) EXPECT_EQ(BlockOfQpn(Allocate()), 0x123u);
  for (uint32_t i = 0; i < kQpnsPerBlock; ++i) EXPECT_EQ(BlockOfQpn(Allocate()), 0x124u);
  Result<uint32_t> none = table_.Allocate(NewPair(), kNow);
  EXPECT_EQ(none.status().code(), Code::kNoResources);
}

TEST_F(QpnTableTest, AReleasedNumberRestsWhileOthersHaveTheirTurn) {
  const uint32_t first = Allocate();
  table_.Release(first, kNow);
  for (uint32_t i = 1; i < kQpnsPerBlock; ++i) {
    const uint32_t qpn = Allocate();
    EXPECT_NE(qpn, first);
    table_.Release(qpn, kNow);
  }
  EXPECT_EQ(Allocate(), first);
}

TEST_F(QpnTableTest, AReleasedNumberRestsForItsTime) {
  const uint32_t first = Allocate();
  for (uint32_t i = 1; i < kQpnsPerBlock; ++i) Allocate();
  table_.Release(first, kNow + seconds(10));
  EXPECT_EQ(BlockOfQpn(Allocate(kNow + seconds(9))), 0x124u);
  EXPECT_EQ(Allocate(kNow + seconds(10)), first);
}

TEST_F(QpnTableTest, FindsWhileOthersReleaseAndAllocate) {
  constexpr int kRounds = 20000;
  std::atomic<uint32_t> qpn{Allocate()};
  std::atomic<bool> over{false};
  std::thread finder([&] {
    while (!over) static_cast<void>(table_.Find(qpn));
  });
  for (int i = 0; i < kRounds; ++i) {
    table_.Release(qpn, kNow);
    qpn = Allocate();
  }
  over = true;
  finder.join();
  EXPECT_EQ(living_, 1);
}

}  // namespace
}  // namespace softdat::softnet
