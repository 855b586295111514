// SPDX-License-Identifier: BSD-3-Clause
// Own addresses of both families at one interface, below the sockets: which IA has them, and what
// comes to them. In a network of its own, in which lo has 127.0.0.1 and ::1.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "rds/link/dat_link.h"
#include "rds/socket/introduction.h"
#include "tests/rds/network.h"

namespace softdat::rds {
namespace {

Address Ipv4(uint8_t first, uint8_t last) {
  Address out;
  out.octets = {first, 0, 0, last};
  return out;
}

Address Loopback6() {
  Address out;
  out.ipv6 = true;
  out.octets[15] = 1;
  return out;
}

// Takes what comes, and notes it.
class Host : public LinkEvents {
 public:
  Host() { link_.SetEvents(this); }
  DatLink& link() { return link_; }

  void OnRequest(ChannelId request, const Address& own, const Address& peer, ByteSpan) override {
    requested = own;
    requester = peer;
    link_.Reject(request, Encode(Refusal{Refusal::Kind::kBusy, {}}));
  }
  void OnEstablished(ChannelId, ByteSpan) override {}
  void OnRejected(ChannelId channel, ByteSpan data) override {
    refusal = ParseRefusal(data);
    link_.Close(channel);
  }
  void OnBroken(ChannelId, bool) override { broken = true; }
  void OnFrame(ChannelId, ByteSpan) override {}
  void OnRoom(ChannelId) override {}
  void OnOperation(ChannelId, uint64_t, int) override {}

  // Asks from an own address for a service of another one's process, and waits for its refusal.
  void Ask(const Address& own, const Address& peer, uint16_t service) {
    Introduction question;
    question.kind = Introduction::Kind::kLocate;
    question.own = own;
    question.peer = peer;
    question.port = 4000;
    question.instance = 1;
    refusal.reset();
    requested.reset();
    ASSERT_TRUE(link_.Connect(own, peer, service, Encode(question)));
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!refusal && !broken && std::chrono::steady_clock::now() < until) {
      for (const auto& [address, adapter] : link_.adapters()) {
        DAT_EVENT event;
        if (adapter->Wait(1000, &event).events > 0) adapter->Handle(event);
      }
    }
    EXPECT_FALSE(broken);
    EXPECT_TRUE(refusal);
  }

  std::optional<Refusal> refusal;
  std::optional<Address> requested;
  Address requester;
  bool broken = false;

 private:
  DatLink link_;
};

class OwnAddressesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { has_network = rds_test::EnterNetwork(); }
  void SetUp() override {
    if (!has_network) GTEST_SKIP() << "no network of its own";
    std::string why;
    four_ = host_.link().Attach(Ipv4(127, 1), &why);
    ASSERT_NE(four_, nullptr) << why;
    six_ = host_.link().Attach(Loopback6(), &why);
    ASSERT_NE(six_, nullptr) << why;
  }

  static inline bool has_network = false;
  Host host_;
  Adapter* four_ = nullptr;
  Adapter* six_ = nullptr;
};

TEST_F(OwnAddressesTest, EachHasItsRequests) {
  for (const Adapter* const to : {four_, six_}) {
    host_.Ask(to->address(), to->address(), to->service());
    ASSERT_TRUE(host_.refusal);
    EXPECT_EQ(host_.refusal->kind, Refusal::Kind::kBusy);
    EXPECT_EQ(host_.requested, to->address());
    EXPECT_EQ(host_.requester, to->address());
  }
}

// An IA may listen for both families.
TEST_F(OwnAddressesTest, NoneHasRequestsOfTheOtherFamily) {
  host_.Ask(Loopback6(), Loopback6(), four_->service());
  EXPECT_FALSE(host_.requested);
  ASSERT_TRUE(host_.refusal);
  EXPECT_EQ(host_.refusal->kind, Refusal::Kind::kOther);
}

TEST_F(OwnAddressesTest, BothListenForRdsItself) {
  EXPECT_TRUE(four_->Hold());
  EXPECT_TRUE(six_->Hold());
  host_.Ask(Loopback6(), Loopback6(), kPort6);
  EXPECT_EQ(host_.requested, Loopback6());
  host_.Ask(Ipv4(127, 1), Ipv4(127, 1), kPort);
  EXPECT_EQ(host_.requested, Ipv4(127, 1));
}

TEST_F(OwnAddressesTest, AnAddressThatIsNotTheInterfacesHasNone) {
  std::string why;
  EXPECT_EQ(host_.link().Attach(Ipv4(192, 1), &why), nullptr);
  EXPECT_NE(why.find("-lo has the address 127.0.0.1"), std::string::npos) << why;
}

}  // namespace
}  // namespace softdat::rds
