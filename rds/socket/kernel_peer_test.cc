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

struct Nobody : Directory {
  Location Find(const SocketName&) const override { return {}; }
};

class KernelPeerTest : public testing::Test {
 protected:
  KernelPeerTest() {
    node_.Hold(kOwn, now_);
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
  // The sequences of the messages that were sent since the last call, with "R" if flagged so.
  std::vector<std::string> Sent() {
    std::vector<std::string> out;
    for (const FakeLink::Sent& frame : link_.TakeSent()) {
      if (frame.header.sequence == 0) continue;
      const bool again = (frame.header.flags & kRetransmitted) != 0;
      out.push_back(std::to_string(frame.header.sequence) + (again ? "R" : ""));
    }
    return out;
  }

  FakeLink link_;
  Nobody directory_;
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
  node_.OnEstablished(1, Linux(/*ack=*/40));
  node_.EndTurn(now_);
  EXPECT_EQ(Sent(), (Texts{"41", "42"}));
  // The connection breaks, and it has the first one.
  node_.OnBroken(1, /*refused=*/false);
  now_ += std::chrono::milliseconds(1);
  node_.EndTurn(now_);
  ASSERT_EQ(link_.attempts.size(), 2u);
  node_.OnEstablished(2, Linux(/*ack=*/41));
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

}  // namespace
}  // namespace softdat::rds
