// SPDX-License-Identifier: BSD-3-Clause
// Tests how the parts work together: connections are made and ended over a device that does as it
// is told.
#include "provider_verbs/queue_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>

#include "provider_verbs/testing/pair_fixture.h"

namespace softdat::verbs {
namespace {

using nulldevice::AnswerNullConnect;
using nulldevice::ArriveNullMessage;
using nulldevice::CompleteNullSends;
using nulldevice::NullReceives;
using nulldevice::RefuseNullReceive;
using nulldevice::RefuseNullSend;
using nulldevice::TakeNullCmCalls;
using nulldevice::TakeNullPosts;
using nulldevice::TellNullConnection;
using transport::Clock;
using transport::DisconnectMode;
using transport::EndReason;
using transport::Op;
using transport::RejectReason;
using transport::SendRequest;
using transport::WorkStatus;
using Cookies = std::vector<uint64_t>;

// Counts what the consumer is told.
class Told final : public transport::ConnectionSink {
 public:
  void OnEstablished(std::span<const uint8_t>) override { ++established; }
  void OnFailed(RejectReason reason, std::span<const uint8_t>, const std::string&) override {
    ++over;
    reject = reason;
  }
  void OnEnded(EndReason reason, const std::string&) override {
    ++over;
    end = reason;
  }
  int established = 0;
  int over = 0;  // failed or ended
  std::optional<RejectReason> reject;
  std::optional<EndReason> end;
};

class QueuePairTest : public PairTest {
 protected:
  void SetUp() override { Start({}); }
  void Start(const nulldevice::NullDevice& null) {
    Open(null);
    transport::QueuePairAttributes attributes = Attributes();
    attributes.sink = &told_;
    pair_ = std::make_unique<QueuePair>(QpCore::Create(*device_, attributes).Take());
  }
  void TearDown() override {
    pair_.reset();
    device_->reaper.Join();
    PairTest::TearDown();
  }
  Status Connect(const char* address = "127.0.0.1",
                 std::chrono::microseconds timeout = std::chrono::seconds(60)) {
    transport::ConnectParameters p;
    auto& in = reinterpret_cast<sockaddr_in&>(p.remote);
    in.sin_family = AF_INET;
    inet_pton(AF_INET, address, &in.sin_addr);
    p.conn_qual = 5000;
    p.timeout = timeout;
    return pair_->Connect(p);
  }
  void Establish() {
    ASSERT_TRUE(Connect().ok());
    ASSERT_TRUE(Until([this] { return told_.established == 1; }));
  }
  void ExpectEnd(EndReason reason) {
    ASSERT_TRUE(Until([this] { return told_.over == 1; }));
    EXPECT_EQ(told_.end, reason);
    EXPECT_EQ(told_.reject, std::nullopt);
  }
  void ExpectFailure(RejectReason reason) {
    ASSERT_TRUE(Until([this] { return told_.over == 1; }));
    EXPECT_EQ(told_.reject, reason);
    EXPECT_EQ(told_.established, 0);
  }
  Code Send(uint64_t cookie, uint8_t flags = 0) {
    const DAT_LMR_TRIPLET segment = Segment(0, 64);
    SendRequest request;
    request.cookie = cookie;
    request.flags = flags;
    request.local = {&segment, 1};
    return pair_->PostSend(request);
  }
  Code Receive(uint64_t cookie) {
    const DAT_LMR_TRIPLET segment = Segment(0, 64);
    return pair_->PostReceive({.cookie = cookie, .local = {&segment, 1}});
  }

  Told told_;
  std::unique_ptr<QueuePair> pair_;
};

TEST_F(QueuePairTest, MessagesThatComeEarlyWaitForTheConnectionsEvent) {
  EXPECT_EQ(Receive(0), Code::kOk);
  EXPECT_EQ(Receive(1), Code::kOk);
  AnswerNullConnect({.silent = true});
  ASSERT_TRUE(Connect().ok());
  ASSERT_TRUE(Until([] { return NullReceives() == 2; }));
  ArriveNullMessage(10);
  EXPECT_TRUE(Poll(*recv_cq_).empty());
  TellNullConnection({.event = RDMA_CM_EVENT_CONNECT_RESPONSE});
  ASSERT_TRUE(Until([this] { return told_.established == 1; }));
  ArriveNullMessage(20);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), (Cookies{0, 1}));
}

TEST_F(QueuePairTest, ARefusedRequestToThisHostIsTriedAgain) {
  const nulldevice::NullAnswer nobody{.event = RDMA_CM_EVENT_REJECTED, .status = 8};
  AnswerNullConnect(nobody);
  AnswerNullConnect(nobody);
  EXPECT_EQ(Receive(0), Code::kOk);
  Establish();
  EXPECT_EQ(TakeNullCmCalls().connects, 3);
  // A receive that was posted before the first attempt is there for the last.
  ArriveNullMessage(1);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{0});
}

TEST_F(QueuePairTest, ARefusedRequestElsewhereIsNot) {
  AnswerNullConnect({.event = RDMA_CM_EVENT_REJECTED, .status = 8});
  ASSERT_TRUE(Connect("192.0.2.1").ok());
  ExpectFailure(RejectReason::kNonPeer);
  EXPECT_EQ(TakeNullCmCalls().connects, 1);
}

TEST_F(QueuePairTest, APeerThatSaysNothingTimesOut) {
  AnswerNullConnect({.silent = true});
  ASSERT_TRUE(Connect("127.0.0.1", std::chrono::milliseconds(20)).ok());
  ExpectFailure(RejectReason::kTimedOut);
}

// A failure that only the network can report is an event.
TEST_F(QueuePairTest, AnAddressOfNoHostIsAnEvent) {
  ASSERT_TRUE(Connect("224.0.0.1").ok());
  EXPECT_EQ(told_.over, 0);
  ExpectFailure(RejectReason::kUnreachable);
}

TEST_F(QueuePairTest, AReceiveThatTheDeviceRefusesFailsTheConnection) {
  EXPECT_EQ(Receive(0), Code::kOk);
  RefuseNullReceive(EINVAL);
  ASSERT_TRUE(Connect().ok());
  ExpectFailure(RejectReason::kUnreachable);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{0});
}

TEST_F(QueuePairTest, AnAbruptEndFlushesBothQueues) {
  EXPECT_EQ(Receive(10), Code::kOk);
  Establish();
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(Send(i, i == 2 ? transport::kSuppress : 0), Code::kOk);
  pair_->Disconnect(DisconnectMode::kAbrupt);
  EXPECT_EQ(Send(3), Code::kInvalidState);  // the consumer knows of the end
  ExpectEnd(EndReason::kDisconnected);
  EXPECT_EQ(CookiesOf(Poll(*send_cq_)), (Cookies{0, 1, 2}));
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{10});
  EXPECT_EQ(TakeNullCmCalls().disconnects, 1);
}

TEST_F(QueuePairTest, AGracefulEndWaitsForSendsThatNothingReports) {
  Establish();
  EXPECT_EQ(Send(0, transport::kSuppress), Code::kOk);
  EXPECT_EQ(Send(1, transport::kSuppress), Code::kOk);
  TakeNullPosts();
  pair_->Disconnect(DisconnectMode::kGraceful);
  size_t markers = 0;
  ASSERT_TRUE(Until([&markers] { return (markers += TakeNullPosts().size()) == 1; }));
  CompleteNullSends(2);
  Turn();
  EXPECT_EQ(told_.over, 0);
  CompleteNullSends(1);
  ExpectEnd(EndReason::kDisconnected);
  EXPECT_TRUE(Poll(*send_cq_).empty());
}

TEST_F(QueuePairTest, AnAbruptEndDoesNotWaitForAGracefulOne) {
  Establish();
  EXPECT_EQ(Send(0), Code::kOk);
  pair_->Disconnect(DisconnectMode::kGraceful);
  Turn();
  EXPECT_EQ(told_.over, 0);
  pair_->Disconnect(DisconnectMode::kAbrupt);
  ExpectEnd(EndReason::kDisconnected);
  EXPECT_EQ(CookiesOf(Poll(*send_cq_)), Cookies{0});
}

TEST_F(QueuePairTest, AFailedRequestBreaksTheConnection) {
  Establish();
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(Send(i), Code::kOk);
  CompleteNullSends(2, IBV_WC_REM_ACCESS_ERR);
  std::vector<transport::Completion> done;
  ASSERT_TRUE(Until([&] {
    const auto more = Poll(*send_cq_);
    done.insert(done.end(), more.begin(), more.end());
    return done.size() == 3;
  }));
  EXPECT_EQ(done[1].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(done[2].status, WorkStatus::kFlushed);
  ExpectEnd(EndReason::kBroken);
}

TEST_F(QueuePairTest, ThePeerMayEndInPeace) {
  Establish();
  TellNullConnection({.event = RDMA_CM_EVENT_DISCONNECTED});
  ExpectEnd(EndReason::kDisconnected);
}

TEST_F(QueuePairTest, TheNextConnectionHasFreshHardware) {
  Establish();
  const uint32_t life = pair_->core()->failure.life();
  pair_->Disconnect(DisconnectMode::kAbrupt);
  ExpectEnd(EndReason::kDisconnected);
  EXPECT_EQ(Receive(5), Code::kOk);  // flushed at once, because there is no connection
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{5});
  ASSERT_TRUE(pair_->Reset().ok());
  EXPECT_EQ(Receive(6), Code::kOk);
  ASSERT_TRUE(Connect().ok());
  ASSERT_TRUE(Until([this] { return told_.established == 2; }));
  EXPECT_GT(pair_->core()->failure.life(), life);
  ArriveNullMessage(1);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{6});
  // An error of the old hardware that is reported only now.
  pair_->core()->OnAsyncError("late", life);
  Turn();
  EXPECT_EQ(told_.over, 1);
}

TEST_F(QueuePairTest, AttributesChangeOnlyOutsideConnections) {
  EXPECT_EQ(Receive(0), Code::kOk);
  transport::QueuePairAttributes attributes = Attributes();
  attributes.sink = &told_;
  attributes.max_recv = 0;
  EXPECT_EQ(pair_->Configure(attributes).code(), Code::kInvalidState);  // one receive is posted
  attributes.max_recv = 9;
  EXPECT_TRUE(pair_->Configure(attributes).ok());
  Establish();
  EXPECT_EQ(pair_->Configure(attributes).code(), Code::kInvalidState);
  ArriveNullMessage(1);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{0});
}

// A device that never returns anything has one second.
class StuckQueuePairTest : public QueuePairTest {
 protected:
  void SetUp() override { Start({.flushes = false}); }
};

TEST_F(StuckQueuePairTest, TheEndComesAfterASecond) {
  EXPECT_EQ(Receive(10), Code::kOk);
  Establish();
  EXPECT_EQ(Send(0), Code::kOk);
  EXPECT_EQ(Send(1), Code::kOk);
  CompleteNullSends(1);
  const Clock::time_point start = Clock::now();
  pair_->core()->OnAsyncError("failed", pair_->core()->failure.life());
  EXPECT_EQ(told_.over, 0);
  // Nobody has told the consumer yet, so its posts are taken.
  EXPECT_EQ(Send(2), Code::kOk);
  EXPECT_EQ(Receive(11), Code::kOk);
  EXPECT_EQ(pair_->OutstandingReceives(), 2u);
  ExpectEnd(EndReason::kBroken);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(1000));
  const auto sent = Poll(*send_cq_);
  ASSERT_EQ(CookiesOf(sent), (Cookies{0, 1, 2}));
  EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
  EXPECT_EQ(sent[1].status, WorkStatus::kFlushed);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), (Cookies{10, 11}));
  EXPECT_EQ(pair_->OutstandingSends(), 0u);
}

class IwarpQueuePairTest : public QueuePairTest {
 protected:
  void SetUp() override { Start({.iwarp = true}); }
};

TEST_F(IwarpQueuePairTest, AReadRefusedHalfWayBreaksTheConnection) {
  Establish();
  const DAT_LMR_TRIPLET sinks[] = {Segment(0, 64), Segment(100, 64)};
  SendRequest read;
  read.op = Op::kRdmaRead;
  read.local = sinks;
  read.remote.segment_length = 128;
  RefuseNullSend(1, ENOMEM);
  EXPECT_EQ(pair_->PostSend(read), Code::kOk);
  ExpectEnd(EndReason::kBroken);
  EXPECT_EQ(Poll(*send_cq_).size(), 1u);
}

TEST_F(IwarpQueuePairTest, AnAttemptGivenUpGoesInTheBackground) {
  AnswerNullConnect({.silent = true});
  ASSERT_TRUE(Connect("127.0.0.1", std::chrono::milliseconds(20)).ok());
  ExpectFailure(RejectReason::kTimedOut);
  ASSERT_TRUE(pair_->Reset().ok());
  EXPECT_TRUE(Connect().ok());
  EXPECT_TRUE(Until([this] { return told_.established == 1; }));
}

}  // namespace
}  // namespace softdat::verbs
