// SPDX-License-Identifier: BSD-3-Clause
// The end of connections, what is remembered of them, and both ends in one manager.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "provider_softnet/cm/testing/cm_bench.h"

namespace softdat::softnet {
namespace {

using testing::CmBench;
using Sent = CmBench::Sent;

TEST(CmDisconnectTest, ADreqNamesThePeersQueuePairAndIsRepeated) {
  CmBench b;
  b.EstablishPassively();
  const uint64_t begun_us = b.now_us;
  b.cm().Disconnect(b.id, b.now_us);
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  const auto& dreq = std::get<rdmacm::CmDreq>(sent[0].message);
  EXPECT_EQ(dreq.remote_qpn, testing::kPeerQpn);
  EXPECT_EQ(dreq.local_comm_id, b.comm_id);
  EXPECT_EQ(dreq.remote_comm_id, testing::kPeerCommId);
  int tries = 1;
  while (b.state() == CmState::kDisconnecting) {
    b.Wait();
    tries += b.state() == CmState::kDisconnecting;
  }
  EXPECT_EQ(tries, 7);
  EXPECT_EQ(b.now_us - begun_us, 10'300'000u);
  EXPECT_TRUE(b.TakeAll().ends_with("| disconnected:self"));
  b.Wait();
  EXPECT_EQ(b.now_us - begun_us, 12'300'000u);
  EXPECT_EQ(b.TakeAll(), "| over");
  EXPECT_EQ(b.cm().size(), 0u);
}

TEST(CmDisconnectTest, TheActiveSidesDreqHasTheRequestsTransaction) {
  CmBench b;
  b.cm().Connect(b.Parameters(), b.now_us);
  const std::vector<Sent> request = b.TakeSent();
  b.comm_id = std::get<rdmacm::CmReq>(request[0].message).local_comm_id;
  b.Receive(b.Rep());
  const auto reply = b.TakeOnly<CmReplyArrived>();
  ASSERT_TRUE(reply.has_value());
  b.cm().ReadyToUse(reply->id);
  b.TakeAll();
  b.cm().Disconnect(reply->id, b.now_us);
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].transaction_id, request[0].transaction_id);
}

TEST(CmDisconnectTest, ADrepCopiesTheTransactionAndTheIds) {
  CmBench b;
  b.EstablishActively();
  b.Receive(b.Dreq());
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].transaction_id, testing::kPeerTransaction);
  const auto& drep = std::get<rdmacm::CmDrep>(sent[0].message);
  EXPECT_EQ(drep.local_comm_id, b.comm_id);
  EXPECT_EQ(drep.remote_comm_id, testing::kPeerCommId);
}

TEST(CmDisconnectTest, ThePeersQueuePairIsTakenForHalfOfTheTimeWait) {
  CmBench b;
  b.EstablishPassively();
  b.Receive(b.Dreq());
  b.TakeAll();
  rdmacm::CmReq again = b.Req();
  again.local_comm_id = testing::kPeerCommId + 1;
  b.Later(900'000);
  b.Receive(again);
  EXPECT_EQ(b.TakeAll(), "REJ:10 |");
  b.Later(200'000);
  b.Receive(again);
  EXPECT_EQ(b.TakeAll(), "REJ:10 |") << "a copy of what was refused";
  again.local_comm_id = testing::kPeerCommId + 2;
  b.Receive(again);
  EXPECT_EQ(b.TakeAll(), "| request");
  EXPECT_EQ(b.state(), CmState::kTimeWait) << "its own QPN is not free yet";
}

TEST(CmDisconnectTest, ConnectionsInTimeWaitAreBounded) {
  CmBench b({.ca_guid = 1, .most_remembered = 10});
  uint64_t over = 0;
  for (uint32_t k = 0; k < 100; ++k) {
    CmConnect p = b.Parameters();
    p.qpn = 1000 + k;
    b.Connect(p);
    rdmacm::CmRep rep = b.Rep();
    rep.local_comm_id = 1000 + k;
    rep.local_qpn = 2000 + k;
    b.Receive(rep);
    b.cm().ReadyToUse(b.id);
    b.Receive(rdmacm::CmDreq{rep.local_comm_id, b.comm_id, p.qpn, {}});
    for (const CmEvent& event : b.TakeEvents()) {
      if (!std::holds_alternative<CmOver>(event)) continue;
      EXPECT_EQ(std::get<CmOver>(event).qpn, 1000 + over) << "the oldest goes first";
      ++over;
    }
    b.TakeSent();
  }
  EXPECT_EQ(over, 90u);
  EXPECT_EQ(b.cm().size(), 10u);
}

// Of each kind: what the peer hears when the local object dies, and that its consumer hears
// nothing.
TEST(CmDisconnectTest, AbandonTellsThePeerAlone) {
  struct Case {
    void (CmBench::*reach)();
    const char* expected;
  };
  const Case cases[] = {{&CmBench::ReplyArrives, "REJ:4 |"},
                        {&CmBench::EstablishActively, "DREQ |"},
                        {&CmBench::Accept, "REJ:4 DREQ |"},
                        {&CmBench::EstablishPassively, "DREQ |"}};
  for (const Case& c : cases) {
    CmBench b;
    (b.*c.reach)();
    b.cm().Abandon(b.id, b.now_us);
    EXPECT_EQ(b.TakeAll(), c.expected);
    std::vector<CmEvent> events;
    while (b.cm().size() > 0) {
      b.Wait();
      for (CmEvent& event : b.TakeEvents()) events.push_back(std::move(event));
    }
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(std::get<CmOver>(events[0]).qpn, testing::kOwnQpn);
  }
}

TEST(CmDisconnectTest, ADisconnectBeforeThereIsAConnectionIsAtOnce) {
  CmBench b;
  b.Connect();
  b.cm().Disconnect(b.id, b.now_us);
  EXPECT_EQ(b.TakeAll(), "REJ:4 | disconnected:self");
  b.cm().Disconnect(b.id, b.now_us);
  EXPECT_EQ(b.TakeAll(), "|");
}

TEST(CmDisconnectTest, CallsThatComeTooLateDoNothing) {
  CmBench b;
  b.EstablishActively();
  b.Receive(b.Dreq());
  b.TakeAll();
  b.cm().ReadyToUse(b.id);
  b.cm().Accept(b.id, {}, b.now_us);
  b.cm().Reject(b.id, rdmacm::RejectReason::kConsumer, {}, b.now_us);
  b.cm().Delay(b.id);
  b.cm().EstablishedByData(b.id);
  b.cm().Disconnect(b.id, b.now_us);
  b.cm().Abandon(b.id, b.now_us);
  b.cm().Abandon(b.id + 1000, b.now_us);
  EXPECT_EQ(b.TakeAll(), "|");
  EXPECT_EQ(b.state(), CmState::kTimeWait);
}

// Both ends of a connection in one manager: its ids do not get mixed up.
TEST(CmDisconnectTest, AConnectionToOneself) {
  std::mt19937_64 random(7);
  CommunicationManager cm({.ca_guid = 5}, [&random] { return random(); });
  uint64_t now_us = 0;
  std::string told;
  CmId passive = 0;
  const auto run = [&] {
    for (bool more = true; more;) {
      more = false;
      while (const auto out = cm.TakeOutgoing()) {
        cm.OnMad(testing::Host(1), out->mad, now_us);
        cm.OnMad(testing::Host(1), out->mad, now_us);  // each of them twice
        more = true;
      }
      while (const auto event = cm.TakeEvent()) {
        told += testing::NameOf(*event) + " ";
        if (const auto* e = std::get_if<CmRequestArrived>(&*event); e != nullptr) {
          passive = e->id;
          CmAccept p;
          p.qpn = 21;
          cm.Accept(e->id, p, now_us);
        }
        if (const auto* e = std::get_if<CmReplyArrived>(&*event); e != nullptr)
          cm.ReadyToUse(e->id);
        more = true;
      }
    }
  };
  CmConnect p;
  p.local = p.remote = testing::Host(1);
  p.qpn = 20;
  const CmId active = cm.Connect(p, now_us);
  run();
  EXPECT_EQ(told, "request reply established ");
  EXPECT_EQ(cm.state(active), CmState::kEstablished);
  EXPECT_EQ(cm.state(passive), CmState::kEstablished);
  told.clear();
  cm.Disconnect(passive, now_us);
  run();
  EXPECT_EQ(told, "disconnected:peer disconnected:self ");
  cm.OnTime(now_us = 2'000'000);
  run();
  EXPECT_EQ(cm.size(), 0u);
}

TEST(CmDisconnectTest, WhatIsNoMadIsIgnored) {
  CmBench b;
  b.EstablishActively();
  std::vector<uint8_t> octets(300);
  for (size_t size = 0; size <= octets.size(); ++size)
    b.cm().OnMad(testing::Host(2), {octets.data(), size}, b.now_us);
  sockaddr_storage nobody{};
  b.cm().OnMad(nobody, {octets.data(), 256}, b.now_us);
  EXPECT_EQ(b.TakeAll(), "|");
  EXPECT_EQ(b.state(), CmState::kEstablished);
}

}  // namespace
}  // namespace softdat::softnet
