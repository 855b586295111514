// SPDX-License-Identifier: BSD-3-Clause
// A node whose peer is Linux: one connection between two addresses, which outlives the processes at
// this end.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <string>

#include "rds/protocol/connect_data.h"
#include "rds/socket/fake_link.h"
#include "rds/socket/node.h"

namespace softdat::rds {
namespace {

const Address kOwn = Ipv4(1), kPeer = Ipv4(2);
constexpr Instance kSelf = 7;

// Another process of this address.
constexpr Location kOther{8, 9100};

struct Table : Directory {
  Location Find(const SocketName& name) const override {
    return name == SocketName{kOwn, kReservedPort} ? holder : Location{};
  }
  Location holder;
};

class KernelPeerTest : public testing::Test {
 protected:
  explicit KernelPeerTest(bool holds = true) {
    if (holds) node_.Hold(kOwn, now_);
    node_.Bind(socket_, {kOwn, 4000});
  }

  void Send(const std::string& text) {
    std::vector<uint8_t> payload(text.begin(), text.end());
    ASSERT_EQ(node_.Send(socket_, {kPeer, 4001}, {}, &payload, now_), 0);
    node_.EndTurn(now_);
  }
  // What Linux says when it connects or accepts.
  static std::vector<uint8_t> Linux(uint64_t ack = 0) {
    ConnectData data;
    data.source = kPeer.octets;
    data.destination = kOwn.octets;
    data.ack_sequence = ack;
    std::vector<uint8_t> out(kConnectDataSize6);
    out.resize(EncodeConnectData(data, std::span(out).first<kConnectDataSize6>()));
    return out;
  }
  // The sequences of the messages that were sent since the last call, with "R" if flagged so. They
  // begin behind those that a former process can have used.
  std::vector<std::string> Sent() {
    std::vector<std::string> out;
    for (const FakeLink::Sent& frame : link_.TakeSent()) {
      if (frame.header.sequence == 0) continue;
      const bool again = (frame.header.flags & kRetransmitted) != 0;
      out.push_back(std::to_string(frame.header.sequence - kBehind) + (again ? "R" : ""));
    }
    return out;
  }

  static constexpr uint64_t kBehind = 1'000'000;  // microseconds, when the node meets Linux

  FakeLink link_;
  Table directory_;
  Node node_{kSelf, &link_, &directory_};
  Socket& socket_ = node_.Open();
  Time now_ = std::chrono::seconds(1);
};

using Texts = std::vector<std::string>;

TEST_F(KernelPeerTest, TakesTheQuestionForAConnection) {
  Send("one");
  ASSERT_EQ(link_.attempts.size(), 1u);
  EXPECT_EQ(link_.attempts[0].service, kPort);
  node_.OnEstablished(1, Linux());
  node_.EndTurn(now_);
  EXPECT_EQ(Sent(), Texts{"1"});
}

// It counts on from what a former process of this address has sent, and would take these for
// duplicates as soon as they are sent again.
TEST_F(KernelPeerTest, KnewAFormerProcess) {
  Send("one");
  Send("two");
  node_.OnEstablished(1, Linux(/*ack=*/kBehind + 40));
  node_.EndTurn(now_);
  EXPECT_EQ(Sent(), (Texts{"41", "42"}));
  // The connection breaks, and it has the first one.
  node_.OnBroken(1, /*refused=*/false);
  now_ += std::chrono::milliseconds(1);
  node_.EndTurn(now_);
  ASSERT_EQ(link_.attempts.size(), 2u);
  node_.OnEstablished(2, Linux(/*ack=*/kBehind + 41));
  node_.EndTurn(now_);
  EXPECT_EQ(Sent(), Texts{"42R"});
}

// The question would be a second connection for it, which ends the first one.
TEST_F(KernelPeerTest, ThatConnectsIsAskedNothingAnyMore) {
  Send("one");
  node_.OnRequest(/*request=*/50, kOwn, kPeer, Linux());
  node_.OnRejected(1, Encode(Refusal{}));
  ASSERT_EQ(link_.accepted.size(), 1u);
  EXPECT_EQ(link_.accepted[0].first, 50u);
  node_.OnEstablished(50, {});
  for (int i = 0; i < 100; ++i) {
    now_ += std::chrono::milliseconds(50);
    node_.EndTurn(now_);
  }
  EXPECT_EQ(link_.attempts.size(), 1u);
  EXPECT_EQ(Sent(), Texts{"1"});
}

// While Linux connects it refuses all requests, whoever has the lower address.
TEST_F(KernelPeerTest, ThatConnectsAtTheSameTimeGoesFirst) {
  Send("one");
  node_.OnEstablished(1, Linux());
  node_.OnBroken(1, /*refused=*/false);
  now_ += std::chrono::milliseconds(1);
  node_.EndTurn(now_);
  ASSERT_EQ(link_.attempts.size(), 2u);
  node_.OnRequest(/*request=*/50, kOwn, kPeer, Linux());
  EXPECT_TRUE(link_.rejected.empty());
  ASSERT_EQ(link_.accepted.size(), 1u);
  EXPECT_EQ(link_.closed.back(), 2u);
}

// The other process wants to speak to the peer through this one, or speaks for it.
Introduction JoinOf(bool holder) {
  Introduction out;
  out.kind = Introduction::Kind::kJoin;
  out.for_kernel = true;
  out.own = holder ? kPeer : kOwn;
  out.peer = holder ? kOwn : kPeer;
  out.instance = kOther.instance;
  out.port = kOther.service;
  out.for_instance = kSelf;
  return out;
}

TEST_F(KernelPeerTest, IsForOthersOfThisAddress) {
  node_.OnRequest(50, kOwn, kOwn, Encode(JoinOf(/*holder=*/false)));
  ASSERT_EQ(link_.accepted.size(), 1u);
  const auto said = ParseIntroduction(link_.accepted[0].second, false);
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->for_kernel);
  EXPECT_EQ(said->own, kPeer);
  EXPECT_EQ(said->peer, kOwn);
  EXPECT_EQ(said->port, link_.service(kOwn));
  const std::vector<std::pair<Address, Address>> expected = {{kOwn, kPeer}};
  EXPECT_EQ(node_.TakeNewKernels(), expected);
}

TEST_F(KernelPeerTest, IsNotForWhoeverSaysSo) {
  const auto refused = [&](const Address& from, const Introduction& says) {
    const size_t before = link_.rejected.size();
    node_.OnRequest(50, kOwn, from, Encode(says));
    EXPECT_TRUE(link_.accepted.empty());
    return link_.rejected.size() == before + 1;
  };
  EXPECT_TRUE(refused(kPeer, JoinOf(false))) << "of another host";
  EXPECT_TRUE(refused(kOwn, JoinOf(true))) << "this process is the holder";
  Introduction other = JoinOf(false);
  other.own = Ipv4(9);
  EXPECT_TRUE(refused(kOwn, other)) << "of another address";
  other.peer = kOwn;
  other.own = kOwn;
  EXPECT_TRUE(refused(kOwn, other)) << "to itself";
  other = JoinOf(false);
  other.for_instance = 99;
  EXPECT_TRUE(refused(kOwn, other)) << "for a process that has ended";
}

struct ServedTest : KernelPeerTest {
  ServedTest() : KernelPeerTest(/*holds=*/false) {}
};

TEST_F(ServedTest, LeavesTheKernelToTheHolder) {
  Send("one");
  node_.OnEstablished(1, Linux());
  node_.EndTurn(now_);
  EXPECT_EQ(link_.closed, std::vector<ChannelId>{1});
  EXPECT_EQ(link_.attempts.size(), 1u) << "nobody holds";
  // Whoever says so without being it.
  directory_.holder = {9, 9200};
  node_.OnRequest(50, kOwn, kOwn, Encode(JoinOf(/*holder=*/true)));
  EXPECT_EQ(link_.rejected.size(), 1u);
  directory_.holder = kOther;
  now_ += std::chrono::milliseconds(50);
  node_.EndTurn(now_);
  ASSERT_EQ(link_.attempts.size(), 2u);
  EXPECT_EQ(link_.attempts[1].own, kOwn);
  EXPECT_EQ(link_.attempts[1].peer, kOwn);
  EXPECT_EQ(link_.attempts[1].service, kOther.service);
  const auto said = ParseIntroduction(link_.attempts[1].data, false);
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->for_kernel);
  EXPECT_EQ(said->peer, kPeer);
  node_.OnEstablished(link_.last_channel, Encode(JoinOf(/*holder=*/true)));
  node_.EndTurn(now_);
  const std::vector<FakeLink::Sent> sent = link_.TakeSent();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().header.sequence, 1u) << "that of the holder's connection";
}

}  // namespace
}  // namespace softdat::rds
