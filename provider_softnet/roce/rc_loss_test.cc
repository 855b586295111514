// SPDX-License-Identifier: BSD-3-Clause
// Losses at every place of every exchange, and with peers that go back to a loss. Nothing but time
// may be lost by them.
#include <algorithm>
#include <tuple>
#include <vector>

#include "provider_softnet/roce/rc_test.h"
#include "provider_softnet/roce/round_trip.h"

namespace softdat::softnet::testing {
namespace {

using transport::WorkStatus;

enum class Exchange { kMessage, kMessages, kWrite, kRead, kReads, kAtomics, kImmediates, kMixed };

// Who goes back to a loss, and sends everything from there on again.
enum class GoesBack { kNobody, kTheOwnSide, kThePeer };

struct RcLossTest : RcTest, ::testing::WithParamInterface<std::tuple<Exchange, GoesBack>> {
  void Post() {
    SetWord(&b(), far, 1000, 80000);
    switch (std::get<Exchange>(GetParam())) {
      case Exchange::kMessage:
        Receive(9, kBytes);
        return Send(1, 5 * 1024 - 100);
      case Exchange::kMessages:
        for (uint32_t i = 0; i < 5; ++i) Receive(i, 4000);
        for (uint32_t i = 0; i < 5; ++i) Send(i, i * 700);
        return;
      case Exchange::kWrite:
        return Write(1, 5 * 1024 - 1);
      case Exchange::kRead:
        return Read(1, 5 * 1024 - 1);
      case Exchange::kReads:
        for (uint32_t i = 0; i < 6; ++i) Read(i, 1500, i * 1500);
        return;
      case Exchange::kAtomics:
        for (uint64_t i = 0; i < 6; ++i) Add(i, 1, 80000, 80000 + 8 * i);
        return;
      case Exchange::kImmediates:
        for (uint32_t i = 0; i < 3; ++i) Receive(i, 0);
        for (uint32_t i = 0; i < 3; ++i) WriteImmediate(i, 1100 * i, i);
        return;
      case Exchange::kMixed:
        Receive(1, 2000);
        Receive(2, 0);
        Write(1, 3000, 10000);
        Read(2, 3000, 20000);
        Send(3, 2000);
        Add(4, 7, 80000);
        Read(5, 2000, 30000);
        WriteImmediate(6, 0, 6);
        return;
    }
  }
  // What the consumers see of a run.
  struct Outcome {
    Statuses sends, receives;
    std::vector<uint8_t> memory[2];
    bool operator==(const Outcome&) const = default;
  };
  Outcome RunOnce(const std::array<std::vector<bool>, 2>& losses) {
    RcPairOptions o;
    o.go_back_n[0] = std::get<GoesBack>(GetParam()) == GoesBack::kTheOwnSide;
    o.go_back_n[1] = std::get<GoesBack>(GetParam()) == GoesBack::kThePeer;
    Make(o);
    pair->losses = losses;
    for (uint32_t i = 0; i < known_before; ++i) {
      Write(100 + i, 8, 90000);
      EXPECT_TRUE(pair->Run());
    }
    a().Sends();
    for (int i = 0; i < 2; ++i) packets_before[i] = pair->log[i].size();
    begun_us = pair->now_us();
    Post();
    EXPECT_TRUE(pair->Run());
    Outcome outcome{StatusesOf(a().Sends()), StatusesOf(b().Receives()), {}};
    outcome.memory[0].assign(a().data(near), a().data(near) + kBytes);
    outcome.memory[1].assign(b().data(far), b().data(far) + kBytes);
    return outcome;
  }
  // Writes in front of the exchange, from which the round trip is learned; and where that begins.
  uint32_t known_before = 0;
  size_t packets_before[2] = {};
  uint64_t begun_us = 0;

  static std::vector<bool> Only(std::initializer_list<size_t> lost) {
    std::vector<bool> losses(*std::ranges::max_element(lost) + 1);
    for (const size_t k : lost) losses[k] = true;
    return losses;
  }
};

// Each packet of each exchange is lost once: requests, responses, acknowledgements.
TEST_P(RcLossTest, OnePacketIsLost) {
  const Outcome whole = RunOnce({});
  ASSERT_TRUE(
      std::ranges::all_of(whole.sends, [](WorkStatus s) { return s == WorkStatus::kSuccess; }));
  ASSERT_FALSE(whole.sends.empty());
  const size_t packets[2] = {pair->log[0].size(), pair->log[1].size()};
  for (int i = 0; i < 2; ++i) {
    for (size_t k = 0; k < packets[i]; ++k) {
      SCOPED_TRACE("packet " + std::to_string(k) + " of side " + std::to_string(i));
      std::array<std::vector<bool>, 2> losses;
      losses[i] = Only({k});
      EXPECT_TRUE(RunOnce(losses) == whole);
      EXPECT_LE(counters(0).timeouts, 1u);
      EXPECT_LE(pair->now_us(), RoundTrip::kFirstUs + 1000) << "within one time-out";
    }
  }
}

// The same when the round trip is known, as it is on all connections but new ones. Whichever packet
// it is, the last of all included, the exchange is complete within milliseconds.
TEST_P(RcLossTest, OnePacketIsLostWhenTheRoundTripIsKnown) {
  constexpr uint64_t kRecoveredUs = 5000;
  constexpr uint32_t kBefore = 5;
  known_before = kBefore;
  const Outcome whole = RunOnce({});
  const size_t packets[2] = {pair->log[0].size(), pair->log[1].size()};
  for (int i = 0; i < 2; ++i) {
    const size_t first = packets_before[i];
    ASSERT_GT(packets[i], first);
    for (size_t k = first; k < packets[i]; ++k) {
      SCOPED_TRACE("packet " + std::to_string(k - first) + " of side " + std::to_string(i));
      std::array<std::vector<bool>, 2> losses;
      losses[i] = Only({k});
      EXPECT_TRUE(RunOnce(losses) == whole);
      EXPECT_LT(pair->now_us() - begun_us, kRecoveredUs);
    }
  }
}

// Two of the packets are lost, which may be the answer to a loss: a NAK, what is sent again, what
// is answered again.
TEST_P(RcLossTest, TwoPacketsAreLost) {
  const Outcome whole = RunOnce({});
  const size_t packets[2] = {pair->log[0].size(), pair->log[1].size()};
  for (size_t j = 0; j < 2 * packets[0]; ++j) {
    for (size_t k = 0; k < 2 * packets[1]; ++k) {
      EXPECT_TRUE(RunOnce({Only({j}), Only({k})}) == whole) << j << " and " << k;
      EXPECT_LE(counters(0).timeouts, 2u) << j << " and " << k;
    }
  }
  for (int i = 0; i < 2; ++i) {
    for (size_t j = 0; j < packets[i]; ++j) {
      for (size_t k = j + 1; k < 2 * packets[i]; ++k) {
        std::array<std::vector<bool>, 2> losses;
        losses[i] = Only({j, k});
        EXPECT_TRUE(RunOnce(losses) == whole) << j << " and " << k << " of side " << i;
        EXPECT_LE(counters(0).timeouts, 2u) << j << " and " << k << " of side " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Exchanges, RcLossTest,
    ::testing::Combine(::testing::Values(Exchange::kMessage, Exchange::kMessages, Exchange::kWrite,
                                         Exchange::kRead, Exchange::kReads, Exchange::kAtomics,
                                         Exchange::kImmediates, Exchange::kMixed),
                       ::testing::Values(GoesBack::kNobody, GoesBack::kTheOwnSide,
                                         GoesBack::kThePeer)));

}  // namespace
}  // namespace softdat::softnet::testing
