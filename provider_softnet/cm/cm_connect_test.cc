// SPDX-License-Identifier: BSD-3-Clause
// The active side: what is asked, how often and how long, and what the consumer hears.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "provider_softnet/cm/testing/cm_bench.h"
#include "wire/rdmacm/ip_header.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::softnet {
namespace {

using rdmacm::Answered;
using rdmacm::CmRej;
using rdmacm::CmReq;
using testing::CmBench;
using transport::RejectReason;
using Sent = CmBench::Sent;

TEST(CmConnectTest, TheRequestSaysWhatWasAskedAndWhatRdmaCmExpects) {
  CmBench b;
  CmConnect p = b.Parameters();
  const std::array<uint8_t, rdmacm::kReqPrivateSize> data = {1, 2, 3};
  p.private_data = data;
  p.retry_count = 6;
  p.rnr_retry_count = 5;
  p.srq = true;
  b.cm().Connect(p, b.now_us);
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  const auto& req = std::get<CmReq>(sent[0].message);
  EXPECT_NE(req.local_comm_id, 0u);
  EXPECT_EQ(static_cast<uint32_t>(sent[0].transaction_id), req.local_comm_id);
  EXPECT_EQ(req.service_id, testing::kService);
  EXPECT_EQ(req.local_ca_guid, testing::kOwnGuid);
  EXPECT_EQ(req.local_qpn, testing::kOwnQpn);
  EXPECT_EQ(req.starting_psn, testing::kOwnPsn);
  EXPECT_EQ(req.responder_resources, 4);
  EXPECT_EQ(req.initiator_depth, 5);
  EXPECT_EQ(req.retry_count, 6);
  EXPECT_EQ(req.rnr_retry_count, 5);
  EXPECT_EQ(req.path_mtu, 3);
  EXPECT_TRUE(req.srq);
  EXPECT_EQ(req.transport, rdmacm::TransportType::kRc);
  EXPECT_EQ(req.remote_cm_response_timeout, 20);
  EXPECT_EQ(req.local_cm_response_timeout, 20);
  EXPECT_EQ(req.max_cm_retries, 15);
  EXPECT_EQ(req.pkey, 0xffff);
  EXPECT_EQ(req.primary.local_gid, rdmacm::GidOf(4, rdmacm::HeaderAddressOf({10, 0, 0, 1})));
  EXPECT_EQ(req.primary.remote_gid, rdmacm::GidOf(4, rdmacm::HeaderAddressOf({10, 0, 0, 2})));
  EXPECT_EQ(req.primary.hop_limit, 64);
  EXPECT_EQ(req.primary.local_lid, 0xffff);
  EXPECT_TRUE(std::ranges::equal(req.private_data, data));
}

TEST(CmConnectTest, AReplyMakesAConnectionWhenTheQueuePairIsReady) {
  CmBench b;
  b.Connect();
  rdmacm::CmRep rep = b.Rep();
  const std::array<uint8_t, 3> data = {9, 8, 7};
  rep.private_data = data;
  rep.target_ack_delay = 15;
  b.Receive(rep);
  EXPECT_TRUE(b.TakeSent().empty()) << "the peer may not send before the queue pair is ready";
  const auto event = b.TakeOnly<CmReplyArrived>();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->id, b.id);
  EXPECT_EQ(event->peer.qpn, testing::kPeerQpn);
  EXPECT_EQ(event->peer.starting_psn, testing::kPeerPsn);
  EXPECT_EQ(event->peer.ca_guid, testing::kPeerGuid);
  EXPECT_EQ(event->agreed.out, 2) << "as many reads as the peer answers";
  EXPECT_EQ(event->agreed.in, 4) << "not more than was offered";
  EXPECT_EQ(event->target_ack_delay, 15);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), event->private_data.begin()));
  b.cm().ReadyToUse(b.id);
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  const auto& rtu = std::get<rdmacm::CmRtu>(sent[0].message);
  EXPECT_EQ(rtu.local_comm_id, b.comm_id);
  EXPECT_EQ(rtu.remote_comm_id, testing::kPeerCommId);
  EXPECT_EQ(b.state(), CmState::kEstablished);
  EXPECT_EQ(b.cm().deadline_us(), kCmNever);
}

TEST(CmConnectTest, TheSameRequestIsRepeatedAtLongerIntervals) {
  CmBench b({.ca_guid = 1, .longest_interval_us = 400'000, .request_tries = 5});
  const uint64_t begun_us = b.now_us;
  const CmId id = b.cm().Connect(b.Parameters(), b.now_us);
  std::vector<Sent> all = b.TakeSent();
  std::vector<uint64_t> at_us = {0};
  while (b.cm().state(id) == CmState::kRequestSent) {
    b.Wait();
    for (Sent& sent : b.TakeSent()) {
      at_us.push_back(b.now_us - begun_us);
      all.push_back(std::move(sent));
    }
  }
  const std::vector<uint64_t> expected = {0, 100'000, 300'000, 700'000, 1'100'000, 1'500'000};
  EXPECT_EQ(at_us, expected);
  ASSERT_EQ(all.size(), 6u);
  for (size_t k = 1; k < 5; ++k) EXPECT_EQ(all[k].octets, all[0].octets);
  // The last one is for a peer that hears, and is not heard.
  rdmacm::Mad last;
  ASSERT_EQ(rdmacm::ParseMad(all[5].octets, &last), rdmacm::MadParse::kOk);
  const auto& rej = std::get<CmRej>(last.message);
  EXPECT_EQ(rej.reason, rdmacm::RejectReason::kTimeout);
  ASSERT_EQ(rej.info.size(), 8u);
  EXPECT_EQ(LoadBe64(rej.info.data()), 1u);
  const auto failed = b.TakeOnly<CmFailed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->reason, RejectReason::kUnreachable);
  EXPECT_EQ(failed->why, "10.0.0.2 did not answer 5 requests");
}

TEST(CmConnectTest, TheConsumersTimeLimitIsKeptToTheMicrosecond) {
  CmBench b;
  CmConnect p = b.Parameters();
  p.timeout_us = 250'001;
  b.Connect(p);
  b.Later(250'000);
  EXPECT_EQ(b.TakeAll(), "REQ |");
  b.Later(1);
  EXPECT_EQ(b.TakeSent().size(), 1u);
  const auto failed = b.TakeOnly<CmFailed>();
  ASSERT_TRUE(failed.has_value());
  EXPECT_EQ(failed->reason, RejectReason::kTimedOut);
  EXPECT_EQ(failed->why, "10.0.0.2 did not answer within 250 ms (2 requests)");
}

TEST(CmConnectTest, AReplyAfterTheTimeLimitHearsNo) {
  CmBench b;
  CmConnect p = b.Parameters();
  p.timeout_us = 1000;
  b.Connect(p);
  b.Later(1000);
  b.TakeAll();
  b.Receive(b.Rep());
  EXPECT_EQ(b.TakeAll(), "REJ:4 |");
  b.Later(20'000'000);
  EXPECT_EQ(b.TakeAll(), "| over");
  b.Receive(b.Rep());
  EXPECT_EQ(b.TakeAll(), "REJ:6 |");
  EXPECT_EQ(b.cm().size(), 0u);
}

TEST(CmConnectTest, AnMraBuysTimeWithoutRequests) {
  CmBench b;
  b.Connect();
  b.Receive(b.Mra(Answered::kReq, 18));  // 1.07 s
  b.Later(1'073'000);
  EXPECT_EQ(b.TakeAll(), "|");
  b.Later(200'000);
  EXPECT_EQ(b.TakeAll(), "REQ |") << "and then it is asked again";
  EXPECT_EQ(b.state(), CmState::kRequestSent);
}

TEST(CmConnectTest, AnMraBuysABoundedTimeAndNotThatOfTheConsumer) {
  CmBench b;
  CmConnect p = b.Parameters();
  p.timeout_us = 90'000'000;
  b.Connect(p);
  b.Receive(b.Mra(Answered::kReq, 31));  // hours
  b.Later(70'000'000);
  EXPECT_EQ(b.TakeAll(), "|");
  b.Later(100'000);
  EXPECT_EQ(b.TakeAll(), "REQ |");
  b.Later(20'000'000);
  EXPECT_TRUE(b.TakeAll().ends_with("REJ:4 | failed:timed out"));
}

struct RefusalCase {
  rdmacm::RejectReason reason;
  std::vector<uint8_t> data;
  bool trailer;
  RejectReason expected;
  const char* why;
};

TEST(CmConnectTest, ARefusalMeansWhatItsReasonAndItsDataSay) {
  using Wire = rdmacm::RejectReason;
  const RefusalCase cases[] = {
      {Wire::kConsumer, {7, 7}, true, RejectReason::kPeer, "the consumer at 10.0.0.2"},
      {Wire::kConsumer, {}, true, RejectReason::kPeer, "the consumer at 10.0.0.2"},
      {Wire::kConsumer, {7}, false, RejectReason::kPeer, "the consumer at 10.0.0.2"},
      {Wire::kConsumer, {}, false, RejectReason::kNonPeer, "consumer reject (28)"},
      {Wire::kInvalidServiceId, {}, false, RejectReason::kNonPeer, "nobody listens"},
      {Wire::kNoResources, {}, true, RejectReason::kNonPeer, "no resources (3)"},
      {Wire::kTimeout, {}, false, RejectReason::kUnreachable, "did not hear"},
      {Wire::kInvalidMtu, {}, false, RejectReason::kNonPeer, "invalid path MTU (26)"},
      {static_cast<Wire>(999), {}, false, RejectReason::kNonPeer, "unknown (999)"},
  };
  for (const RefusalCase& c : cases) {
    CmBench b;
    b.Connect();
    const rdmacm::FieldWriter field(rdmacm::CmField::kReject, c.trailer, std::nullopt, c.data);
    CmRej rej = b.Rej(c.reason);
    rej.private_data = {field.data(), field.size()};
    b.Receive(rej);
    const std::vector<CmEvent> events = b.TakeEvents();
    ASSERT_EQ(events.size(), 2u);
    const auto& failed = std::get<CmFailed>(events[0]);
    EXPECT_EQ(failed.id, b.id);
    EXPECT_EQ(failed.reason, c.expected) << c.why;
    EXPECT_EQ(failed.by_softdat, c.trailer) << c.why;
    EXPECT_NE(failed.why.find(c.why), std::string::npos) << failed.why;
    if (c.expected != RejectReason::kPeer) {
      EXPECT_TRUE(failed.private_data.empty()) << c.why;
    } else if (c.trailer) {
      EXPECT_EQ(failed.private_data, c.data);
    }
    EXPECT_EQ(std::get<CmOver>(events[1]).qpn, testing::kOwnQpn);
  }
}

TEST(CmConnectTest, ARefusalByTheBackEndIsNotTheConsumers) {
  CmBench b;
  b.Connect();
  const auto field = rdmacm::FieldWriter::Refusal(true);
  CmRej rej = b.Rej(rdmacm::RejectReason::kConsumer);
  rej.private_data = {field.data(), field.size()};
  b.Receive(rej);
  EXPECT_EQ(b.TakeAll(), "| failed:non-peer over");
}

TEST(CmConnectTest, AStaleConnectionIsTriedOnceMoreWithOtherIds) {
  CmBench b;
  b.Connect();
  const uint32_t first = b.comm_id;
  b.Receive(b.Rej(rdmacm::RejectReason::kStaleConnection));
  EXPECT_EQ(b.TakeAll(), "|");
  b.Wait();
  const std::vector<Sent> sent = b.TakeSent();
  ASSERT_EQ(sent.size(), 1u);
  const auto& req = std::get<CmReq>(sent[0].message);
  EXPECT_NE(req.local_comm_id, first);
  EXPECT_EQ(req.local_qpn, testing::kOwnQpn);
  EXPECT_EQ(req.starting_psn, testing::kOwnPsn);
  // The first one has no meaning any more.
  b.Receive(b.Rej(rdmacm::RejectReason::kNoResources));
  EXPECT_EQ(b.state(), CmState::kRequestSent);
  b.comm_id = req.local_comm_id;
  b.Receive(b.Rej(rdmacm::RejectReason::kStaleConnection));
  EXPECT_EQ(b.TakeAll(), "| failed:non-peer over");
}

TEST(CmConnectTest, WhereNobodyListensYetItIsTriedForAWhile) {
  CmBench b;
  CmConnect p = b.Parameters();
  p.grace_us = 300'000;
  b.Connect(p);
  const uint64_t begun_us = b.now_us;
  int requests = 1;
  while (b.now_us < begun_us + 400'000 && b.state() != CmState::kNone) {
    b.Receive(b.Rej(rdmacm::RejectReason::kInvalidServiceId));
    if (b.state() == CmState::kNone) break;
    b.Wait();
    const std::vector<Sent> sent = b.TakeSent();
    ASSERT_EQ(sent.size(), 1u);
    b.comm_id = std::get<CmReq>(sent[0].message).local_comm_id;
    ++requests;
  }
  EXPECT_GE(b.now_us - begun_us, 300'000u);
  EXPECT_LE(b.now_us - begun_us, 330'000u);
  EXPECT_GE(requests, 10);
  EXPECT_LE(requests, 25);
  EXPECT_EQ(b.TakeAll(), "| failed:non-peer over");
}

TEST(CmConnectTest, WhatCannotBeSaidFailsAtOnce) {
  CmBench b;
  CmConnect p = b.Parameters();
  p.retry_count = 8;
  b.cm().Connect(p, b.now_us);
  EXPECT_EQ(b.TakeAll(), "| failed:non-peer over");
  p = b.Parameters();
  p.remote.ss_family = AF_UNIX;
  b.cm().Connect(p, b.now_us);
  EXPECT_EQ(b.TakeAll(), "| failed:unreachable over");
  const std::array<uint8_t, rdmacm::kReqPrivateSize + 1> data = {};
  p = b.Parameters();
  p.private_data = data;
  b.cm().Connect(p, b.now_us);
  EXPECT_EQ(b.TakeAll(), "| failed:non-peer over");
  EXPECT_EQ(b.cm().size(), 0u);
}

TEST(CmConnectTest, RepliesThatFitNothingAreAnsweredAtABoundedRate) {
  CmBench b;
  b.comm_id = 4711;
  for (int k = 0; k < 1000; ++k) b.Receive(b.Rep());
  EXPECT_EQ(b.TakeSent().size(), 100u);
  b.now_us += 1'000'000;
  b.Receive(b.Rep());
  EXPECT_EQ(b.TakeSent().size(), 1u);
}

TEST(CmConnectTest, AReplyWithTheQueuePairOfALiveConnectionEndsThatOne) {
  CmBench b;
  b.EstablishActively();
  const CmId first = b.id;
  CmConnect p = b.Parameters();
  p.qpn = testing::kOwnQpn + 1;
  b.Connect(p);
  rdmacm::CmRep rep = b.Rep();
  rep.local_comm_id = testing::kPeerCommId + 1;
  b.Receive(rep);
  EXPECT_EQ(b.TakeAll(), "DREQ | disconnected:stale reply");
  EXPECT_EQ(b.cm().state(first), CmState::kDisconnecting);
}

}  // namespace
}  // namespace softdat::softnet
