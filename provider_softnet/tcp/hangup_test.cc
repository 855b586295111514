// SPDX-License-Identifier: BSD-3-Clause
// The peer's end comes while a message waits for a receive. The stream does not read its socket
// then, but must notice at once that the peer is gone. All grace times are an hour here. So only
// the event itself can end a connection within the patience of a test (semantics 9.6).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "provider_softnet/adapter/bench_node.h"

namespace softdat::softnet {
namespace {

using transport::DisconnectMode;
using transport::EndReason;
using Wait = BenchNode::Wait;

TcpOptions Patient() {
  TcpOptions options;
  options.fin_grace = options.close_timeout = std::chrono::hours(1);
  options.confirm = false;  // a send without a receive is complete for its sender
  return options;
}

class HangupTest : public testing::TestWithParam<Wait> {
 protected:
  void SetUp() override {
    const uint64_t qual = stalled_.Listen();
    ASSERT_TRUE(sender_.Connect(qual, Loopback()));
    ASSERT_TRUE(sender_.Until(GetParam(), [&] {
      stalled_.adapter().Progress(nullptr, transport::Clock::now());
      return sender_.established() && stalled_.established();
    }));
  }
  void SendWithoutReceive() {
    ASSERT_EQ(sender_.PostSend(0, 64, 0), Code::kOk);
    ASSERT_TRUE(sender_.ReapOne(GetParam()));
  }
  void ExpectDisconnected(BenchNode* node) {
    ASSERT_TRUE(node->Until(GetParam(), [&] { return node->over(); }));
    EXPECT_EQ(node->end_reason(), EndReason::kDisconnected) << node->why();
  }

  BenchNode sender_{Patient(), 1 << 20, 64};
  BenchNode stalled_{Patient(), 1 << 20, 64};
};

INSTANTIATE_TEST_SUITE_P(, HangupTest, testing::Values(Wait::kPoll, Wait::kSleep));

TEST_P(HangupTest, AnAbruptDisconnectIsSeenBehindUnreadData) {
  SendWithoutReceive();
  sender_.qp().Disconnect(DisconnectMode::kAbrupt);
  ExpectDisconnected(&sender_);
  ExpectDisconnected(&stalled_);
}

TEST_P(HangupTest, SoIsADestroyedQueuePair) {
  SendWithoutReceive();
  sender_.ClosePair();
  ExpectDisconnected(&stalled_);
}

TEST_P(HangupTest, WorkOfTheStalledSideIsFlushed) {
  SendWithoutReceive();
  // Posts more than the sockets hold. The rest waits for a peer that will not read it.
  int posted = 0;
  while (posted < 32) {
    ASSERT_EQ(stalled_.PostSend(0, 1 << 19, 0), Code::kOk);
    ++posted;
  }
  sender_.qp().Disconnect(DisconnectMode::kAbrupt);
  ExpectDisconnected(&stalled_);
  stalled_.ReapAll();
  EXPECT_EQ(stalled_.qp().OutstandingSends(), 0u);
}

// A graceful disconnect promises that its messages arrive. It is over when they have arrived.
TEST_P(HangupTest, AGracefulDisconnectWaitsForTheReceive) {
  SendWithoutReceive();
  sender_.qp().Disconnect(DisconnectMode::kGraceful);
  for (int i = 0; i < 100; ++i) {
    stalled_.adapter().Progress(nullptr, transport::Clock::now());
    sender_.adapter().Progress(nullptr, transport::Clock::now());
  }
  EXPECT_FALSE(stalled_.over());
  EXPECT_FALSE(sender_.over());
  ASSERT_EQ(stalled_.PostReceive(4096, 64), Code::kOk);
  ExpectDisconnected(&stalled_);
  ExpectDisconnected(&sender_);
  stalled_.ReapAll();
  EXPECT_EQ(stalled_.receives, 1u);
  EXPECT_EQ(stalled_.failures, 0u);
}

TEST_P(HangupTest, AnAbruptDisconnectOvertakesAGracefulOne) {
  SendWithoutReceive();
  sender_.qp().Disconnect(DisconnectMode::kGraceful);
  sender_.qp().Disconnect(DisconnectMode::kAbrupt);
  ExpectDisconnected(&sender_);
  ExpectDisconnected(&stalled_);
}

TEST_P(HangupTest, AfterItWasSeenToo) {
  SendWithoutReceive();
  sender_.qp().Disconnect(DisconnectMode::kGraceful);
  for (int i = 0; i < 100; ++i) stalled_.adapter().Progress(nullptr, transport::Clock::now());
  EXPECT_FALSE(stalled_.over());
  sender_.qp().Disconnect(DisconnectMode::kAbrupt);
  ExpectDisconnected(&stalled_);
}

// Data that have a receive are delivered first, although the end is abrupt and TCP has a reset.
TEST_P(HangupTest, WhatHasAReceiveIsDelivered) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(stalled_.PostReceive(4096, 64), Code::kOk);
  for (int i = 0; i < 3; ++i) SendWithoutReceive();
  sender_.qp().Disconnect(DisconnectMode::kAbrupt);
  ExpectDisconnected(&stalled_);
  stalled_.ReapAll();
  EXPECT_EQ(stalled_.receives, 3u);
}

// The window is closed, so not even a FIN gets through. A reset does, and means the same.
class HangupBehindAClosedWindow : public testing::TestWithParam<Wait> {
 protected:
  void SetUp() override {
    sender_ = std::make_unique<BenchNode>(Patient(), 1 << 20, 64);
    ASSERT_TRUE(sender_->Connect(stalled_.Listen(), Loopback()));
    ASSERT_TRUE(sender_->Until(Wait::kPoll, [&] {
      stalled_.adapter().Progress(nullptr, transport::Clock::now());
      return sender_->established() && stalled_.established();
    }));
    for (int i = 0; i < 64; ++i) ASSERT_EQ(sender_->PostSend(0, 1 << 20, 0), Code::kOk);
  }
  void ExpectDisconnected(BenchNode* node) {
    ASSERT_TRUE(node->Until(GetParam(), [&] { return node->over(); }));
    EXPECT_EQ(node->end_reason(), EndReason::kDisconnected) << node->why();
  }

  BenchNode stalled_{Patient(), 1 << 20, 4};
  std::unique_ptr<BenchNode> sender_;
};

INSTANTIATE_TEST_SUITE_P(, HangupBehindAClosedWindow, testing::Values(Wait::kPoll, Wait::kSleep));

TEST_P(HangupBehindAClosedWindow, AnAbruptDisconnectIsSeen) {
  sender_->qp().Disconnect(DisconnectMode::kAbrupt);
  ExpectDisconnected(sender_.get());
  ExpectDisconnected(&stalled_);
}

TEST_P(HangupBehindAClosedWindow, ADestroyedQueuePairIsSeen) {
  sender_->ClosePair();
  ExpectDisconnected(&stalled_);
}

TEST_P(HangupBehindAClosedWindow, AClosedAdapterIsSeen) {
  sender_.reset();
  ExpectDisconnected(&stalled_);
}

// A message has its receive and is half placed. The one after it has no receive.
TEST_P(HangupBehindAClosedWindow, WhatHasAReceiveIsDelivered) {
  ASSERT_EQ(stalled_.PostReceive(0, 1 << 20), Code::kOk);
  ASSERT_TRUE(stalled_.ReapOne(GetParam()));
  EXPECT_EQ(stalled_.receives, 1u);
  sender_->qp().Disconnect(DisconnectMode::kAbrupt);
  ExpectDisconnected(&stalled_);
  stalled_.ReapAll();
  EXPECT_EQ(stalled_.failures, 0u);
}

// The peer runs in a process of its own, forked before this one has threads. It sends one message
// for which there is no receive, says so, and waits to be killed.
TEST(HangupOfAProcess, AKilledPeerIsSeenBehindUnreadData) {
  int to_peer[2], from_peer[2];
  ASSERT_EQ(pipe(to_peer), 0);
  ASSERT_EQ(pipe(from_peer), 0);
  const pid_t peer = fork();
  ASSERT_GE(peer, 0);
  if (peer == 0) {
    uint64_t qual = 0;
    if (read(to_peer[0], &qual, sizeof(qual)) != static_cast<ssize_t>(sizeof(qual))) _exit(1);
    BenchNode node(Patient(), 4096, 4);
    if (!node.Connect(qual, Loopback())) _exit(1);
    node.Until(Wait::kSleep, [&] { return node.established() || node.over(); });
    if (node.PostSend(0, 64, 0) != Code::kOk || !node.ReapOne(Wait::kSleep)) _exit(1);
    if (write(from_peer[1], "s", 1) != 1) _exit(1);
    while (true) pause();
  }
  BenchNode node(Patient(), 8192, 4);
  const uint64_t qual = node.Listen();
  ASSERT_EQ(write(to_peer[1], &qual, sizeof(qual)), static_cast<ssize_t>(sizeof(qual)));
  ASSERT_TRUE(node.Until(Wait::kSleep, [&] { return node.established(); }));
  char sent = 0;
  ASSERT_EQ(read(from_peer[0], &sent, 1), 1);
  EXPECT_EQ(kill(peer, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(peer, &status, 0), peer);
  ASSERT_TRUE(node.Until(Wait::kSleep, [&] { return node.over(); }));
  EXPECT_EQ(node.end_reason(), EndReason::kDisconnected) << node.why();
  for (const int fd : {to_peer[0], to_peer[1], from_peer[0], from_peer[1]}) close(fd);
}

}  // namespace
}  // namespace softdat::softnet
