// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

constexpr uint16_t kFirstPort = 4001;

StressJob Job(uint32_t tasks, uint32_t depth) {
  StressJob job;
  job.tasks = tasks;
  job.depth = depth;
  return job;
}

StressMessage Request(uint16_t task, uint16_t to, uint64_t sequence, RdmaWay way = RdmaWay::kNone) {
  return {false, way, task, to, sequence, 0};
}
StressMessage Ack(uint16_t task, uint16_t to, uint64_t sequence) {
  return {true, RdmaWay::kNone, task, to, sequence, 0};
}

// Sends what can be sent, and returns it.
std::vector<StressExchange::Outgoing> SendAll(StressExchange* exchange) {
  std::vector<StressExchange::Outgoing> sent;
  while (const auto next = exchange->Next()) {
    exchange->Sent(*next, 0);
    sent.push_back(*next);
  }
  return sent;
}

TEST(StressExchange, KeepsTheDepthToEachPeer) {
  StressExchange exchange(Job(2, 3), true, 1, kFirstPort);
  const auto sent = SendAll(&exchange);
  ASSERT_EQ(sent.size(), 6u);
  // They take turns.
  EXPECT_EQ(sent[0].peer, 0u);
  EXPECT_EQ(sent[1].peer, 1u);
  EXPECT_EQ(sent[1].message.task, 1);
  EXPECT_EQ(sent[1].message.to, 1);
  EXPECT_EQ(exchange.outstanding(), 6u);
  EXPECT_EQ(exchange.Received(1, Ack(1, 1, 0), 0).problem, "");
  const auto next = SendAll(&exchange);
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].peer, 1u);
  EXPECT_EQ(next[0].message.sequence, 3u);
}

TEST(StressExchange, APassiveEndOfOneWayOnlyAnswers) {
  StressExchange exchange(Job(1, 3), false, 0, kFirstPort);
  EXPECT_TRUE(SendAll(&exchange).empty());
  EXPECT_EQ(exchange.Received(0, Request(0, 0, 0), 0).problem, "");
  EXPECT_FALSE(exchange.Idle());
  const auto sent = SendAll(&exchange);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].message.ack);
  EXPECT_TRUE(exchange.Idle());
}

TEST(StressExchange, AcksGoFirst) {
  StressExchange exchange(Job(2, 1), true, 0, kFirstPort);
  exchange.Received(1, Request(1, 0, 0), 0);
  const auto sent = SendAll(&exchange);
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_TRUE(sent[0].message.ack);
  EXPECT_EQ(sent[0].peer, 1u);
  EXPECT_EQ(sent[0].message.task, 0);
  EXPECT_EQ(sent[0].message.to, 1);
}

TEST(StressExchange, RttIsFromTheRequestToItsAck) {
  StressExchange exchange(Job(1, 2), true, 0, kFirstPort);
  exchange.Sent(*exchange.Next(), 100);
  exchange.Sent(*exchange.Next(), 150);
  EXPECT_EQ(exchange.Received(0, Ack(0, 0, 0), 1100).rtt_ns, 1000);
  const auto second = exchange.Received(0, Ack(0, 0, 1), 1150);
  EXPECT_EQ(second.rtt_ns, 1000);
  EXPECT_EQ(second.slot, 1u);
  EXPECT_EQ(exchange.outstanding(), 0u);
}

TEST(StressExchange, WhatMustNotCome) {
  StressExchange exchange(Job(2, 2), true, 0, kFirstPort);
  SendAll(&exchange);
  EXPECT_THAT(exchange.Received(0, Ack(1, 0, 0), 0).problem, HasSubstr("task 1 has sent it"));
  EXPECT_THAT(exchange.Received(0, Ack(0, 1, 0), 0).problem, HasSubstr("sent to task 1"));
  EXPECT_THAT(exchange.Received(0, Ack(0, 0, 1), 0).problem,
              HasSubstr("that of request 0 is next"));
  EXPECT_THAT(exchange.Received(0, Request(0, 0, 1), 0).problem, HasSubstr("request 0 is next"));
  EXPECT_EQ(exchange.Received(0, Request(0, 0, 0), 0).problem, "");
  EXPECT_THAT(exchange.Received(0, Request(0, 0, 0), 0).problem, HasSubstr("request 1 is next"));
  EXPECT_THAT(exchange.Received(0, Request(0, 0, 1, RdmaWay::kRead), 0).problem,
              HasSubstr("not agreed on"));
  EXPECT_EQ(exchange.Received(0, Ack(0, 0, 0), 0).problem, "");
  EXPECT_EQ(exchange.Received(0, Ack(0, 0, 1), 0).problem, "");
  EXPECT_THAT(exchange.Received(0, Ack(0, 0, 1), 0).problem, HasSubstr("none is due"));
}

TEST(StressExchange, RdmaBeginsWithTheFirstAck) {
  StressJob job = Job(1, 1);
  job.rdma_bytes = 4096;
  StressExchange exchange(job, true, 0, kFirstPort);
  std::vector<RdmaWay> ways;
  for (uint64_t i = 0; i < 4; ++i) {
    ways.push_back(SendAll(&exchange).at(0).message.way);
    exchange.Received(0, Ack(0, 0, i), 0);
  }
  EXPECT_THAT(
      ways, testing::ElementsAre(RdmaWay::kNone, RdmaWay::kWrite, RdmaWay::kRead, RdmaWay::kWrite));
}

TEST(StressExchange, AnAckWaitsForTheMemoryOfTheLastOneOfItsSlot) {
  StressJob job = Job(1, 2);
  job.rdma_bytes = 4096;
  StressExchange exchange(job, false, 0, kFirstPort);
  for (uint64_t i = 0; i < 2; ++i) exchange.Received(0, Request(0, 0, i, RdmaWay::kWrite), 0);
  for (const auto& sent : SendAll(&exchange)) exchange.RdmaStarted(sent.slot);
  EXPECT_EQ(exchange.Received(0, Request(0, 0, 2, RdmaWay::kWrite), 0).problem, "");
  EXPECT_FALSE(exchange.Next());
  EXPECT_FALSE(exchange.RdmaDone(7));
  EXPECT_TRUE(exchange.RdmaDone(1));
  EXPECT_FALSE(exchange.RdmaDone(1));
  EXPECT_FALSE(exchange.Next());
  EXPECT_TRUE(exchange.RdmaDone(0));
  ASSERT_TRUE(exchange.Next());
  EXPECT_EQ(exchange.Next()->message.sequence, 2u);
  EXPECT_FALSE(exchange.Idle());
}

TEST(StressExchange, ACongestedPeerWaitsForNewsOfItsGroup) {
  StressExchange exchange(Job(2, 1), true, 0, kFirstPort);
  exchange.Congested(*exchange.Next(), 0);
  ASSERT_TRUE(exchange.Next());
  EXPECT_EQ(exchange.Next()->peer, 1u);
  exchange.Freed(uint64_t{1} << (kFirstPort + 1) % 64);
  EXPECT_EQ(exchange.Next()->peer, 1u);
  exchange.Freed(uint64_t{1} << kFirstPort % 64);
  ASSERT_TRUE(exchange.Next());
  EXPECT_EQ(exchange.Next()->peer, 0u);
  EXPECT_FALSE(exchange.Next()->after_congestion);
}

TEST(StressExchange, WithoutNewsItIsTriedAgain) {
  StressExchange exchange(Job(1, 1), true, 0, kFirstPort);
  EXPECT_FALSE(exchange.Retry(0, 50));
  exchange.Congested(*exchange.Next(), 100);
  EXPECT_EQ(exchange.Retry(110, 50), 150);
  EXPECT_FALSE(exchange.Next());
  EXPECT_FALSE(exchange.Retry(150, 50));
  ASSERT_TRUE(exchange.Next());
  EXPECT_TRUE(exchange.Next()->after_congestion);
  exchange.Congested(*exchange.Next(), 160);
  exchange.Freed(~uint64_t{0});
  EXPECT_FALSE(exchange.Next()->after_congestion);
}

TEST(StressExchange, StopsAndComesToRest) {
  StressExchange exchange(Job(1, 2), true, 0, kFirstPort);
  SendAll(&exchange);
  exchange.Stop();
  EXPECT_FALSE(exchange.Idle());
  exchange.Received(0, Ack(0, 0, 0), 0);
  EXPECT_TRUE(SendAll(&exchange).empty());
  exchange.Received(0, Ack(0, 0, 1), 0);
  EXPECT_TRUE(exchange.Idle());
}

TEST(StressExchange, WhatWasCancelledMayBeMissing) {
  StressJob job = Job(1, 3);
  job.cancel = true;
  StressExchange exchange(job, true, 0, kFirstPort);
  SendAll(&exchange);
  exchange.Received(0, Request(0, 0, 0), 0);
  EXPECT_EQ(exchange.Received(0, Request(0, 0, 2), 0).problem, "");
  EXPECT_NE(exchange.Received(0, Request(0, 0, 1), 0).problem, "");
  // The peer has given up its ack of request 0.
  EXPECT_EQ(exchange.Received(0, Ack(0, 0, 1), 0).problem, "");
  EXPECT_EQ(exchange.outstanding(), 1u);
  exchange.Stop();
  EXPECT_EQ(exchange.GiveUp(), 1u);
  EXPECT_TRUE(exchange.Idle());
  const auto late = exchange.Received(0, Ack(0, 0, 2), 0);
  EXPECT_EQ(late.problem, "");
  EXPECT_EQ(late.rtt_ns, -1);
}

// Two ends, whose messages keep the order of their pair and have no other order.
TEST(StressExchange, TwoEndsUnderstandEachOther) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    StressJob job = Job(1 + random() % 3, 1 + random() % 4);
    job.rdma_bytes = random() % 2 * 64;
    std::vector<std::vector<StressExchange>> ends(2);
    for (uint32_t side = 0; side < 2; ++side) {
      for (uint32_t task = 0; task < job.tasks; ++task)
        ends[side].emplace_back(job, true, static_cast<uint16_t>(task), kFirstPort);
    }
    struct Line {
      uint32_t side, from, to;
      std::deque<StressMessage> under_way;
    };
    std::vector<Line> lines;
    for (uint32_t side = 0; side < 2; ++side) {
      for (uint32_t i = 0; i < job.tasks * job.tasks; ++i)
        lines.push_back({side, i / job.tasks, i % job.tasks, {}});
    }
    std::vector<std::pair<StressExchange*, uint32_t>> rdma;
    uint64_t delivered = 0;
    const auto step = [&] {
      for (uint32_t side = 0; side < 2; ++side) {
        for (uint32_t task = 0; task < job.tasks; ++task) {
          for (const auto& sent : SendAll(&ends[side][task])) {
            if (sent.message.ack && sent.message.way != RdmaWay::kNone) {
              ends[side][task].RdmaStarted(sent.slot);
              rdma.emplace_back(&ends[side][task], sent.slot);
            }
            lines[side * job.tasks * job.tasks + task * job.tasks + sent.peer].under_way.push_back(
                sent.message);
          }
        }
      }
      if (!rdma.empty() && random() % 2 == 0) {
        std::swap(rdma[random() % rdma.size()], rdma.back());
        EXPECT_TRUE(rdma.back().first->RdmaDone(rdma.back().second));
        rdma.pop_back();
      }
      Line& line = lines[random() % lines.size()];
      if (line.under_way.empty()) return;
      EXPECT_EQ(ends[1 - line.side][line.to].Received(line.from, line.under_way.front(), 0).problem,
                "");
      line.under_way.pop_front();
      ++delivered;
    };
    for (int i = 0; i < 500; ++i) step();
    EXPECT_GT(delivered, 50u);
    const auto idle = [&] {
      for (auto& side : ends) {
        for (auto& exchange : side) {
          exchange.Stop();
          if (!exchange.Idle()) return false;
        }
      }
      return true;
    };
    for (int i = 0; i < 5000 && !idle(); ++i) step();
    EXPECT_TRUE(idle()) << seed;
  }
}

}  // namespace
}  // namespace softdat::tools
