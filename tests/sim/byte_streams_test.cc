// SPDX-License-Identifier: BSD-3-Clause
// The simulated byte streams behave like TCP sockets.
#include "tests/sim/byte_streams.h"

#include <errno.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace softdat::sim {
namespace {

using Kind = StreamEvent::Kind;
using Bytes = std::vector<uint8_t>;

constexpr uint64_t kSecond = 1'000'000;

Bytes Pattern(size_t size) {
  Bytes b(size);
  for (size_t k = 0; k < size; ++k) b[k] = static_cast<uint8_t>(k * 7 + k / 256);
  return b;
}

class ByteStreamsTest : public testing::Test {
 protected:
  ByteStreamsTest() { Make({.min_delay_us = 50, .max_delay_us = 50}, {}); }

  void Make(const LinkOptions& link, const ByteStreamOptions& options, uint64_t seed = 1) {
    streams_.reset();
    network_ = std::make_unique<Network>(&time_, 3, seed);
    network_->SetLinks(link);
    streams_ = std::make_unique<ByteStreams>(&time_, network_.get(), options);
    for (int node = 0; node < 3; ++node) {
      events_[node].clear();
      streams_->SetHandler(node,
                           [this, node](const StreamEvent& e) { events_[node].push_back(e); });
    }
  }
  void Run() {
    while (time_.Step()) {
    }
  }
  void RunFor(uint64_t us) { time_.RunUntil(time_.now_us() + us); }
  // The events of a node as letters: (c)onnected, (f)ailed, (a)ccepted, (r)eadable, (w)ritable,
  // closed (x).
  std::string Seen(int node) const {
    std::string all;
    for (const StreamEvent& e : events_[node]) all += "cfarwx"[static_cast<size_t>(e.kind)];
    return all;
  }
  // Makes a connection from node 0 to node 1.
  void Join() {
    ASSERT_EQ(streams_->Listen({1, 7}), 0);
    a_ = streams_->Connect(0, {1, 7});
    RunFor(10 * kSecond);
    ASSERT_EQ(Seen(0), "c");
    ASSERT_EQ(Seen(1), "a");
    b_ = events_[1][0].stream;
    events_[0].clear();
    events_[1].clear();
  }
  Bytes ReadAll(StreamId stream) {
    Bytes all;
    uint8_t some[700];
    for (;;) {
      const ssize_t n = streams_->Receive(stream, some);
      if (n <= 0) return all;
      all.insert(all.end(), some, some + n);
    }
  }
  // Sends all of `bytes`, while the other end reads.
  Bytes Transfer(StreamId from, StreamId to, const Bytes& bytes) {
    Bytes got;
    size_t sent = 0;
    for (int k = 0; k < 100000 && got.size() < bytes.size(); ++k) {
      const ssize_t n = streams_->Send(from, std::span(bytes).subspan(sent));
      if (n > 0) sent += static_cast<size_t>(n);
      if (!time_.Step()) break;
      const Bytes more = ReadAll(to);
      got.insert(got.end(), more.begin(), more.end());
    }
    return got;
  }
  void ExpectNothingLeft() {
    Run();
    for (int node = 0; node < 3; ++node) EXPECT_EQ(streams_->remaining(node), 0u);
  }

  VirtualTime time_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<ByteStreams> streams_;
  std::vector<StreamEvent> events_[3];
  StreamId a_ = 0, b_ = 0;
};

TEST_F(ByteStreamsTest, ConnectAndAccept) {
  Join();
  EXPECT_EQ(streams_->remote(a_), (Address{1, 7}));
  EXPECT_EQ(streams_->remote(b_), streams_->local(a_));
  EXPECT_EQ(streams_->Peek(a_), -EAGAIN);
  EXPECT_EQ(streams_->Listen({1, 7}), -EADDRINUSE);
}

TEST_F(ByteStreamsTest, RefusedWhereNobodyListens) {
  a_ = streams_->Connect(0, {1, 7});
  Run();
  ASSERT_EQ(Seen(0), "f");
  EXPECT_EQ(events_[0][0].error, ECONNREFUSED);
  EXPECT_EQ(Seen(1), "");
  streams_->Close(a_);
  ExpectNothingLeft();
}

TEST_F(ByteStreamsTest, NoAnswerEndsWithTheSystemsPatience) {
  ASSERT_EQ(streams_->Listen({1, 7}), 0);
  for (const bool there : {true, false}) {
    events_[0].clear();
    network_->SetCut(there ? 0 : 1, there ? 1 : 0, true);
    a_ = streams_->Connect(0, {1, 7});
    RunFor(59 * kSecond);
    EXPECT_EQ(Seen(0), "");
    RunFor(120 * kSecond);
    ASSERT_EQ(Seen(0), "f");
    EXPECT_EQ(events_[0][0].error, ETIMEDOUT);
    streams_->Close(a_);
    network_->SetCut(there ? 0 : 1, there ? 1 : 0, false);
  }
  EXPECT_EQ(Seen(1), "") << "what was never connected is not accepted";
  ExpectNothingLeft();
}

TEST_F(ByteStreamsTest, ALostRequestIsSentAgain) {
  ASSERT_EQ(streams_->Listen({1, 7}), 0);
  network_->SetCut(0, 1, true);
  a_ = streams_->Connect(0, {1, 7});
  RunFor(2 * kSecond);
  network_->SetCut(0, 1, false);
  RunFor(10 * kSecond);
  EXPECT_EQ(Seen(0), "c");
  EXPECT_EQ(Seen(1), "a");
}

TEST_F(ByteStreamsTest, AStreamCanMeetItself) {
  a_ = streams_->Connect(0, {0, 40000}, 40000);
  RunFor(kSecond);
  ASSERT_EQ(Seen(0), "c");
  EXPECT_EQ(streams_->local(a_), streams_->remote(a_));
  EXPECT_EQ(Transfer(a_, a_, Pattern(5000)), Pattern(5000));
  streams_->Close(a_);
  ExpectNothingLeft();
}

TEST_F(ByteStreamsTest, WhoGivesUpIsNeverAccepted) {
  ASSERT_EQ(streams_->Listen({1, 7}), 0);
  a_ = streams_->Connect(0, {1, 7});
  RunFor(70);  // the answer is under way
  streams_->Close(a_);
  RunFor(kSecond);
  EXPECT_EQ(Seen(0), "");
  EXPECT_EQ(Seen(1), "");
  ExpectNothingLeft();
}

TEST_F(ByteStreamsTest, BytesComeInOrderWhateverTheNetworkDoes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Make({.min_delay_us = 10,
          .max_delay_us = 2000,
          .lose_one_in = 12,
          .burst_one_in = 60,
          .reorder_one_in = 6,
          .reorder_us = 5000,
          .duplicate_one_in = 6,
          .corrupt_one_in = 20},
         {.send_buffer = 9000, .receive_buffer = 5000}, seed);
    ASSERT_EQ(streams_->Listen({1, 7}), 0);
    a_ = streams_->Connect(0, {1, 7});
    while (Seen(1).empty()) ASSERT_TRUE(time_.Step());
    b_ = events_[1][0].stream;
    ASSERT_EQ(Transfer(a_, b_, Pattern(80000)), Pattern(80000)) << "seed " << seed;
    ASSERT_EQ(Transfer(b_, a_, Pattern(30000)), Pattern(30000)) << "seed " << seed;
    streams_->Close(a_);
    RunFor(5 * kSecond);
    streams_->Close(b_);
    ExpectNothingLeft();
  }
}

TEST_F(ByteStreamsTest, ASenderIsHeldByFullBuffersAndToldOfRoom) {
  Make({.min_delay_us = 50, .max_delay_us = 50}, {.send_buffer = 3000, .receive_buffer = 2000});
  Join();
  const Bytes bytes = Pattern(10000);
  EXPECT_EQ(streams_->Send(a_, bytes), 3000);
  EXPECT_EQ(streams_->Send(a_, std::span(bytes).subspan(3000)), -EAGAIN);
  RunFor(10 * kSecond);
  EXPECT_EQ(Seen(0), "w") << "2000 bytes are at the peer";
  EXPECT_EQ(streams_->Send(a_, std::span(bytes).subspan(3000)), 2000);
  RunFor(100 * kSecond);
  EXPECT_EQ(Seen(0), "w") << "nobody reads";
  EXPECT_EQ(ReadAll(b_).size(), 2000u);
  RunFor(kSecond);
  EXPECT_EQ(Seen(0), "ww");
}

TEST_F(ByteStreamsTest, HalfClosed) {
  Join();
  ASSERT_EQ(streams_->Send(a_, Pattern(100)), 100);
  streams_->ShutdownWrite(a_);
  EXPECT_EQ(streams_->Send(a_, Pattern(1)), -EPIPE);
  RunFor(kSecond);
  EXPECT_EQ(Seen(1), "rx");
  EXPECT_EQ(ReadAll(b_), Pattern(100));
  EXPECT_EQ(streams_->Peek(b_), 0);
  EXPECT_EQ(Transfer(b_, a_, Pattern(3000)), Pattern(3000)) << "the other direction is open";
  streams_->Close(b_);
  RunFor(kSecond);
  EXPECT_EQ(events_[0].back().kind, Kind::kClosed);
  EXPECT_EQ(events_[0].back().error, 0);
  streams_->Close(a_);
  ExpectNothingLeft();
}

TEST_F(ByteStreamsTest, ClosingWithUnreadBytesResets) {
  Join();
  ASSERT_EQ(streams_->Send(a_, Pattern(100)), 100);
  RunFor(kSecond);
  streams_->Close(b_);
  RunFor(kSecond);
  EXPECT_EQ(Seen(0), "x");
  EXPECT_EQ(events_[0].back().error, ECONNRESET);
  EXPECT_EQ(streams_->Peek(a_), -ECONNRESET);
  EXPECT_EQ(streams_->Send(a_, Pattern(1)), -EPIPE);
}

TEST_F(ByteStreamsTest, WhatIsSentToAClosedEndIsReset) {
  Join();
  streams_->Close(b_);
  RunFor(kSecond);
  EXPECT_EQ(streams_->Peek(a_), 0);
  ASSERT_EQ(streams_->Send(a_, Pattern(100)), 100);
  RunFor(kSecond);
  EXPECT_EQ(Seen(0), "xx");
  EXPECT_EQ(events_[0].back().error, EPIPE) << "a reset behind a FIN";
}

TEST_F(ByteStreamsTest, BytesInFrontOfAResetCanBeRead) {
  Join();
  ASSERT_EQ(streams_->Send(a_, Pattern(100)), 100);
  RunFor(60);
  streams_->Reset(a_);
  RunFor(kSecond);
  EXPECT_EQ(Seen(1), "rx");
  EXPECT_EQ(ReadAll(b_), Pattern(100));
  EXPECT_EQ(streams_->Peek(b_), -ECONNRESET);
}

TEST_F(ByteStreamsTest, AProgramThatEndsLeavesItsSystemToSayIt) {
  Join();
  ASSERT_EQ(streams_->Send(b_, Pattern(500)), 500);
  streams_->Crash(1);
  RunFor(kSecond);
  EXPECT_EQ(ReadAll(a_), Pattern(500));
  EXPECT_EQ(streams_->Peek(a_), 0);
  const StreamId again = streams_->Connect(0, {1, 7});
  RunFor(kSecond);
  EXPECT_EQ(events_[0].back().kind, Kind::kFailed);
  EXPECT_EQ(events_[0].back().error, ECONNREFUSED);
  streams_->Close(again);
  streams_->Close(a_);
  ExpectNothingLeft();
}

TEST_F(ByteStreamsTest, AMachineThatEndsIsMissedByThoseWhoSend) {
  Join();
  streams_->Vanish(1);
  RunFor(1000 * kSecond);
  EXPECT_EQ(Seen(0), "") << "who waits hears nothing";
  ASSERT_EQ(streams_->Send(a_, Pattern(1)), 1);
  RunFor(59 * kSecond);
  EXPECT_EQ(Seen(0), "");
  RunFor(60 * kSecond);
  EXPECT_EQ(Seen(0), "x");
  EXPECT_EQ(streams_->Peek(a_), -ETIMEDOUT);
}

TEST_F(ByteStreamsTest, ProbesMissAPeerThatIsGone) {
  for (const bool vanishes : {true, false}) {
    Make({.min_delay_us = 50, .max_delay_us = 50}, {.probe_us = 10 * kSecond});
    Join();
    RunFor(300 * kSecond);
    EXPECT_EQ(Seen(0), "") << "probes are answered";
    if (vanishes) {
      streams_->Vanish(1);
    } else {
      network_->SetCut(1, 0, true);  // so that its reset is lost
      streams_->Reset(b_);
      network_->SetCut(1, 0, false);
    }
    RunFor(100 * kSecond);
    EXPECT_EQ(Seen(0), "x");
    EXPECT_EQ(streams_->Peek(a_), vanishes ? -ETIMEDOUT : -ECONNRESET);
    streams_->Close(a_);
    ExpectNothingLeft();
  }
}

TEST_F(ByteStreamsTest, AListenerThatLeavesResetsWhoWasAlmostConnected) {
  ASSERT_EQ(streams_->Listen({1, 7}), 0);
  a_ = streams_->Connect(0, {1, 7});
  RunFor(120);  // the answer has arrived, and the answer to it is under way
  streams_->Unlisten({1, 7});
  RunFor(kSecond);
  EXPECT_EQ(Seen(0), "cx");
  EXPECT_EQ(events_[0].back().error, ECONNRESET);
  EXPECT_EQ(Seen(1), "");
}

}  // namespace
}  // namespace softdat::sim
