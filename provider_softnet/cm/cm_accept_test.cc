// SPDX-License-Identifier: BSD-3-Clause
// The passive side: requests, their answers, and the handshake's end.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "provider_softnet/cm/testing/cm_bench.h"

namespace softdat::softnet {
namespace {

using rdmacm::Answered;
using rdmacm::CmRej;
using rdmacm::CmReq;
using testing::CmBench;
using Wire = rdmacm::RejectReason;
using Sent = CmBench::Sent;

TEST(CmAcceptTest, ARequestTellsWhatThePeerAsks) {
  CmBench b;
  CmReq req = b.Req();
  const std::array<uint8_t, 2> data = {5, 6};
  req.private_data = data;
  req.srq = true;
  b.Receive(req);
  const auto event = b.TakeOnly<CmRequestArrived>();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->service_id, testing::kService);
  EXPECT_EQ(event->peer.qpn, testing::kPeerQpn);
  EXPECT_EQ(event->peer.starting_psn, testing::kPeerPsn);
  EXPECT_EQ(event->peer.ca_guid, testing::kPeerGuid);
  EXPECT_EQ(event->offered.in, 3) << "what the peer wants to ask";
  EXPECT_EQ(event->offered.out, 7) << "what the peer answers";
  EXPECT_EQ(event->path_mtu, 3);
  EXPECT_EQ(event->retry_count, 6);
  EXPECT_EQ(event->rnr_retry_count, 5);
  EXPECT_EQ(event->local_ack_timeout, 15);
  EXPECT_TRUE(event->srq);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), event->private_data.begin()));
  EXPECT_EQ(b.cm().deadline_us(), kCmNever) << "the consumer may think for as long as it likes";
}

TEST(CmAcceptTest, TheReplyLowersTheDepthsAndCarriesTheRequestsTransaction) {
  CmBench b;
  b.RequestArrives();
  CmAccept p;
  p.qpn = testing::kOwnQpn;
  p.starting_psn = testing::kOwnPsn;
  p.depths = {.in = 4, .out = 5};
  p.rnr_retry_count = 2;
  p.target_ack_delay = 9;
  const std::array<uint8_t, rdmacm::kRepPrivateSize> data = {1};
  p.private_data = data;
  b.cm().Accept(b.id, p, b.now_us);
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].transaction_id, testing::kPeerTransaction);
  const auto& rep = std::get<rdmacm::CmRep>(sent[0].message);
  EXPECT_EQ(rep.remote_comm_id, testing::kPeerCommId);
  EXPECT_EQ(rep.local_qpn, testing::kOwnQpn);
  EXPECT_EQ(rep.starting_psn, testing::kOwnPsn);
  EXPECT_EQ(rep.responder_resources, 3);
  EXPECT_EQ(rep.initiator_depth, 5);
  EXPECT_EQ(rep.rnr_retry_count, 2);
  EXPECT_EQ(rep.target_ack_delay, 9);
  EXPECT_EQ(rep.local_ca_guid, testing::kOwnGuid);
  EXPECT_TRUE(std::ranges::equal(rep.private_data, data));
}

TEST(CmAcceptTest, ARequestThatComesAgainIsMetWithSilenceFirstAndThenWithMra) {
  CmBench b;
  b.RequestArrives();
  b.Receive(b.Req());
  EXPECT_EQ(b.TakeAll(), "|");
  b.Receive(b.Req());
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  const auto& mra = std::get<rdmacm::CmMra>(sent[0].message);
  EXPECT_EQ(mra.answered, Answered::kReq);
  EXPECT_EQ(mra.service_timeout, 24);
  EXPECT_EQ(mra.remote_comm_id, testing::kPeerCommId);
  b.Receive(b.Req());
  EXPECT_EQ(b.TakeAll(), "MRA |");
}

TEST(CmAcceptTest, WhoSaidThatItTakesLongerSaysItAgain) {
  CmBench b;
  b.RequestArrives();
  b.cm().Delay(b.id);
  EXPECT_EQ(b.TakeAll(), "MRA |");
  b.Receive(b.Req());
  EXPECT_EQ(b.TakeAll(), "MRA |");
}

TEST(CmAcceptTest, TheReplyIsRepeatedUntilTheHandshakesLimit) {
  CmBench b;
  b.Accept();
  int replies = 1;
  uint64_t begun_us = b.now_us;
  while (b.state() == CmState::kReplySent) {
    b.Wait();
    if (b.state() == CmState::kReplySent) {
      EXPECT_EQ(b.TakeAll(), "REP |");
      ++replies;
    }
  }
  EXPECT_EQ(b.now_us - begun_us, 30'000'000u);
  EXPECT_GE(replies, 8);
  EXPECT_LE(replies, 14);
  EXPECT_EQ(b.TakeAll(), "REJ:4 DREQ | failed:aborted");
  b.Receive(b.Drep());
  b.Later(10'000'000);
  EXPECT_EQ(b.TakeAll(), "| over");
  EXPECT_EQ(b.cm().size(), 0u);
}

TEST(CmAcceptTest, AnMraOfTheReplyExtendsTheLimitButNotForEver) {
  CmBench b;
  b.Accept();
  const uint64_t begun_us = b.now_us;
  while (b.state() == CmState::kReplySent) {
    b.Receive(b.Mra(Answered::kRep, 20));
    b.Later(2'000'000);
  }
  EXPECT_GE(b.now_us - begun_us, 100'000'000u);
  EXPECT_LE(b.now_us - begun_us, 102'000'000u);
}

// Who has the peer's address now knows nothing of a REP that is repeated to it, and its REJ may
// come before what the peer had said.
TEST(CmAcceptTest, ARejThatOvertakesTheRtuEndsNothingAtOnce) {
  CmBench b;
  b.Accept();
  b.Receive(b.Rej(Wire::kInvalidCommId));
  EXPECT_EQ(b.TakeAll(), "|");
  b.Receive(b.Rtu());
  EXPECT_EQ(b.state(), CmState::kEstablished);
  EXPECT_EQ(b.TakeEvents().size(), 1u);
}

TEST(CmAcceptTest, ARejOfTheReplyEndsItSoonWithoutAnRtu) {
  CmBench b;
  b.Accept();
  const uint64_t begun_us = b.now_us;
  b.Receive(b.Rej(Wire::kInvalidCommId));
  while (b.state() == CmState::kReplySent) b.Wait();
  EXPECT_EQ(b.now_us - begun_us, 2'000'000u);
}

TEST(CmAcceptTest, DataInPlaceOfTheRtuEstablishOnce) {
  CmBench b;
  b.Accept();
  b.cm().EstablishedByData(b.id);
  EXPECT_EQ(b.TakeAll(), "| established");
  b.cm().EstablishedByData(b.id);
  b.Receive(b.Rtu());
  EXPECT_EQ(b.TakeAll(), "|");
  EXPECT_EQ(b.cm().deadline_us(), kCmNever);
}

TEST(CmAcceptTest, ARejectCarriesTheConsumersDataAndIsRepeated) {
  CmBench b;
  b.RequestArrives();
  const std::array<uint8_t, 3> data = {3, 2, 1};
  b.cm().Reject(b.id, Wire::kConsumer, data, b.now_us);
  const std::vector<Sent> first = b.TakeSent();
  ASSERT_EQ(first.size(), 1u);
  const auto& rej = std::get<CmRej>(first[0].message);
  EXPECT_EQ(rej.reason, Wire::kConsumer);
  EXPECT_EQ(rej.answered, Answered::kReq);
  EXPECT_EQ(rej.remote_comm_id, testing::kPeerCommId);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), rej.private_data.begin()));
  b.Later(9'000'000);
  b.Receive(b.Req());
  const std::vector<Sent> again = b.TakeSent();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].octets, first[0].octets);
  b.Later(1'000'000);
  EXPECT_EQ(b.cm().size(), 0u);
  EXPECT_TRUE(b.TakeEvents().empty());
}

// A requester that was asked for time does not ask again for a minute. It would not hear of a
// reject that is lost.
TEST(CmAcceptTest, ARejectBehindAnMraIsRepeatedUnasked) {
  CmBench b;
  b.RequestArrives();
  b.Receive(b.Req());
  b.Receive(b.Req());
  EXPECT_EQ(b.TakeAll(), "MRA |");
  const std::array<uint8_t, 3> data = {3, 2, 1};
  b.cm().Reject(b.id, Wire::kConsumer, data, b.now_us);
  const std::vector<Sent> first = b.TakeSent();
  ASSERT_EQ(first.size(), 1u);
  std::vector<uint64_t> again_ms;
  const uint64_t begun_us = b.now_us;
  while (b.cm().size() > 0) {
    b.Wait();
    for (const Sent& again : b.TakeSent()) {
      EXPECT_EQ(again.octets, first[0].octets);
      again_ms.push_back((b.now_us - begun_us) / 1000);
    }
  }
  EXPECT_EQ(again_ms, (std::vector<uint64_t>{100, 300, 700, 1500, 3100, 6300}));
  EXPECT_EQ(b.now_us - begun_us, 10'000'000u);
  EXPECT_TRUE(b.TakeEvents().empty());
}

// A requester that has not heard the reject asks again after 100 ms, then 200, and so on. Each of
// its requests may come to another member, which knows neither the service nor that it was refused.
TEST(CmAcceptTest, ARejectIsRepeatedUnaskedWhenItsServiceIsGone) {
  CmBench b;
  b.RequestArrives();
  b.cm().Reject(b.id, Wire::kConsumer, {}, b.now_us);
  const std::vector<Sent> first = b.TakeSent();
  ASSERT_EQ(first.size(), 1u);
  b.cm().RepeatRefusals(b.Req().service_id + 1, b.now_us);
  EXPECT_EQ(b.TakeAll(), "|");
  std::vector<uint64_t> again_ms;
  const uint64_t begun_us = b.now_us;
  b.cm().RepeatRefusals(b.Req().service_id, b.now_us);
  while (b.cm().size() > 0) {
    for (const Sent& again : b.TakeSent()) {
      EXPECT_EQ(again.octets, first[0].octets);
      again_ms.push_back((b.now_us - begun_us) / 1000);
    }
    b.Wait();
    b.cm().RepeatRefusals(b.Req().service_id, b.now_us);  // once is enough
  }
  EXPECT_EQ(again_ms, (std::vector<uint64_t>{0, 50, 150, 350, 750, 1550, 3150, 6350}));
  EXPECT_EQ(b.now_us - begun_us, 10'000'000u);
  EXPECT_TRUE(b.TakeEvents().empty());
}

TEST(CmAcceptTest, AnAcceptAfterTheRequesterGaveUpFails) {
  CmBench b;
  b.RequestArrives();
  b.Receive(b.RejOfUnknown());
  EXPECT_EQ(b.TakeAll(), "| withdrawn");
  CmAccept p;
  p.qpn = testing::kOwnQpn;
  b.cm().Accept(b.id, p, b.now_us);
  EXPECT_EQ(b.TakeAll(), "| failed:aborted over");
  EXPECT_EQ(b.cm().size(), 0u);
}

TEST(CmAcceptTest, WhatCannotBeServedIsRefusedWithoutTheConsumer) {
  CmBench b;
  CmReq req = b.Req();
  req.transport = rdmacm::TransportType::kUc;
  b.Receive(req);
  EXPECT_EQ(b.TakeAll(), "REJ:9 |");
  req = b.Req();
  req.path_mtu = 6;
  b.Receive(req);
  EXPECT_EQ(b.TakeAll(), "REJ:26 |");
  req.path_mtu = 0;
  b.Receive(req);
  EXPECT_EQ(b.TakeAll(), "REJ:26 |");
  req = b.Req();
  req.local_qpn = 1;
  b.Receive(req);
  EXPECT_EQ(b.TakeAll(), "REJ:1 |");
  req = b.Req();
  req.local_comm_id = 0;
  b.Receive(req);
  EXPECT_EQ(b.TakeAll(), "|");
  EXPECT_EQ(b.cm().size(), 0u);
}

// A flood of requests takes a bounded amount of memory.
TEST(CmAcceptTest, HalfOpenExchangesAreBounded) {
  CmBench b({.ca_guid = 1, .most_half_open = 3});
  std::vector<CmId> ids;
  const auto ask = [&b](uint32_t k) {
    CmReq req = b.Req();
    req.local_comm_id = 100 + k;
    req.local_qpn = 100 + k;
    b.Receive(req);
  };
  for (uint32_t k = 0; k < 3; ++k) {
    ask(k);
    const auto event = b.TakeOnly<CmRequestArrived>();
    ASSERT_TRUE(event.has_value());
    ids.push_back(event->id);
  }
  ask(3);
  EXPECT_EQ(b.TakeAll(), "REJ:3 |");
  CmAccept p;
  p.qpn = 50;
  b.cm().Accept(ids[0], p, b.now_us);
  EXPECT_EQ(b.TakeAll(), "REP |");
  ask(4);
  EXPECT_EQ(b.TakeAll(), "REJ:3 |") << "its handshake is not complete";
  b.cm().EstablishedByData(ids[0]);
  EXPECT_EQ(b.TakeAll(), "| established");
  ask(5);
  EXPECT_EQ(b.TakeAll(), "| request");
  b.cm().Reject(ids[1], Wire::kConsumer, {}, b.now_us);
  b.TakeAll();
  ask(6);
  EXPECT_EQ(b.TakeAll(), "| request");
  EXPECT_EQ(b.cm().size(), 5u);
}

TEST(CmAcceptTest, RefusalsThatAreRememberedAreBounded) {
  CmBench b({.ca_guid = 1, .most_remembered = 10});
  for (uint32_t k = 0; k < 100; ++k) {
    CmReq req = b.Req();
    req.local_comm_id = 100 + k;
    b.Receive(req);
    const auto event = b.TakeOnly<CmRequestArrived>();
    ASSERT_TRUE(event.has_value());
    b.cm().Reject(event->id, Wire::kInvalidServiceId, {}, b.now_us);
    b.TakeAll();
    EXPECT_LE(b.cm().size(), 10u);
  }
  CmReq oldest = b.Req();
  oldest.local_comm_id = 190;
  b.Receive(oldest);
  EXPECT_EQ(b.TakeAll(), "REJ:8 |");
}

TEST(CmAcceptTest, AnAbandonedRequestIsRefused) {
  CmBench b;
  b.RequestArrives();
  b.cm().Abandon(b.id, b.now_us);
  EXPECT_EQ(b.TakeAll(), "REJ:3 |");
}

}  // namespace
}  // namespace softdat::softnet
