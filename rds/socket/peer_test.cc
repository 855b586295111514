// SPDX-License-Identifier: BSD-3-Clause
// A peer: when it connects, when it tells what has come, and who gives way.
#include "rds/socket/peer.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "rds/socket/fake_link.h"

namespace softdat::rds {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

const Address kOwn = Ipv4(1), kPeer = Ipv4(2);
constexpr Instance kSelf = 10, kOther = 20;
constexpr uint16_t kService = 5000;

class PeerTest : public testing::Test, public PeerHost {
 protected:
  explicit PeerTest(Instance other = kOther, const Address& own = kOwn, const Address& peer = kPeer)
      : peer_(std::make_unique<Peer>(PeerName{own, peer, other}, kSelf, kService, &map_, &link_,
                                     this)) {}

  static OutgoingMessage MessageOf(uint64_t id, size_t size = 5) {
    OutgoingMessage out;
    out.id = id;
    out.message.source_port = 4000;
    out.message.destination_port = 4001;
    out.message.payload.resize(size);
    return out;
  }
  // What the peer says at its end.
  std::vector<uint8_t> Join(uint64_t ack = 0, Instance instance = kOther) const {
    return Encode(JoinOf(ack, instance));
  }
  Introduction JoinOf(uint64_t ack = 0, Instance instance = kOther) const {
    Introduction out;
    out.kind = Introduction::Kind::kJoin;
    out.own = peer_->name().peer;
    out.peer = peer_->name().own;
    out.port = kService;
    out.instance = instance;
    out.for_instance = kSelf;
    out.ack_sequence = ack;
    return out;
  }
  // A connection. What it begins with is not looked at.
  void Up() {
    peer_->Pump(now_);
    peer_->OnEstablished(Join(), now_);
    ASSERT_TRUE(peer_->up());
    link_.TakeSent();
  }
  void Hear(uint64_t sequence, uint64_t ack = 0, uint8_t flags = 0) {
    Header header;
    header.sequence = sequence;
    header.ack = ack;
    header.source_port = 4001;
    header.destination_port = sequence == 0 ? 0 : 4000;
    if (sequence == 0) header.source_port = 0;
    header.flags = flags;
    std::array<uint8_t, kHeaderSize> octets{};
    ASSERT_TRUE(EncodeHeader(header, octets));
    peer_->OnFrame(octets, now_);
    peer_->Pump(now_);
  }
  // Up to the deadline, which is so far away.
  void Pass(nanoseconds span) {
    ASSERT_TRUE(peer_->deadline());
    EXPECT_EQ(*peer_->deadline() - now_, span);
    peer_->OnTimer(*peer_->deadline() - nanoseconds(1));
    now_ = *peer_->deadline();
    peer_->OnTimer(now_);
  }

  FakeLink link_;
  CongestionMap map_;
  std::vector<std::string> events_;
  std::vector<uint64_t> operations_;
  int gone_ = 0;
  Time now_ = milliseconds(1000);
  std::unique_ptr<Peer> peer_;

 private:
  void OnEvent(Peer&, Event&& event) override {
    if (std::holds_alternative<Arrived>(event)) events_.push_back("arrived");
    if (const auto* const done = std::get_if<Done>(&event)) {
      events_.push_back("done " + std::to_string(done->id));
    }
    if (const auto* const dropped = std::get_if<Dropped>(&event)) {
      events_.push_back("dropped " + std::to_string(dropped->id));
    }
  }
  void PostOperations(ChannelId, uint64_t id) override { operations_.push_back(id); }
  void OnChannel(ChannelId, Peer*) override {}
  void OnGone(Peer&) override { ++gone_; }
};

TEST(BackoffTest, DoublesUpToASecond) {
  Backoff backoff;
  for (const int ms : {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000}) {
    EXPECT_EQ(backoff.Next(), milliseconds(ms));
  }
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), milliseconds(1));
}

// ---- connecting ----

// Whether another process still exists is found out no other way.
TEST_F(PeerTest, AProcessIsConnectedToAtOnce) {
  peer_->Pump(now_);
  ASSERT_EQ(link_.attempts.size(), 1u);
  const FakeLink::Attempt& attempt = link_.attempts[0];
  EXPECT_EQ(attempt.service, kService);
  const std::optional<Introduction> said = ParseIntroduction(attempt.data, false);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->kind, Introduction::Kind::kJoin);
  EXPECT_EQ(said->port, 9000);
  EXPECT_EQ(said->instance, kSelf);
  EXPECT_EQ(said->for_instance, kOther);
  peer_->Pump(now_);
  EXPECT_EQ(link_.connects, 1u) << "one attempt at a time";
}

class KernelTest : public PeerTest {
 protected:
  KernelTest() : PeerTest(kKernelInstance) {}
};

TEST_F(KernelTest, IsConnectedToWhenSomethingIsToBeSent) {
  peer_->Pump(now_);
  EXPECT_EQ(link_.connects, 0u);
  peer_->Send(MessageOf(1), now_);
  EXPECT_EQ(link_.connects, 1u);
}

TEST_F(KernelTest, IsTriedForEver) {
  peer_->Send(MessageOf(1), now_);
  peer_->OnBroken(/*refused=*/true, now_);
  Pass(milliseconds(1));
  peer_->OnRejected({}, now_);
  Pass(milliseconds(2));
  EXPECT_EQ(link_.connects, 3u);
  EXPECT_EQ(gone_, 0);
}

TEST_F(PeerTest, WaitsLongerFromAttemptToAttempt) {
  link_.unreachable = true;
  peer_->Pump(now_);
  for (const int ms : {1, 2, 4}) Pass(milliseconds(ms));
  EXPECT_EQ(link_.connects, 4u);
  peer_->Send(MessageOf(1), now_);
  EXPECT_EQ(link_.connects, 4u) << "more to send is no reason";
  link_.unreachable = false;
  Pass(milliseconds(8));
  peer_->OnBroken(/*refused=*/false, now_);
  Pass(milliseconds(16));
  EXPECT_EQ(link_.closed, (std::vector<ChannelId>{1})) << "the one that was broken";
}

TEST_F(PeerTest, AConnectionThatWorkedIsMadeAgainAtOnce) {
  link_.unreachable = true;
  peer_->Pump(now_);
  Pass(milliseconds(1));
  link_.unreachable = false;
  Pass(milliseconds(2));
  peer_->OnEstablished(Join(), now_);
  Hear(1);
  peer_->OnBroken(/*refused=*/false, now_);
  EXPECT_EQ(link_.attempts.size(), 2u);
  EXPECT_FALSE(peer_->deadline());
  // And then the waits begin anew.
  peer_->OnBroken(/*refused=*/false, now_);
  Pass(milliseconds(1));
}

// It may have been lost by what is said on it.
TEST_F(PeerTest, AConnectionThatSaidNothingIsNotMadeAgainAtOnce) {
  Up();
  peer_->OnBroken(/*refused=*/false, now_);
  Pass(milliseconds(1));
  peer_->OnEstablished(Join(), now_);
  peer_->OnBroken(/*refused=*/false, now_);
  Pass(milliseconds(2));
}

TEST_F(PeerTest, AProcessThatCannotBeFoundIsGone) {
  peer_->Pump(now_);
  peer_->OnBroken(/*refused=*/true, now_);
  EXPECT_EQ(gone_, 1);
  peer_->Pump(now_);
  peer_->OnRejected({}, now_);
  EXPECT_EQ(gone_, 2);
  peer_->Pump(now_);
  peer_->OnEstablished(Join(0, /*instance=*/30), now_);
  EXPECT_EQ(gone_, 3) << "another one has its service";
  EXPECT_EQ(link_.closed, (std::vector<ChannelId>{1, 2, 3}));
}

TEST_F(PeerTest, ABusyOneIsTriedAgain) {
  peer_->Pump(now_);
  peer_->OnRejected({Refusal::Kind::kBusy, {}}, now_);
  EXPECT_EQ(gone_, 0);
  Pass(milliseconds(1));
  EXPECT_EQ(link_.attempts.size(), 2u);
}

TEST_F(PeerTest, WhatIsNoFrameEndsTheConnection) {
  Up();
  const std::array<uint8_t, 10> octets{};
  peer_->OnFrame(octets, now_);
  EXPECT_FALSE(peer_->up());
  EXPECT_EQ(link_.closed, std::vector<ChannelId>{1});
  Pass(milliseconds(1));
}

TEST_F(PeerTest, ReceivesArePostedAgainBeforeAWaitOrInAGroup) {
  Up();
  Hear(1);
  EXPECT_EQ(link_.posted_receives, 0u) << "the program is to answer first";
  peer_->PostReceives();
  EXPECT_EQ(link_.posted_receives, 1u);
  peer_->PostReceives();
  EXPECT_EQ(link_.posted_receives, 1u) << "there is none";
  for (uint64_t sequence = 2; sequence < 9; ++sequence) Hear(sequence);
  EXPECT_EQ(link_.posted_receives, 1u);
  Hear(9);
  EXPECT_EQ(link_.posted_receives, 2u) << "a program that never waits must not use up all of them";
}

TEST_F(PeerTest, AResetConnectsAnew) {
  peer_->Reset(now_);
  EXPECT_EQ(link_.connects, 0u) << "there is nothing to break";
  Up();
  peer_->Reset(now_);
  EXPECT_EQ(link_.closed, std::vector<ChannelId>{1});
  EXPECT_EQ(link_.attempts.size(), 2u);
}

// ---- when both ends connect ----

TEST_F(PeerTest, TheLowerOneGoesFirst) {
  peer_->Pump(now_);
  EXPECT_FALSE(peer_->OnJoin(77, JoinOf(), now_));
  EXPECT_TRUE(link_.closed.empty());
  peer_->OnEstablished(Join(), now_);
  EXPECT_TRUE(peer_->up());
}

class HigherTest : public PeerTest {
 protected:
  HigherTest() : PeerTest(kOther, kPeer, kOwn) {}
};

TEST_F(HigherTest, GivesWay) {
  peer_->Pump(now_);
  EXPECT_TRUE(peer_->OnJoin(77, JoinOf(), now_));
  EXPECT_EQ(link_.closed, std::vector<ChannelId>{1});
  ASSERT_EQ(link_.accepted.size(), 1u);
  EXPECT_EQ(link_.accepted[0].first, 77u);
  const std::optional<Introduction> said = ParseIntroduction(link_.accepted[0].second, false);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->instance, kSelf);
  EXPECT_FALSE(peer_->up());
  peer_->OnEstablished({}, now_);
  EXPECT_TRUE(peer_->up());
}

// Two processes of one address.
class OneAddressTest : public PeerTest {
 protected:
  OneAddressTest() : PeerTest(kSelf - 1, kOwn, kOwn) {}
};

TEST_F(OneAddressTest, TheHigherInstanceGivesWay) {
  peer_->Pump(now_);
  EXPECT_TRUE(peer_->OnJoin(77, JoinOf(0, kSelf - 1), now_));
}

// This end has not heard yet that the connection has broken.
TEST_F(PeerTest, AJoinReplacesTheConnectionThatThereIs) {
  Up();
  peer_->Send(MessageOf(1), now_);
  peer_->Send(MessageOf(2), now_);
  link_.TakeSent();
  EXPECT_TRUE(peer_->OnJoin(77, JoinOf(/*ack=*/1), now_));
  EXPECT_EQ(link_.closed, std::vector<ChannelId>{1});
  peer_->OnEstablished({}, now_);
  EXPECT_EQ(events_, std::vector<std::string>{"done 1"});
  const std::vector<FakeLink::Sent> sent = link_.TakeSent();
  ASSERT_EQ(sent.size(), 2u) << "the map, and the message that it does not have";
  EXPECT_EQ(sent[1].channel, 77u);
  EXPECT_EQ(sent[1].header.sequence, 2u);
  EXPECT_EQ(sent[1].header.flags & kRetransmitted, kRetransmitted);
}

// ---- what is said ----

TEST_F(PeerTest, AnAcknowledgementWaitsForAnAnswer) {
  Up();
  Hear(1);
  Hear(2);
  EXPECT_TRUE(link_.TakeSent().empty());
  now_ += milliseconds(1);
  peer_->Send(MessageOf(1), now_);
  const std::vector<FakeLink::Sent> sent = link_.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].header.ack, 2u);
  EXPECT_FALSE(peer_->deadline()) << "all was told";
}

TEST_F(PeerTest, AnAcknowledgementWaitsTwoMilliseconds) {
  Up();
  Hear(1);
  now_ += milliseconds(1);
  Hear(2);
  EXPECT_TRUE(link_.TakeSent().empty());
  Pass(milliseconds(1));  // for the first one
  const std::vector<FakeLink::Sent> sent = link_.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].header.ack, 2u);
  EXPECT_EQ(sent[0].header.sequence, 0u);
  EXPECT_FALSE(peer_->deadline());
  Hear(3);
  Pass(milliseconds(2));
  EXPECT_EQ(link_.TakeSent().size(), 1u);
}

TEST_F(PeerTest, AnAcknowledgementThatIsAskedForGoesAtOnce) {
  Up();
  Hear(1, 0, kAckRequired);
  const std::vector<FakeLink::Sent> sent = link_.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].header.ack, 1u);
  EXPECT_FALSE(peer_->deadline());
}

// A process that may end soon.
TEST_F(PeerTest, NewsCanBeToldAtOnce) {
  Up();
  peer_->TellNews(now_);
  EXPECT_TRUE(link_.TakeSent().empty()) << "there are none";
  Hear(1);
  peer_->TellNews(now_);
  ASSERT_EQ(link_.TakeSent().size(), 1u);
  EXPECT_FALSE(peer_->deadline());
}

// The next connection tells them.
TEST_F(PeerTest, NewsOfALostConnectionDoNotWait) {
  Up();
  Hear(1);
  peer_->OnBroken(/*refused=*/false, now_);
  EXPECT_FALSE(peer_->deadline());
  ASSERT_EQ(link_.attempts.size(), 2u);
  EXPECT_EQ(ParseIntroduction(link_.attempts[1].data, false)->ack_sequence, 1u);
}

TEST_F(PeerTest, WhatIsAcknowledgedIsDone) {
  Up();
  for (uint64_t id = 1; id <= 3; ++id) peer_->Send(MessageOf(id), now_);
  Hear(0, /*ack=*/2);
  EXPECT_EQ(events_, (std::vector<std::string>{"done 1", "done 2"}));
}

// ---- operations and room ----

TEST_F(PeerTest, OperationsGoInFrontOfTheirMessage) {
  Up();
  OutgoingMessage message = MessageOf(1, kOwnFragmentSize + 1);
  message.behind_rdma = true;
  peer_->Send(std::move(message), now_);
  EXPECT_EQ(operations_, std::vector<uint64_t>{1});
  const std::vector<FakeLink::Sent> sent = link_.TakeSent();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE(sent[0].fence);
  EXPECT_FALSE(sent[1].fence);
}

TEST_F(PeerTest, ASilentOperationHasNoFrame) {
  Up();
  OutgoingMessage silent = MessageOf(1, 0);
  silent.behind_rdma = silent.silent = true;
  peer_->Send(std::move(silent), now_);
  EXPECT_EQ(operations_, std::vector<uint64_t>{1});
  EXPECT_TRUE(link_.TakeSent().empty());
  // It has a sequence all the same, which a later acknowledgement covers.
  peer_->Send(MessageOf(2), now_);
  const std::vector<FakeLink::Sent> sent = link_.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].header.sequence, 2u);
  Hear(0, /*ack=*/2);
  EXPECT_EQ(events_, (std::vector<std::string>{"done 1", "done 2"}));
}

// Of the operations of a lost connection nobody knows whether they were carried out.
TEST_F(PeerTest, ASilentOperationGoesWithItsConnection) {
  Up();
  OutgoingMessage silent = MessageOf(1, 0);
  silent.behind_rdma = silent.silent = true;
  peer_->Send(std::move(silent), now_);
  Hear(0);
  peer_->OnBroken(/*refused=*/false, now_);
  EXPECT_TRUE(events_.empty()) << "it is told when there is a new one";
  peer_->OnEstablished(Join(), now_);
  EXPECT_EQ(events_, std::vector<std::string>{"dropped 1"});
  EXPECT_EQ(operations_, std::vector<uint64_t>{1}) << "and is not carried out again";
}

// Two operations and a frame must fit.
TEST_F(PeerTest, NothingLeavesWithoutRoom) {
  Up();
  link_.places = 2;
  peer_->Send(MessageOf(1), now_);
  EXPECT_TRUE(link_.TakeSent().empty());
  link_.places = 3;
  peer_->Pump(now_);
  EXPECT_EQ(link_.TakeSent().size(), 1u);
}

}  // namespace
}  // namespace softdat::rds
