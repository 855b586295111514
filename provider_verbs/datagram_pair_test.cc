// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs for datagrams over a device that does as it is told: meeting from either side, posts,
// arrivals, and what a failure leaves.
#include "provider_verbs/datagram_pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "provider_verbs/address_way.h"
#include "provider_verbs/datagram_peer.h"
#include "provider_verbs/listener.h"
#include "provider_verbs/testing/pair_fixture.h"
#include "wire/rdmacm/datagram_identity.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {
namespace {

using nulldevice::AnswerNullConnect;
using nulldevice::ArriveNullDatagram;
using nulldevice::ArriveNullDatagramImmediate;
using nulldevice::ArriveNullRequest;
using nulldevice::CompleteNullSends;
using nulldevice::LastNullWay;
using nulldevice::NullCmCalls;
using nulldevice::NullPost;
using nulldevice::NullReceives;
using nulldevice::NullWays;
using nulldevice::TakeNullCmCalls;
using nulldevice::TakeNullPosts;
using rdmacm::CmField;
using rdmacm::FieldWriter;
using transport::Completion;
using transport::Op;
using transport::RejectReason;
using transport::WorkStatus;

constexpr uint32_t kPeerQpn = 0x77, kPeerQkey = 0x55;
constexpr uint32_t kLongest = 1024;
constexpr int kNobodyListens = 1, kConsumerRejected = 2;  // of a SIDR_REP

std::vector<uint8_t> Bytes(const std::string& text) { return {text.begin(), text.end()}; }
std::vector<uint8_t> Field(CmField kind, const std::string& text) {
  const std::vector<uint8_t> data = Bytes(text);
  const FieldWriter field(kind, /*padded=*/true, std::nullopt, data);
  return {field.data(), field.data() + field.size()};
}

class Told final : public transport::DatagramSink {
 public:
  struct Outcome {
    uint64_t token;
    std::optional<transport::DatagramPeer> peer;
    std::optional<RejectReason> reject;
    std::vector<uint8_t> data;
  };
  void OnResolved(uint64_t token, transport::DatagramPeer peer,
                  std::span<const uint8_t> data) override {
    outcomes.push_back({token, std::move(peer), std::nullopt, {data.begin(), data.end()}});
  }
  void OnUnresolved(uint64_t token, RejectReason reason, std::span<const uint8_t> data,
                    const std::string&) override {
    outcomes.push_back({token, std::nullopt, reason, {data.begin(), data.end()}});
  }
  std::vector<Outcome> outcomes;
};

class DatagramPairTest : public PairTest {
 protected:
  void SetUp() override {
    Open({}, [](DeviceTraits* traits) {
      traits->datagrams = true;
      traits->gids = 2;
    });
    device_->attributes.max_datagram = kLongest;
    pair_ = Make(Attributes());
  }
  void TearDown() override {
    told_.outcomes.clear();
    way_.reset();
    pair_.reset();
    EXPECT_EQ(NullWays(), 0u);
    PairTest::TearDown();
  }
  std::unique_ptr<DatagramPair> Make(transport::QueuePairAttributes attributes) {
    attributes.service = transport::Service::kDatagram;
    attributes.datagram_sink = &told_;
    return std::make_unique<DatagramPair>(DatagramCore::Create(*device_, attributes).Take());
  }
  static sockaddr_storage Address(const char* text) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    inet_pton(AF_INET, text, &in.sin_addr);
    sockaddr_storage address{};
    std::memcpy(&address, &in, sizeof in);
    return address;
  }
  Status Ask(uint64_t token, const char* address = "192.0.2.1",
             std::chrono::microseconds timeout = std::chrono::seconds(60)) {
    const std::vector<uint8_t> data = Bytes("question");
    transport::ConnectParameters p;
    p.remote = Address(address);
    p.conn_qual = 5000;
    p.timeout = timeout;
    p.private_data = data;
    return pair_->Resolve(p, token);
  }
  // The outcome of the only question.
  Told::Outcome Answered(const nulldevice::NullAnswer& answer) {
    AnswerNullConnect(answer);
    EXPECT_TRUE(Ask(9).ok());
    if (!Until([this] { return !told_.outcomes.empty(); })) return {};
    EXPECT_EQ(told_.outcomes.size(), 1u);
    Told::Outcome outcome = std::move(told_.outcomes.front());
    told_.outcomes.clear();
    EXPECT_EQ(outcome.token, 9u);
    return outcome;
  }
  void MakeWay() {
    auto peer = MakeDatagramPeer(static_cast<ProtectionDomain&>(*pd_), ibv_ah_attr{}, kPeerQpn,
                                 kPeerQkey, Address("192.0.2.1"));
    way_ = std::move(peer.value().handle);
  }
  Code Send(uint64_t length, uint64_t cookie, uint8_t flags = 0) {
    if (way_ == nullptr) MakeWay();
    const DAT_LMR_TRIPLET segment = Segment(0, length);
    transport::SendRequest request;
    request.op = Op::kSendDatagram;
    request.cookie = cookie;
    request.flags = flags;
    request.local = {&segment, 1};
    request.datagram = {.to = way_.get(), .number = kPeerQpn, .qkey = kPeerQkey};
    return pair_->PostSend(request);
  }
  Code Receive(uint64_t cookie) {
    const DAT_LMR_TRIPLET segment = Segment(0, 100);
    return pair_->PostReceive({.cookie = cookie, .local = {&segment, 1}});
  }

  Told told_;
  std::unique_ptr<transport::AddressHandle> way_;
  std::unique_ptr<DatagramPair> pair_;
};

TEST_F(DatagramPairTest, AQuestionSaysWhoAsks) {
  Told::Outcome outcome = Answered(
      {.private_data = Field(CmField::kSidrReply, "answer"), .qpn = kPeerQpn, .qkey = kPeerQkey});
  ASSERT_TRUE(outcome.peer.has_value());
  EXPECT_EQ(outcome.peer->number, kPeerQpn);
  EXPECT_EQ(outcome.peer->qkey, kPeerQkey);
  EXPECT_EQ(outcome.data, Bytes("answer"));
  EXPECT_EQ(NullWays(), 1u);
  const NullCmCalls calls = TakeNullCmCalls();
  EXPECT_EQ(calls.connects, 1);
  EXPECT_EQ(calls.private_data.size(), 180u);
  const rdmacm::FieldView field =
      rdmacm::ReadField(CmField::kSidrRequest, calls.private_data, /*iwarp=*/false);
  EXPECT_TRUE(field.trailer);
  EXPECT_TRUE(std::ranges::equal(field.data, Bytes("question")));
  rdmacm::DatagramIdentity asker;
  ASSERT_TRUE(rdmacm::FindDatagramIdentity(calls.private_data, &asker));
  EXPECT_EQ(asker.qpn, calls.qpn);
  EXPECT_EQ(asker.qkey, kDatagramQkey);
}

TEST_F(DatagramPairTest, RefusalsSayWhose) {
  const auto refused = [this](int status, std::vector<uint8_t> data) {
    return Answered(
        {.event = RDMA_CM_EVENT_UNREACHABLE, .status = status, .private_data = std::move(data)});
  };
  Told::Outcome outcome = refused(kConsumerRejected, Field(CmField::kSidrReject, "no"));
  EXPECT_EQ(outcome.reject, RejectReason::kPeer);
  EXPECT_EQ(outcome.data, Bytes("no"));
  const FieldWriter own = FieldWriter::Refusal(true, CmField::kSidrReject);
  outcome = refused(kConsumerRejected, {own.data(), own.data() + own.size()});
  EXPECT_EQ(outcome.reject, RejectReason::kNonPeer);
  EXPECT_EQ(refused(kConsumerRejected, std::vector<uint8_t>(136)).reject, RejectReason::kNonPeer);
  EXPECT_EQ(refused(kNobodyListens, {}).reject, RejectReason::kNonPeer);
  EXPECT_EQ(refused(-ETIMEDOUT, {}).reject, RejectReason::kUnreachable);
}

TEST_F(DatagramPairTest, NobodyOnThisHostIsAskedAgain) {
  AnswerNullConnect({.event = RDMA_CM_EVENT_UNREACHABLE, .status = kNobodyListens});
  AnswerNullConnect({.qpn = kPeerQpn});
  ASSERT_TRUE(Ask(1, "127.0.0.1").ok());
  ASSERT_TRUE(Until([this] { return !told_.outcomes.empty(); }));
  ASSERT_TRUE(told_.outcomes[0].peer.has_value());
  EXPECT_EQ(TakeNullCmCalls().connects, 2);
}

TEST_F(DatagramPairTest, WithoutAnAnswerTheTimeCounts) {
  AnswerNullConnect({.silent = true});
  ASSERT_TRUE(Ask(1, "192.0.2.1", std::chrono::milliseconds(20)).ok());
  ASSERT_TRUE(Until([this] { return !told_.outcomes.empty(); }));
  EXPECT_EQ(told_.outcomes[0].reject, RejectReason::kTimedOut);
}

TEST_F(DatagramPairTest, APairThatIsGoneIsToldNothing) {
  AnswerNullConnect({.qpn = kPeerQpn});
  AnswerNullConnect({.silent = true});
  ASSERT_TRUE(Ask(1).ok());
  ASSERT_TRUE(Ask(2).ok());
  pair_.reset();
  for (int i = 0; i < 10; ++i) Turn();
  EXPECT_TRUE(told_.outcomes.empty());
}

TEST_F(DatagramPairTest, OnceItHasMetItIsNotConfigured) {
  transport::QueuePairAttributes attributes = Attributes();
  attributes.service = transport::Service::kDatagram;
  attributes.datagram_sink = &told_;
  attributes.pd = nullptr;
  ASSERT_EQ(Receive(5), Code::kOk);
  ASSERT_TRUE(pair_->Configure(attributes).ok());
  EXPECT_EQ(Ask(1).code(), Code::kInvalidState);
  EXPECT_EQ(Send(4, 1), Code::kInvalidState);
  attributes.pd = pd_.get();
  ASSERT_TRUE(pair_->Configure(attributes).ok());
  EXPECT_EQ(NullReceives(), 1u);  // it has survived
  EXPECT_EQ(Send(4, 1), Code::kOk);
  ASSERT_TRUE(Ask(1).ok());
  EXPECT_EQ(pair_->Configure(attributes).code(), Code::kInvalidState);
}

TEST_F(DatagramPairTest, APostSaysWhereItGoes) {
  ASSERT_EQ(Send(12, 1), Code::kOk);
  ASSERT_EQ(Send(13, 2, transport::kSuppress | transport::kSolicited), Code::kOk);
  ASSERT_EQ(Send(14, 3), Code::kOk);
  const std::vector<NullPost> posts = TakeNullPosts();
  ASSERT_EQ(posts.size(), 3u);
  for (const NullPost& post : posts) {
    EXPECT_EQ(post.opcode, IBV_WR_SEND);
    EXPECT_EQ(post.way, static_cast<AddressWay&>(*way_).ah().get());
    EXPECT_EQ(post.remote_qpn, kPeerQpn);
    EXPECT_EQ(post.remote_qkey, kPeerQkey);
    EXPECT_NE(post.send_flags & IBV_SEND_SIGNALED, 0u);  // no marker could follow
  }
  EXPECT_NE(posts[1].send_flags & IBV_SEND_SOLICITED, 0u);
  EXPECT_EQ(pair_->OutstandingSends(), 3u);
  CompleteNullSends(3);
  const std::vector<Completion> done = Poll(*send_cq_);
  EXPECT_EQ(CookiesOf(done), (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(done[0].op, Op::kSendDatagram);
  EXPECT_EQ(done[0].length, 12u);
  EXPECT_EQ(pair_->OutstandingSends(), 0u);
}

TEST_F(DatagramPairTest, WhatIsRefusedAtThePost) {
  EXPECT_EQ(Send(kLongest, 1), Code::kOk);
  EXPECT_EQ(Send(kLongest + 1, 1), Code::kLength);
  const DAT_LMR_TRIPLET segment = Segment(0, 4);
  transport::SendRequest request;
  request.local = {&segment, 1};
  for (const Op op : {Op::kSend, Op::kRdmaWrite, Op::kRdmaRead, Op::kFetchAdd}) {
    request.op = op;
    EXPECT_EQ(pair_->PostSend(request), Code::kInvalidArgument);
  }
  for (int i = 0; i < 7; ++i) EXPECT_EQ(Send(4, 2), Code::kOk);
  EXPECT_EQ(Send(4, 2), Code::kQueueFull);
}

TEST_F(DatagramPairTest, ADatagramKeepsItsWay) {
  ASSERT_EQ(Send(4, 1), Code::kOk);
  way_.reset();
  EXPECT_EQ(NullWays(), 1u);
  CompleteNullSends(1);
  EXPECT_EQ(Poll(*send_cq_).size(), 1u);
  pair_.reset();
  EXPECT_EQ(NullWays(), 0u);
}

TEST_F(DatagramPairTest, WhatArrivesSaysWhoseItIs) {
  ASSERT_EQ(Receive(1), Code::kOk);
  ASSERT_EQ(Receive(2), Code::kOk);
  ArriveNullDatagram(44, kPeerQpn);
  ArriveNullDatagramImmediate(45, 0x11223344);
  const std::vector<Completion> got = Poll(*recv_cq_);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].op, Op::kReceiveDatagram);
  EXPECT_EQ(got[0].length, 44u);
  EXPECT_EQ(got[0].key, kPeerQpn);
  EXPECT_EQ(got[0].cookie, 1u);
  EXPECT_EQ(got[1].op, Op::kReceiveDatagramImmediate);
  EXPECT_EQ(got[1].key, 0x11223344u);
}

TEST_F(DatagramPairTest, AFailedSendEndsNothing) {
  ASSERT_EQ(Send(4, 1), Code::kOk);
  CompleteNullSends(1, IBV_WC_LOC_PROT_ERR);
  const std::vector<Completion> failed = Poll(*send_cq_);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_EQ(failed[0].status, WorkStatus::kLocalProtection);
  Turn();
  ASSERT_EQ(Send(4, 2), Code::kOk);
  CompleteNullSends(1);
  EXPECT_EQ(CookiesOf(Poll(*send_cq_)), (std::vector<uint64_t>{2}));
}

// -------------------------------------------------------------------------------------------------
// The passive side

class DatagramRequestTest : public DatagramPairTest, private transport::ListenerSink {
 protected:
  void SetUp() override {
    DatagramPairTest::SetUp();
    const sockaddr_storage own = Address("127.0.0.1");
    transport::ListenParameters p;
    p.address = &own;
    p.conn_qual = 5000;
    p.sink = this;
    listener_ = Listener::Create(*device_, p).Take();
  }
  void TearDown() override {
    request_.reset();
    listener_.reset();
    DatagramPairTest::TearDown();
  }
  void Arrive(bool identity) {
    std::vector<uint8_t> data = Field(CmField::kSidrRequest, "question");
    data.resize(180);
    if (identity) {
      rdmacm::StoreDatagramIdentity({kPeerQpn, kPeerQkey},
                                    std::span(data).last<rdmacm::kDatagramIdentitySize>());
    }
    ArriveNullRequest(data);
    ASSERT_TRUE(Until([this] { return request_ != nullptr; }));
    EXPECT_EQ(request_->service(), transport::Service::kDatagram);
    EXPECT_TRUE(std::ranges::equal(request_->private_data(), Bytes("question")));
    TakeNullCmCalls();
  }
  void OnRequest(std::unique_ptr<transport::ConnectionRequest>& request) override {
    request_ = std::move(request);
  }

  std::unique_ptr<transport::Listener> listener_;
  std::unique_ptr<transport::ConnectionRequest> request_;
};

TEST_F(DatagramRequestTest, AnAcceptTellsTheOneWhoAsked) {
  Arrive(/*identity=*/true);
  auto peer = request_->AcceptDatagrams(*pair_, Bytes("answer"));
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(peer.value().number, kPeerQpn);
  EXPECT_EQ(peer.value().qkey, kPeerQkey);
  const ibv_ah_attr way = LastNullWay();
  EXPECT_EQ(way.is_global, 1);
  EXPECT_EQ(way.grh.sgid_index, 1);  // the one of RoCEv2
  EXPECT_EQ(way.grh.dgid.raw[10], 0xff);
  EXPECT_EQ(way.grh.dgid.raw[12], 127);
  const NullCmCalls calls = TakeNullCmCalls();
  EXPECT_EQ(calls.accepts, 1);
  EXPECT_NE(calls.qpn, 0u);
  EXPECT_TRUE(std::ranges::equal(
      rdmacm::ReadField(CmField::kSidrReply, calls.private_data, /*iwarp=*/false).data,
      Bytes("answer")));
  EXPECT_EQ(request_->AcceptDatagrams(*pair_, {}).status().code(), Code::kInvalidState);
}

TEST_F(DatagramRequestTest, APeerThatKnowsOnlyRdmaCmHasNoNumber) {
  Arrive(/*identity=*/false);
  auto peer = request_->AcceptDatagrams(*pair_, {});
  ASSERT_TRUE(peer.ok());
  EXPECT_EQ(peer.value().number, 0u);
  EXPECT_EQ(peer.value().qkey, kDatagramQkey);
}

TEST_F(DatagramRequestTest, ARejectCarriesItsData) {
  Arrive(true);
  ASSERT_TRUE(request_->Reject(Bytes("no")).ok());
  const NullCmCalls calls = TakeNullCmCalls();
  EXPECT_EQ(calls.rejects, 1);
  const rdmacm::FieldView field =
      rdmacm::ReadField(CmField::kSidrReject, calls.private_data, /*iwarp=*/false);
  EXPECT_TRUE(std::ranges::equal(field.data, Bytes("no")));
  EXPECT_FALSE(field.refusal);
}

TEST_F(DatagramRequestTest, OneThatNobodyTakesIsRefused) {
  Arrive(true);
  request_.reset();
  const NullCmCalls calls = TakeNullCmCalls();
  EXPECT_EQ(calls.rejects, 1);
  EXPECT_TRUE(rdmacm::ReadField(CmField::kSidrReject, calls.private_data, /*iwarp=*/false).refusal);
}

TEST_F(DatagramRequestTest, ItTakesNoConnection) {
  Arrive(true);
  EXPECT_EQ(request_->Accept(*pair_, {}).code(), Code::kInvalidState);
}

}  // namespace
}  // namespace softdat::verbs
