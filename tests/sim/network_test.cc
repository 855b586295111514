// SPDX-License-Identifier: BSD-3-Clause
// The simulated network does what its options say, and nothing else.
#include "tests/sim/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>

namespace softdat::sim {
namespace {

using Bytes = Network::Bytes;

class NetworkTest : public testing::Test {
 protected:
  void Make(const LinkOptions& options, int nodes = 2, uint64_t seed = 1) {
    network_ = std::make_unique<Network>(&time_, nodes, seed);
    network_->SetLinks(options);
    for (int node = 0; node < nodes; ++node) {
      network_->SetReceiver(node, [this, node](int from, Bytes bytes) {
        got_[{from, node}].push_back(std::move(bytes));
        at_us_[{from, node}].push_back(time_.now_us());
      });
    }
  }
  // Sends packets that carry their numbers, some time apart.
  void SendNumbered(int from, int to, int count, uint64_t apart_us = 10) {
    for (int k = 0; k < count; ++k) {
      network_->Send(from, to, {static_cast<uint8_t>(k), static_cast<uint8_t>(k >> 8)});
      time_.RunUntil(time_.now_us() + apart_us);
    }
    while (time_.Step()) {
    }
  }
  std::vector<int> Numbers(int from, int to) {
    std::vector<int> numbers;
    for (const Bytes& b : got_[{from, to}]) numbers.push_back(b[0] | b[1] << 8);
    return numbers;
  }
  bool Balances(int from, int to) const {
    const LinkTotals& t = network_->totals(from, to);
    return t.sent + t.duplicated == t.delivered + t.lost + t.cut + t.dropped + t.under_way;
  }

  VirtualTime time_;
  std::unique_ptr<Network> network_;
  std::map<std::pair<int, int>, std::vector<Bytes>> got_;
  std::map<std::pair<int, int>, std::vector<uint64_t>> at_us_;
};

std::vector<int> UpTo(int count) {
  std::vector<int> all(static_cast<size_t>(count));
  for (int k = 0; k < count; ++k) all[static_cast<size_t>(k)] = k;
  return all;
}

TEST_F(NetworkTest, AGoodLinkBringsEachPacketOnceAndInOrder) {
  Make({.min_delay_us = 5, .max_delay_us = 500});
  SendNumbered(0, 1, 1000);
  EXPECT_EQ(Numbers(0, 1), UpTo(1000));
  EXPECT_TRUE(Numbers(1, 0).empty());
  for (size_t k = 0; k < 1000; ++k) {
    const uint64_t late_us = at_us_[{0, 1}][k] - 10 * k;
    ASSERT_GE(late_us, 5u);
    ASSERT_LE(late_us, 500u);
  }
}

TEST_F(NetworkTest, LossIsAsOftenAsItSaysAndNothingElse) {
  Make({.lose_one_in = 10});
  SendNumbered(0, 1, 5000);
  const std::vector<int> got = Numbers(0, 1);
  EXPECT_NEAR(static_cast<double>(5000 - got.size()), 500.0, 100.0);
  EXPECT_TRUE(std::ranges::is_sorted(got));
  EXPECT_EQ(std::ranges::adjacent_find(got), got.end()) << "nothing comes twice";
  EXPECT_EQ(network_->totals(0, 1).lost, 5000 - got.size());
}

TEST_F(NetworkTest, ABurstTakesNeighbours) {
  Make({.burst_one_in = 100, .longest_burst = 20});
  SendNumbered(0, 1, 5000);
  const std::vector<int> got = Numbers(0, 1);
  int longest = 0, gaps = 0;
  for (size_t k = 1; k < got.size(); ++k) {
    longest = std::max(longest, got[k] - got[k - 1] - 1);
    gaps += got[k] > got[k - 1] + 1;
  }
  EXPECT_GT(longest, 8);
  EXPECT_NEAR(static_cast<double>(gaps), 45.0, 25.0);
}

TEST_F(NetworkTest, OnlyReorderingLetsPacketsOvertake) {
  Make({.max_delay_us = 20, .reorder_one_in = 5, .reorder_us = 300});
  SendNumbered(0, 1, 1000);
  std::vector<int> got = Numbers(0, 1);
  EXPECT_FALSE(std::ranges::is_sorted(got));
  std::ranges::sort(got);
  EXPECT_EQ(got, UpTo(1000));
}

TEST_F(NetworkTest, DuplicationBringsSomeTwice) {
  Make({.duplicate_one_in = 4});
  SendNumbered(0, 1, 2000);
  std::map<int, int> times;
  for (const int n : Numbers(0, 1)) ++times[n];
  EXPECT_EQ(times.size(), 2000u);
  const auto twice = std::ranges::count_if(times, [](const auto& t) { return t.second == 2; });
  EXPECT_NEAR(static_cast<double>(twice), 500.0, 100.0);
  EXPECT_EQ(network_->totals(0, 1).duplicated, static_cast<uint64_t>(twice));
}

TEST_F(NetworkTest, CorruptionChangesOneBit) {
  Make({.corrupt_one_in = 3});
  for (int k = 0; k < 300; ++k) network_->Send(0, 1, Bytes(100, 0));
  while (time_.Step()) {
  }
  uint64_t changed = 0;
  for (const Bytes& b : got_[{0, 1}]) {
    int bits = 0;
    for (const uint8_t byte : b) bits += std::popcount(byte);
    ASSERT_LE(bits, 1);
    changed += static_cast<uint64_t>(bits);
  }
  EXPECT_EQ(got_[std::pair(0, 1)].size(), 300u);
  EXPECT_EQ(changed, network_->totals(0, 1).corrupted);
  EXPECT_NEAR(static_cast<double>(changed), 100.0, 40.0);
}

TEST_F(NetworkTest, ACutIsOneWayAndMends) {
  Make({.min_delay_us = 100, .max_delay_us = 100}, 3);
  network_->Send(0, 1, {1, 0});
  network_->SetCut(0, 1, true);  // behind the first one, which is under way
  network_->Send(0, 1, {2, 0});
  network_->Send(1, 0, {3, 0});
  network_->Send(0, 2, {4, 0});
  network_->SetCut(0, 1, false);
  network_->Send(0, 1, {5, 0});
  while (time_.Step()) {
  }
  EXPECT_EQ(Numbers(0, 1), (std::vector<int>{1, 5}));
  EXPECT_EQ(Numbers(1, 0), std::vector<int>{3});
  EXPECT_EQ(Numbers(0, 2), std::vector<int>{4});
  EXPECT_EQ(network_->totals(0, 1).cut, 1u);
}

TEST_F(NetworkTest, AnIsolatedNodeHearsNobodyNotEvenItself) {
  Make({}, 3);
  network_->Isolate(1, true);
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) network_->Send(from, to, {0, 0});
  }
  while (time_.Step()) {
  }
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      EXPECT_EQ(Numbers(from, to).size(), from == 1 || to == 1 ? 0u : 1u);
    }
  }
}

TEST_F(NetworkTest, CapacityBoundsWhatIsUnderWay) {
  Make({.min_delay_us = 1000, .max_delay_us = 1000, .capacity = 250});
  for (int k = 0; k < 5; ++k) network_->Send(0, 1, Bytes(100, 0));
  EXPECT_EQ(network_->totals(0, 1).under_way, 2u);
  EXPECT_EQ(network_->totals(0, 1).dropped, 3u);
  while (time_.Step()) {
  }
  network_->Send(0, 1, Bytes(100, 0));
  EXPECT_EQ(network_->totals(0, 1).under_way, 1u) << "there is room again";
}

TEST_F(NetworkTest, ARateSpreadsPackets) {
  Make({.bytes_per_ms = 1000});
  for (int k = 0; k < 10; ++k) network_->Send(0, 1, Bytes(500, 0));
  while (time_.Step()) {
  }
  EXPECT_EQ((at_us_[{0, 1}]),
            (std::vector<uint64_t>{500, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 4500, 5000}));
}

TEST_F(NetworkTest, TotalsBalanceWhateverHappens) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    got_.clear();
    Make({.max_delay_us = 300,
          .lose_one_in = 7,
          .burst_one_in = 50,
          .reorder_one_in = 9,
          .duplicate_one_in = 8,
          .corrupt_one_in = 11,
          .bytes_per_ms = 500,
          .capacity = 400},
         4, seed);
    for (int k = 0; k < 400; ++k) {
      const int from = static_cast<int>(network_->Draw(4)),
                to = static_cast<int>(network_->Draw(4));
      network_->SetCut(from, to, network_->Draw(10) == 0);
      network_->Send(from, to, Bytes(1 + network_->Draw(200), 0));
      time_.RunUntil(time_.now_us() + network_->Draw(200));
      ASSERT_TRUE(Balances(from, to)) << "seed " << seed;
    }
    while (time_.Step()) {
    }
    for (int from = 0; from < 4; ++from) {
      for (int to = 0; to < 4; ++to) {
        ASSERT_TRUE(Balances(from, to)) << "seed " << seed;
        ASSERT_EQ(network_->totals(from, to).under_way, 0u);
        ASSERT_EQ(network_->totals(from, to).delivered, (got_[{from, to}].size()));
      }
    }
  }
}

TEST_F(NetworkTest, ASeedReplays) {
  std::string histories[2];
  for (std::string& history : histories) {
    got_.clear();
    at_us_.clear();
    const uint64_t start_us = time_.now_us();
    Make({.max_delay_us = 300, .lose_one_in = 5, .reorder_one_in = 5, .duplicate_one_in = 5}, 2, 7);
    SendNumbered(0, 1, 200);
    for (const int n : Numbers(0, 1)) history += std::to_string(n) + ' ';
    for (const uint64_t us : at_us_[{0, 1}]) history += std::to_string(us - start_us) + ' ';
  }
  EXPECT_EQ(histories[0], histories[1]);
}

TEST(VirtualTimeTest, EventsComeInOrderOfTimeThenOfAsking) {
  VirtualTime time;
  std::string order;
  time.At(20, [&] { order += "d"; });
  time.At(10, [&] {
    order += "a";
    time.At(3, [&] { order += "c"; });  // in the past: now, after what is due
  });
  time.At(10, [&] { order += "b"; });
  const VirtualTime::Id never = time.At(15, [&] { order += "x"; });
  time.Cancel(never);
  while (time.Step()) {
  }
  EXPECT_EQ(order, "abcd");
  EXPECT_EQ(time.now_us(), 20u);
  time.Cancel(never);
  EXPECT_EQ(time.pending(), 0u);
}

}  // namespace
}  // namespace softdat::sim
