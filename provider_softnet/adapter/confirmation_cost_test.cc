// SPDX-License-Identifier: BSD-3-Clause
// Confirmation adds no system call and no wake-up to what programs do all day. The same exchanges
// run once with completions that mean "confirmed" and once with completions that mean "taken", and
// their costs are counted. One thread is both ends, so that each end finds what the other has sent.
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ostream>
#include <utility>

#include "provider_softnet/adapter/bench_node.h"

namespace softdat::softnet {
namespace {

using Wait = BenchNode::Wait;

// The costs of both ends together.
struct Costs {
  uint64_t sends = 0;
  uint64_t receives = 0;  // calls that found something
  uint64_t kicks = 0;     // of a thread that sleeps in the loop
  uint64_t wakes = 0;     // of the helper
  Costs operator-(const Costs& o) const {
    return {sends - o.sends, receives - o.receives, kicks - o.kicks, wakes - o.wakes};
  }
  friend void PrintTo(const Costs& c, std::ostream* os) {
    *os << c.sends << " sends, " << c.receives << " receives, " << c.kicks << " kicks, " << c.wakes
        << " wake-ups of a helper";
  }
};

// Two connected adapters.
class Pair {
 public:
  explicit Pair(bool confirm, uint32_t depth = 512)
      : a(Options(confirm), kMemory, depth, LongRide()),
        b(Options(confirm), kMemory, depth, LongRide()) {
    for (uint32_t i = 0; i < depth / 2; ++i) {
      EXPECT_EQ(a.PostReceive(4096, 64), Code::kOk);
      EXPECT_EQ(b.PostReceive(4096, 64), Code::kOk);
    }
    const uint64_t qual = b.Listen();
    EXPECT_TRUE(a.Connect(qual, Loopback()));
    EXPECT_TRUE(a.Until(Wait::kPoll, [&] {
      b.adapter().Progress(nullptr, transport::Clock::now());
      return a.established() && b.established();
    }));
  }
  Costs Now() {
    Costs costs;
    for (BenchNode* node : {&a, &b}) {
      const ChannelCounters& channel = node->channel();
      const DriverCounters& driver = node->softnet().counters();
      costs.sends += channel.send_calls.value();
      costs.receives += channel.recv_calls.value() - channel.recv_empty.value();
      costs.kicks += driver.kicks.value();
      costs.wakes += driver.helper_wakeups.value();
    }
    return costs;
  }

  BenchNode a, b;

 private:
  static constexpr size_t kMemory = 8192;
  static AdapterOptions LongRide() {
    AdapterOptions options;
    options.driver.ride = std::chrono::seconds(5);  // however busy the machine is
    return options;
  }
  static TcpOptions Options(bool confirm) {
    TcpOptions options;
    options.confirm = confirm;
    return options;
  }
};

constexpr uint64_t kRounds = 400;

// The cost of `kRounds` exchanges in the steady state.
template <typename Exchange>
Costs Count(bool confirm, Exchange exchange) {
  Pair pair(confirm);
  for (int i = 0; i < 100 && !testing::Test::HasFailure(); ++i) exchange(pair);
  const Costs before = pair.Now();
  for (uint64_t i = 0; i < kRounds && !testing::Test::HasFailure(); ++i) exchange(pair);
  return pair.Now() - before;
}

// The least of several runs. When this thread is stopped for a while, the helper steps in, which
// can only cost more.
template <typename Exchange>
Costs LeastOf(bool confirm, Exchange exchange) {
  Costs least = Count(confirm, exchange);
  for (int run = 1; run < 8 && !testing::Test::HasFailure(); ++run) {
    const Costs c = Count(confirm, exchange);
    least = {std::min(least.sends, c.sends), std::min(least.receives, c.receives),
             std::min(least.kicks, c.kicks), std::min(least.wakes, c.wakes)};
  }
  return least;
}

void TakeMessage(BenchNode& node, Wait wait) {
  const uint64_t before = node.receives;
  while (node.receives == before) ASSERT_TRUE(node.ReapOne(wait));
  ASSERT_EQ(node.PostReceive(4096, 64), Code::kOk);
}

// Confirmation may cost so many more calls for each exchange, at both ends together.
template <typename Exchange>
void ExpectMore(uint64_t sends, uint64_t receives, Exchange exchange) {
  constexpr uint64_t kVaries = kRounds / 8;
  const Costs taken = LeastOf(false, exchange);
  const Costs confirmed = LeastOf(true, exchange);
  SCOPED_TRACE("taken: " + testing::PrintToString(taken) +
               "; confirmed: " + testing::PrintToString(confirmed));
  EXPECT_LE(confirmed.sends, taken.sends + sends * kRounds + kVaries);
  EXPECT_LE(confirmed.receives, taken.receives + receives * kRounds + kVaries);
  EXPECT_LE(confirmed.kicks, taken.kicks + kVaries);
  EXPECT_LE(confirmed.wakes, taken.wakes + kVaries);
}

class ConfirmationCostTest : public testing::TestWithParam<Wait> {};

INSTANTIATE_TEST_SUITE_P(PollAndSleep, ConfirmationCostTest,
                         testing::Values(Wait::kPoll, Wait::kSleep));

TEST_P(ConfirmationCostTest, APingPongCostsNoMore) {
  ExpectMore(0, 0, [](Pair& p) {
    ASSERT_EQ(p.a.PostSend(0, 64, 0), Code::kOk);
    TakeMessage(p.b, GetParam());
    ASSERT_EQ(p.b.PostSend(0, 64, 0), Code::kOk);
    TakeMessage(p.a, GetParam());
  });
}

TEST_P(ConfirmationCostTest, AWriteAndItsNoticeCostNoMore) {
  ExpectMore(0, 0, [](Pair& p) {
    for (const auto& [from, to] : {std::pair{&p.a, &p.b}, std::pair{&p.b, &p.a}}) {
      const auto target = reinterpret_cast<uintptr_t>(to->memory());
      ASSERT_EQ(from->PostWrite(0, 64, target, to->key(), 0), Code::kOk);
      ASSERT_EQ(from->PostSend(0, 64, 0), Code::kOk);
      TakeMessage(*to, GetParam());
    }
  });
}

// Two programs that look at memory alone, so that the helpers move the data, answer each other.
// What a helper owes rides on the answer. The send queues would be full if nothing was confirmed:
// once for each time that most of a queue is under way.
TEST(ConfirmationCostOfHelpersTest, ConfirmationsRideOnAnswers) {
  constexpr uint32_t kDepth = 32;
  constexpr int kExchanges = 50 * kDepth;
  Pair p(true, kDepth);
  const auto received = [](BenchNode& node) {
    return node.channel().recv_calls.value() - node.channel().recv_empty.value();
  };
  const auto write = [&](BenchNode& from, BenchNode& to) {
    const uint64_t before = received(to);
    ASSERT_EQ(from.PostWrite(0, 64, reinterpret_cast<uintptr_t>(to.memory()), to.key(),
                             transport::kSuppress),
              Code::kOk);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (received(to) == before) {
      ASSERT_LT(std::chrono::steady_clock::now(), until);
      sched_yield();
    }
  };
  const auto exchange = [&] {
    write(p.a, p.b);
    write(p.b, p.a);
  };
  for (int i = 0; i < 100 && !HasFatalFailure(); ++i) exchange();
  const uint64_t before = p.Now().sends;
  for (int i = 0; i < kExchanges && !HasFatalFailure(); ++i) exchange();
  EXPECT_LE(p.Now().sends - before, 2 * kExchanges + 20);
}

// In a one-way stream there is no message for a confirmation to ride on. Confirming a window takes
// one more call of the receiver, to send it, and one of the sender, to receive it.
TEST(ConfirmationCostOneWayTest, AWindowCostsOneCallMoreAtEachEnd) {
  constexpr uint64_t kWindow = 64;
  ExpectMore(1, 1, [](Pair& p) {
    for (uint64_t i = 0; i < kWindow; ++i) ASSERT_EQ(p.a.PostSend(0, 64, 0), Code::kOk);
    const uint64_t to_send = p.a.sends + kWindow;
    const uint64_t to_receive = p.b.receives + kWindow;
    while (p.a.sends < to_send || p.b.receives < to_receive) {
      p.a.adapter().Progress(nullptr, transport::Clock::time_point::min());
      p.a.ReapAll();
      p.b.adapter().Progress(nullptr, transport::Clock::time_point::min());
      const uint64_t before = p.b.receives;
      p.b.ReapAll();
      for (uint64_t i = before; i < p.b.receives; ++i)
        ASSERT_EQ(p.b.PostReceive(4096, 64), Code::kOk);
    }
  });
}

}  // namespace
}  // namespace softdat::softnet
