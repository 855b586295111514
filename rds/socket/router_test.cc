// SPDX-License-Identifier: BSD-3-Clause
// Where ports are: one question at a time, and what becomes of the messages that wait.
#include "rds/socket/router.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "rds/socket/fake_link.h"

namespace softdat::rds {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Texts = std::vector<std::string>;

const Address kOwn = Ipv4(1), kPeer = Ipv4(2);
constexpr Instance kSelf = 10;
constexpr Location kThere{20, 5000}, kNowhere{20, 0};

class RouterTest : public testing::Test, public RouterHost {
 protected:
  void Keep(uint64_t id, uint16_t port, const Address& own = kOwn) {
    OutgoingMessage message;
    message.id = id;
    message.message.destination_port = port;
    router_.Keep(own, {kPeer, port}, std::move(message), now_);
  }
  static std::vector<uint8_t> Kernel() {
    ConnectData data;
    data.source = kPeer.octets;
    data.destination = kOwn.octets;
    std::vector<uint8_t> octets(kConnectDataSize6);
    octets.resize(EncodeConnectData(data, std::span(octets).first<kConnectDataSize6>()));
    return octets;
  }
  // The answer to the question that is open.
  bool Answer(const Location& location) {
    return router_.OnRejected(link_.last_channel, {Refusal::Kind::kLocated, location}, now_);
  }
  // The ports that were asked for, one after the other.
  std::vector<uint16_t> Asked() const {
    std::vector<uint16_t> out;
    for (const FakeLink::Attempt& attempt : link_.attempts) {
      const std::optional<Introduction> said = ParseIntroduction(attempt.data, false);
      EXPECT_TRUE(said && said->kind == Introduction::Kind::kLocate && said->instance == kSelf);
      EXPECT_EQ(attempt.service, kPort);
      out.push_back(said ? said->port : 0);
    }
    return out;
  }
  void Pass(nanoseconds span) {
    ASSERT_TRUE(router_.deadline());
    EXPECT_EQ(*router_.deadline() - now_, span);
    if (span > nanoseconds(0)) router_.OnTimer(*router_.deadline() - nanoseconds(1));
    now_ = *router_.deadline();
    router_.OnTimer(now_);
  }

  FakeLink link_;
  Router router_{kSelf, &link_, this};
  Texts located_;  // "port service: ids"
  Texts kernels_;
  bool known_kernel_ = false, reachable_ = true;
  Time now_ = milliseconds(1000);

 private:
  void OnLocated(const Address&, const SocketName& to, const Location& location,
                 std::deque<OutgoingMessage> waiting) override {
    std::string text = std::to_string(to.port) + " " + std::to_string(location.service) + ":";
    for (const OutgoingMessage& message : waiting) text += " " + std::to_string(message.id);
    located_.push_back(text);
  }
  void OnKernel(const Address&, const Address&, ChannelId channel, const Introduction&) override {
    kernels_.push_back(std::to_string(channel));
  }
  bool IsKernel(const Address&, const Address&) override { return known_kernel_; }
  bool ReachKernel(const Address&, const Address&) override { return reachable_; }
};

TEST_F(RouterTest, OneQuestionForAllThatWait) {
  Keep(1, 4001);
  Keep(2, 4001);
  EXPECT_EQ(Asked(), std::vector<uint16_t>{4001});
  EXPECT_TRUE(router_.IsAsking(kOwn, {kPeer, 4001}));
  EXPECT_FALSE(router_.IsAsking(kOwn, {kPeer, 4002}));
  EXPECT_FALSE(router_.IsAsking(kPeer, {kPeer, 4001}));
  EXPECT_TRUE(Answer(kThere));
  EXPECT_EQ(located_, Texts{"4001 5000: 1 2"});
  EXPECT_FALSE(router_.IsAsking(kOwn, {kPeer, 4001}));
  EXPECT_EQ(link_.closed, std::vector<ChannelId>{1});
  EXPECT_FALSE(router_.deadline());
}

// A kernel would take a second one for a new connection.
TEST_F(RouterTest, OneQuestionAtATime) {
  Keep(1, 4001);
  Keep(2, 4002);
  Keep(3, 4001);
  EXPECT_EQ(Asked(), std::vector<uint16_t>{4001});
  Answer(kThere);
  EXPECT_EQ(Asked(), (std::vector<uint16_t>{4001, 4002}));
  Answer({30, 6000});
  EXPECT_EQ(located_, (Texts{"4001 5000: 1 3", "4002 6000: 2"}));
}

TEST_F(RouterTest, EachOwnAddressAsksForItself) {
  Keep(1, 4001);
  Keep(2, 4001, Ipv4(3));
  ASSERT_EQ(link_.attempts.size(), 2u);
  EXPECT_EQ(link_.attempts[1].own, Ipv4(3));
  Answer(kThere);
  EXPECT_EQ(located_, Texts{"4001 5000: 2"});
  EXPECT_TRUE(router_.IsAsking(kOwn, {kPeer, 4001}));
}

// Somebody may have taken the port before the later ones were sent.
TEST_F(RouterTest, ThatNobodyHasThePortSaysNothingOfLaterMessages) {
  Keep(1, 4001);
  Keep(2, 4001);
  Keep(3, 4002);
  Answer(kNowhere);
  EXPECT_EQ(located_, Texts{"4001 0: 1"});
  EXPECT_EQ(Asked(), (std::vector<uint16_t>{4001, 4002})) << "it is asked for again, but behind";
  Answer(kThere);
  Answer(kThere);
  EXPECT_EQ(Asked(), (std::vector<uint16_t>{4001, 4002, 4001}));
  EXPECT_EQ(located_, (Texts{"4001 0: 1", "4002 5000: 3", "4001 5000: 2"}));
}

// ---- without an answer ----

TEST_F(RouterTest, AsksAgainLaterAndLater) {
  link_.unreachable = true;
  Keep(1, 4001);
  Pass(milliseconds(1));
  link_.unreachable = false;
  Pass(milliseconds(2));
  Keep(2, 4002);
  EXPECT_EQ(link_.attempts.size(), 1u);
  EXPECT_TRUE(router_.OnBroken(1, now_));
  Keep(3, 4003);
  EXPECT_EQ(link_.attempts.size(), 1u) << "more to send is no reason";
  Pass(milliseconds(4));
  EXPECT_TRUE(router_.OnRejected(2, {}, now_));
  Pass(milliseconds(8));
  const std::vector<uint8_t> nothing(10);
  EXPECT_TRUE(router_.OnEstablished(3, nothing, now_));
  EXPECT_EQ(link_.closed, (std::vector<ChannelId>{1, 2, 3}));
  Pass(milliseconds(16));
  EXPECT_TRUE(located_.empty());
  Answer(kThere);
  EXPECT_EQ(located_, Texts{"4001 5000: 1"});
  // And then the waits begin anew.
  EXPECT_TRUE(router_.OnBroken(link_.last_channel, now_));
  Pass(milliseconds(1));
  Answer(kThere);
  Answer(kThere);
  EXPECT_EQ(located_, (Texts{"4001 5000: 1", "4002 5000: 2", "4003 5000: 3"}));
}

TEST_F(RouterTest, ChannelsOfOthers) {
  Keep(1, 4001);
  EXPECT_FALSE(router_.OnEstablished(99, {}, now_));
  EXPECT_FALSE(router_.OnRejected(99, {}, now_));
  EXPECT_FALSE(router_.OnBroken(99, now_));
  Answer(kThere);
  EXPECT_FALSE(router_.OnBroken(1, now_)) << "it was answered";
}

// ---- what is taken back ----

TEST_F(RouterTest, WhatIsTakenBackIsNotSent) {
  for (uint64_t id = 1; id <= 4; ++id) Keep(id, 4001);
  const auto even = [](const OutgoingMessage& message) { return message.id % 2 == 0; };
  EXPECT_EQ(router_.Cancel(even), (std::vector<uint64_t>{2, 4}));
  Answer(kThere);
  EXPECT_EQ(located_, Texts{"4001 5000: 1 3"});
}

// The question was for the first message, and that has gone.
TEST_F(RouterTest, WhatIsTakenBackIsNotWhatWasAskedFor) {
  Keep(1, 4001);
  Keep(2, 4001);
  router_.Cancel([](const OutgoingMessage& message) { return message.id == 1; });
  Answer(kNowhere);
  EXPECT_EQ(located_, Texts{"4001 0:"});
  Answer(kThere);
  EXPECT_EQ(located_, (Texts{"4001 0:", "4001 5000: 2"}));
}

TEST_F(RouterTest, APortThatComesToThisProcess) {
  Keep(1, 4001);
  Keep(2, 4001);
  Keep(3, 4002);
  Keep(4, 4001, Ipv4(3));
  const auto taken = router_.Take({kPeer, 4001});
  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].second.id, 1u);
  EXPECT_EQ(taken[1].second.id, 2u);
  EXPECT_EQ(taken[2].second.id, 4u);
  EXPECT_EQ(taken[2].first, Ipv4(3));
  EXPECT_TRUE(router_.OnRejected(1, {Refusal::Kind::kLocated, kThere}, now_));
  EXPECT_EQ(located_, Texts{"4001 5000:"});
}

// ---- kernels ----

TEST_F(RouterTest, AKernelHasAllPorts) {
  Keep(1, 4001);
  Keep(2, 4002);
  EXPECT_TRUE(router_.OnEstablished(1, Kernel(), now_));
  EXPECT_EQ(kernels_, Texts{"1"});
  EXPECT_EQ(located_, (Texts{"4001 18634: 1", "4002 18634: 2"}));
  EXPECT_TRUE(link_.closed.empty()) << "it is a connection";
  EXPECT_FALSE(router_.IsAsking(kOwn, {kPeer, 4001}));
}

// It has connected by itself meanwhile.
TEST_F(RouterTest, WhoIsKnownNeedNotBeAsked) {
  Keep(1, 4001);
  router_.StopAsking(kOwn, Ipv4(9));
  EXPECT_TRUE(located_.empty());
  router_.StopAsking(kOwn, kPeer);
  EXPECT_EQ(located_, Texts{"4001 18634: 1"});
  EXPECT_EQ(link_.closed, std::vector<ChannelId>{1});
  EXPECT_FALSE(router_.deadline());
}

TEST_F(RouterTest, AKnownKernelIsAskedNothing) {
  known_kernel_ = true;
  Keep(1, 4001);
  EXPECT_EQ(located_, Texts{"4001 18634: 1"});
  EXPECT_FALSE(router_.IsAsking(kOwn, {kPeer, 4001}));
  // Nobody speaks to it, for a moment.
  reachable_ = false;
  Keep(2, 4001);
  Keep(3, 4002);
  for (const int ms : {1, 2, 4, 8, 16, 32, 50, 50}) Pass(milliseconds(ms));
  reachable_ = true;
  router_.Hurry(Ipv4(9), now_);
  Pass(milliseconds(50));
  EXPECT_EQ(located_, (Texts{"4001 18634: 1", "4001 18634: 2", "4002 18634: 3"}));
  EXPECT_TRUE(link_.attempts.empty());
  reachable_ = false;
  Keep(4, 4001);
  reachable_ = true;
  router_.Hurry(kOwn, now_);
  Pass(milliseconds(0));
  EXPECT_EQ(located_.back(), "4001 18634: 4");
}

}  // namespace
}  // namespace softdat::rds
