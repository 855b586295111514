// SPDX-License-Identifier: BSD-3-Clause
// What operations cost in the steady states of the design: system calls, sleeps and wake-ups,
// counted and not timed.
#include <gtest/gtest.h>

#include <thread>

#include "provider_softnet/adapter/bench_node.h"

namespace softdat::softnet {
namespace {

using Wait = BenchNode::Wait;

// Two connected adapters in one process.
class CostTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 256; ++i) {
      ASSERT_EQ(a_.PostReceive(4096, 64), Code::kOk);
      ASSERT_EQ(b_.PostReceive(4096, 64), Code::kOk);
    }
    Connect(&a_, &b_);
  }
  static void Connect(BenchNode* a, BenchNode* b) {
    const uint64_t qual = b->Listen();
    ASSERT_NE(qual, 0u);
    ASSERT_TRUE(a->Connect(qual, Loopback()));
    ASSERT_TRUE(a->Until(Wait::kPoll, [&] {
      b->adapter().Progress(nullptr, transport::Clock::now());
      return a->established() && b->established();
    }));
  }

  BenchNode a_{TcpOptions{}, 8192, 512};
  BenchNode b_{TcpOptions{}, 8192, 512};
};

TEST_F(CostTest, TheFirstSendLeavesFromThePost) {
  const uint64_t calls = a_.channel().send_calls.value();
  ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
  EXPECT_EQ(a_.channel().send_calls.value(), calls + 1);
  // The request for the confirmation goes out in the same call.
  ASSERT_TRUE(b_.ReapOne(Wait::kPoll));
  b_.adapter().Progress(nullptr, transport::Clock::now());
  ASSERT_TRUE(a_.ReapOne(Wait::kPoll));
  EXPECT_EQ(a_.qp().OutstandingSends(), 0u);
  EXPECT_EQ(a_.channel().send_calls.value(), calls + 1);
}

TEST_F(CostTest, SendsBehindUnreapedOnesGather) {
  ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
  const uint64_t calls = a_.channel().send_calls.value();
  for (int i = 0; i < 40; ++i) ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
  const uint64_t after_posts = a_.channel().send_calls.value();
  // One poll does it, unless the helper has just taken the rest and is about to write it.
  const auto deadline = transport::Clock::now() + std::chrono::seconds(10);
  do {
    a_.adapter().Progress(nullptr, transport::Clock::now());
    b_.adapter().Progress(nullptr, transport::Clock::now());
  } while (a_.qp().OutstandingSends() > 0 && transport::Clock::now() < deadline);
  EXPECT_EQ(a_.qp().OutstandingSends(), 0u);
  // The poll makes one call. If this thread was stopped for so long that the helper flushed, that
  // is one more. The next post then finds nothing before it, and makes another call.
  const uint64_t helper = a_.softnet().counters().helper_flushes.value();
  EXPECT_LE(a_.channel().send_calls.value() - after_posts, 1 + helper);
  EXPECT_LE(after_posts - calls, 1 + 2 * helper);
}

TEST_F(CostTest, AGatheredSendLeavesByItself) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
  const auto deadline = transport::Clock::now() + std::chrono::seconds(10);
  while (a_.qp().OutstandingSends() > 0 && transport::Clock::now() < deadline)
    std::this_thread::yield();  // both programs make no call
  EXPECT_EQ(a_.qp().OutstandingSends(), 0u);
}

TEST_F(CostTest, AWindowOf64CostsAtMostOneCallPer16Posts) {
  constexpr uint64_t kPosts = 20000, kWindow = 64;
  std::thread receiver([&] {
    while (b_.receives < kPosts && b_.ReapOne(Wait::kSleep)) b_.PostReceive(4096, 64);
  });
  const uint64_t calls = a_.channel().send_calls.value();
  uint64_t posted = 0;
  while (a_.sends < kPosts) {
    while (posted < kPosts && posted - a_.sends < kWindow) {
      ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
      ++posted;
    }
    ASSERT_TRUE(a_.ReapOne(Wait::kPoll));
  }
  receiver.join();
  EXPECT_EQ(b_.receives, kPosts);
  const uint64_t used = a_.channel().send_calls.value() - calls;
  // If this thread was stopped in the middle, the helper flushed early. That call is not the
  // design's. Neither is the call of the next post, which finds nothing before it.
  const uint64_t helper = a_.softnet().counters().helper_flushes.value();
  EXPECT_LE(used, kPosts / 16 + 2 * helper) << used << " calls for " << kPosts << " posts";
}

TEST_F(CostTest, ASleepingPingPongNeedsOneWaitPerRoundTripAndNoHelper) {
  constexpr uint64_t kPings = 300;
  std::thread other([&] {
    while (b_.receives < kPings) {
      const uint64_t before = b_.receives;
      if (!b_.ReapOne(Wait::kSleep)) return;
      if (b_.receives == before) continue;
      b_.PostReceive(4096, 64);
      b_.PostSend(0, 64, 0);
    }
  });
  const DriverCounters& c = a_.softnet().counters();
  const uint64_t waits = c.blocking_waits.value(), kicks = c.kicks.value(),
                 drives = c.helper_drives.value(), recvs = a_.channel().recv_calls.value(),
                 sends = a_.channel().send_calls.value();
  for (uint64_t i = 0; i < kPings; ++i) {
    ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
    while (a_.receives <= i) ASSERT_TRUE(a_.ReapOne(Wait::kSleep));
    ASSERT_EQ(a_.PostReceive(4096, 64), Code::kOk);
  }
  other.join();
  // The helper may take over while this thread is stopped for a millisecond, and then leave again.
  const uint64_t taken = c.helper_drives.value() - drives;
  EXPECT_LE(c.blocking_waits.value() - waits, kPings + kPings / 10 + 4 * taken);
  EXPECT_LE(c.kicks.value() - kicks, taken + 1);
  EXPECT_LE(taken, kPings / 10);
  // Confirmations, and answers to the peer's, ride on the messages. If a tick of the helper sends
  // one before its message comes, that is one more call.
  EXPECT_LE(a_.channel().send_calls.value() - sends, kPings + kPings / 10);
  EXPECT_GE(a_.channel().recv_calls.value() - recvs, kPings);
}

// Both ends take turns in one thread. With a thread each, how long an end waits, and whether it has
// to send its answers alone, would depend on the machine.
TEST_F(CostTest, PollingPingPongLeavesTheLoopAlone) {
  constexpr uint64_t kPings = 300;
  constexpr int kLooksInVain = 20;
  const auto take = [](BenchNode* node, uint64_t i) {
    while (node->receives <= i) ASSERT_TRUE(node->ReapOne(Wait::kPoll));
    ASSERT_EQ(node->PostReceive(4096, 64), Code::kOk);
  };
  // Polls look at all sockets until the stream is hot.
  const DriverCounters& c = a_.softnet().counters();
  uint64_t turns = 0, recvs = 0, sends = 0;
  for (uint64_t i = 0; i < kPings; ++i) {
    if (i == 20) {
      turns = c.loop_turns.value();
      recvs = a_.channel().recv_calls.value();
      sends = a_.channel().send_calls.value();
    }
    ASSERT_EQ(a_.PostSend(0, 64, 0), Code::kOk);
    for (int look = 0; look < kLooksInVain; ++look) a_.PollOnce();
    take(&b_, i);
    ASSERT_EQ(b_.PostSend(0, 64, 0), Code::kOk);
    take(&a_, i);
  }
  const uint64_t received = a_.channel().recv_calls.value() - recvs;
  EXPECT_GE(received, (kPings - 20) * kLooksInVain);
  EXPECT_LE(a_.channel().send_calls.value() - sends, kPings + kPings / 10);
  EXPECT_LE(c.loop_turns.value() - turns, received / 16 + 8);
}

// What many programs send in one piece is read in one call, and copied once more: a call takes
// longer than the copy.
TEST_F(CostTest, AMessageOf16KiBTakesOneReceivingCall) {
  constexpr uint32_t kSize = 16384;
  constexpr uint64_t kFirst = 10, kMessages = 100;
  BenchNode from(TcpOptions{}, 2 * kSize, 64), to(TcpOptions{}, 2 * kSize, 64);
  for (int i = 0; i < 16; ++i) ASSERT_EQ(to.PostReceive(kSize, kSize), Code::kOk);
  Connect(&from, &to);
  const ChannelCounters& c = to.channel();
  const auto useful = [&] { return c.recv_calls.value() - c.recv_empty.value(); };
  uint64_t before = 0;
  for (uint64_t i = 0; i < kFirst + kMessages; ++i) {
    if (i == kFirst) before = useful();  // it has learnt how much to read at a time
    ASSERT_EQ(from.PostSend(0, kSize, 0), Code::kOk);
    while (to.receives <= i) ASSERT_TRUE(to.ReapOne(Wait::kPoll));
    ASSERT_EQ(to.PostReceive(kSize, kSize), Code::kOk);
    to.adapter().Progress(nullptr, transport::Clock::now());
    while (from.sends <= i) ASSERT_TRUE(from.ReapOne(Wait::kPoll));
  }
  EXPECT_LE(useful() - before, kMessages + kMessages / 10);
}

}  // namespace
}  // namespace softdat::softnet
