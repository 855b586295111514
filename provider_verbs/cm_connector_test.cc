// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/cm_connector.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>

#include "provider_verbs/testing/pair_fixture.h"
#include "wire/rdmacm/private_data.h"

namespace softdat::verbs {
namespace {

using nulldevice::AnswerNullConnect;
using nulldevice::NullAnswer;
using nulldevice::TakeNullCmCalls;
using nulldevice::TellNullConnection;
using transport::RejectReason;
using What = CmStep::What;

constexpr int kInvalidServiceId = 8, kConsumerDefined = 28;

// Collects the events of rdma_cm.
class Heard final : public CmSink {
 public:
  void OnCmEvent(const CmEvent& event) override { events.push_back(event); }
  std::vector<CmEvent> events;
};

class CmConnectorTest : public PairTest {
 protected:
  void SetUp() override { Start({}); }
  void Start(const nulldevice::NullDevice& null) {
    Open(null);
    cm_ = std::make_unique<CmConnector>(*device_);
  }
  void TearDown() override {
    cm_.reset();
    PairTest::TearDown();
  }
  static transport::ConnectParameters To(const char* address, uint64_t qualifier = 5000) {
    transport::ConnectParameters p;
    auto& in = reinterpret_cast<sockaddr_in&>(p.remote);
    in.sin_family = AF_INET;
    inet_pton(AF_INET, address, &in.sin_addr);
    p.conn_qual = qualifier;
    p.timeout = std::chrono::seconds(30);
    return p;
  }
  // The connector's step for the next event of the channel.
  CmStep Next(bool connecting = true) {
    device_->cm->Dispatch();
    if (heard_->events.empty()) {
      ADD_FAILURE() << "rdma_cm says nothing";
      return {};
    }
    event_ = heard_->events.front();
    heard_->events.erase(heard_->events.begin());
    EXPECT_TRUE(cm_->Owns(event_));
    return cm_->OnEvent(event_, connecting);
  }
  // Goes on until the request can be made.
  void Resolve(const transport::ConnectParameters& p) {
    cm_->Start(p);
    ASSERT_TRUE(cm_->Resolve(heard_).ok());
    ASSERT_EQ(Next().what, What::kNothing);
    ASSERT_EQ(Next().what, What::kRequest);
  }
  // The connector's step after the peer's answer to a request.
  CmStep Answered(const NullAnswer& answer) {
    AnswerNullConnect(answer);
    const CmStep step = cm_->Request(1, Attributes());
    return step.what == What::kNothing && !answer.silent ? Next() : step;
  }

  std::shared_ptr<Heard> heard_ = std::make_shared<Heard>();
  CmEvent event_;
  std::unique_ptr<CmConnector> cm_;
};

TEST_F(CmConnectorTest, WhatCanBeRefusedAtOnce) {
  EXPECT_TRUE(cm_->Check(To("127.0.0.1")).ok());
  transport::ConnectParameters p = To("127.0.0.1");
  p.remote.ss_family = AF_UNIX;
  EXPECT_EQ(cm_->Check(p).code(), Code::kAddressUnsupported);
  const std::vector<uint8_t> data(48, 1);
  p = To("127.0.0.1");
  p.private_data = data;
  EXPECT_TRUE(cm_->Check(p).ok());
  p.conn_qual = 65536;  // such a qualifier takes room in the same field
  EXPECT_EQ(cm_->Check(p).code(), Code::kInvalidArgument);
}

TEST_F(CmConnectorTest, NoHostHasTheAddress) {
  cm_->Start(To("224.0.0.1"));
  EXPECT_EQ(cm_->Resolve(heard_).code(), Code::kUnreachable);
}

TEST_F(CmConnectorTest, TheInterfaceHasNoSuchAddress) {
  device_->traits.netdev = "none0";
  cm_->Start(To("127.0.0.1"));
  EXPECT_EQ(cm_->Resolve(heard_).code(), Code::kUnreachable);
}

TEST_F(CmConnectorTest, InfinibandIsEstablishedByBothEnds) {
  transport::ConnectParameters p = To("127.0.0.1");
  const std::vector<uint8_t> mine = {1, 2, 3}, theirs = {4, 5};
  p.private_data = mine;
  Resolve(p);
  const rdmacm::FieldWriter reply(rdmacm::CmField::kReply, /*padded=*/true, std::nullopt, theirs);
  const CmStep step = Answered({.event = RDMA_CM_EVENT_CONNECT_RESPONSE,
                                .private_data = {reply.data(), reply.data() + reply.size()}});
  EXPECT_EQ(step.what, What::kEstablish);
  EXPECT_EQ(std::vector<uint8_t>(step.data.begin(), step.data.end()), theirs);
  EXPECT_TRUE(cm_->Establish().ok());
  const std::vector<uint8_t> sent = TakeNullCmCalls().private_data;
  const rdmacm::FieldView field = rdmacm::ReadField(rdmacm::CmField::kRequest, sent, false);
  EXPECT_EQ(std::vector<uint8_t>(field.data.begin(), field.data.end()), mine);
  EXPECT_EQ(cm_->addresses().remote_port, 5000u);
  EXPECT_FALSE(cm_->linked());
  cm_->OnEstablished();
  EXPECT_TRUE(cm_->linked());
}

TEST_F(CmConnectorTest, AnotherDevicesRouteIsNone) {
  cm_->Start(To("127.0.0.1"));
  ASSERT_TRUE(cm_->Resolve(heard_).ok());
  device_->traits.rdma_device = "other0";
  const CmStep step = Next();
  EXPECT_EQ(step.what, What::kFailed);
  EXPECT_EQ(step.reject, RejectReason::kUnreachable);
}

// The other program on this host may still be starting.
// covers: semantics 9.2
TEST_F(CmConnectorTest, NobodyListensHere) {
  Resolve(To("127.0.0.1"));
  const NullAnswer nobody{.event = RDMA_CM_EVENT_REJECTED, .status = kInvalidServiceId};
  EXPECT_EQ(Answered(nobody).what, What::kTryAgain);
  ASSERT_TRUE(cm_->Resolve(heard_).ok());
  ASSERT_EQ(Next().what, What::kNothing);
  ASSERT_EQ(Next().what, What::kRequest);
  EXPECT_EQ(Answered({.event = RDMA_CM_EVENT_ESTABLISHED}).what, What::kEstablished);
}

TEST_F(CmConnectorTest, NobodyListensElsewhere) {
  Resolve(To("192.0.2.1"));
  const CmStep step = Answered({.event = RDMA_CM_EVENT_REJECTED, .status = kInvalidServiceId});
  EXPECT_EQ(step.what, What::kFailed);
  EXPECT_EQ(step.reject, RejectReason::kNonPeer);
}

TEST_F(CmConnectorTest, NoTimeIsLeftForAnotherTry) {
  transport::ConnectParameters p = To("127.0.0.1");
  p.timeout = std::chrono::microseconds(0);
  Resolve(p);
  const CmStep step = Answered({.event = RDMA_CM_EVENT_REJECTED, .status = kInvalidServiceId});
  EXPECT_EQ(step.what, What::kFailed);
  EXPECT_EQ(step.reject, RejectReason::kNonPeer);
}

TEST_F(CmConnectorTest, TheConsumerRejects) {
  Resolve(To("127.0.0.1"));
  const std::vector<uint8_t> theirs = {9};
  const rdmacm::FieldWriter field(rdmacm::CmField::kReject, /*padded=*/true, std::nullopt, theirs);
  const CmStep step = Answered({.event = RDMA_CM_EVENT_REJECTED,
                                .status = kConsumerDefined,
                                .private_data = {field.data(), field.data() + field.size()}});
  EXPECT_EQ(step.what, What::kFailed);
  EXPECT_EQ(step.reject, RejectReason::kPeer);
  EXPECT_EQ(std::vector<uint8_t>(step.data.begin(), step.data.end()), theirs);
}

TEST_F(CmConnectorTest, TheNetworkRejects) {
  for (const rdma_cm_event_type type : {RDMA_CM_EVENT_ADDR_ERROR, RDMA_CM_EVENT_ROUTE_ERROR,
                                        RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_UNREACHABLE}) {
    Resolve(To("127.0.0.1"));
    const CmStep step = Answered({.event = type, .status = -ETIMEDOUT});
    EXPECT_EQ(step.what, What::kFailed) << type;
    EXPECT_EQ(step.reject, RejectReason::kUnreachable) << type;
  }
}

TEST_F(CmConnectorTest, AnEndIsAFailureWhileConnecting) {
  Resolve(To("127.0.0.1"));
  CmStep step = Answered({.event = RDMA_CM_EVENT_DISCONNECTED});
  EXPECT_EQ(step.what, What::kFailed);
  EXPECT_EQ(step.reject, RejectReason::kNonPeer);
  TellNullConnection({.event = RDMA_CM_EVENT_DISCONNECTED});
  step = Next(/*connecting=*/false);
  EXPECT_EQ(step.what, What::kOver);
  EXPECT_FALSE(step.broken);
}

TEST_F(CmConnectorTest, ADeviceThatGoesLeavesNobodyToTell) {
  Resolve(To("127.0.0.1"));
  cm_->OnEstablished();
  TakeNullCmCalls();
  TellNullConnection({.event = RDMA_CM_EVENT_DEVICE_REMOVAL});
  EXPECT_EQ(Next(/*connecting=*/false).what, What::kDeviceGone);
  cm_->Disconnect();
  EXPECT_EQ(TakeNullCmCalls().disconnects, 0);
}

TEST_F(CmConnectorTest, OnlyALinkedPeerIsToldOfTheEnd) {
  Resolve(To("127.0.0.1"));
  cm_->Disconnect();
  EXPECT_EQ(TakeNullCmCalls().disconnects, 0);
  cm_->OnEstablished();
  cm_->Disconnect();
  EXPECT_EQ(TakeNullCmCalls().disconnects, 1);
}

// An event may be on its way while its id is destroyed. It must not be taken for one of the next
// id.
TEST_F(CmConnectorTest, AnEarlierAttemptsEventsAreNotOwned) {
  Resolve(To("127.0.0.1"));
  TellNullConnection({.event = RDMA_CM_EVENT_REJECTED});
  device_->cm->Dispatch();
  ASSERT_EQ(heard_->events.size(), 1u);
  EXPECT_TRUE(cm_->Owns(heard_->events[0]));
  ASSERT_TRUE(cm_->Resolve(heard_).ok());
  EXPECT_FALSE(cm_->Owns(heard_->events[0]));
  cm_->Drop();
  EXPECT_FALSE(cm_->Owns(heard_->events[0]));
}

TEST_F(CmConnectorTest, ThePassiveSideStaysWithinWhatWasAsked) {
  transport::QueuePairAttributes attributes = Attributes();
  attributes.max_read_in = 10;
  attributes.max_read_out = 2;
  AcceptParameters p;
  p.id = CmId::Create(*device_->cm).Take();
  p.responder_resources = 4;
  p.initiator_depth = 8;
  cm_->Adopt(p);
  EXPECT_EQ(cm_->DepthsFor(attributes).in, 4);
  EXPECT_EQ(cm_->DepthsFor(attributes).out, 2);
  EXPECT_FALSE(cm_->linked());
  EXPECT_TRUE(cm_->Accept(1, attributes, {}).ok());
  EXPECT_TRUE(cm_->linked());
  EXPECT_EQ(cm_->EndedEarly(), RejectReason::kAborted);
  EXPECT_EQ(TakeNullCmCalls().accepts, 1);
}

TEST_F(CmConnectorTest, TheActiveSideAsksForWhatFits) {
  transport::QueuePairAttributes attributes = Attributes();
  attributes.max_read_in = 1000;
  cm_->Start(To("127.0.0.1"));
  EXPECT_EQ(cm_->DepthsFor(attributes).in, 255);
  EXPECT_EQ(cm_->DepthsFor(attributes).out, 4);
  EXPECT_EQ(cm_->EndedEarly(), RejectReason::kNonPeer);
}

class IwarpConnectorTest : public CmConnectorTest {
 protected:
  void SetUp() override { Start({.iwarp = true}); }
};

TEST_F(IwarpConnectorTest, TheCallItselfMayFindNobody) {
  Resolve(To("127.0.0.1"));
  EXPECT_EQ(Answered({.error = ECONNREFUSED}).what, What::kTryAgain);
}

// rdma_cm has drawn the port of a TCP connection that it does not know.
TEST_F(IwarpConnectorTest, ATakenPortIsDrawnAgain) {
  for (const int taken : {EADDRINUSE, EADDRNOTAVAIL}) {
    Resolve(To("192.0.2.1"));
    EXPECT_EQ(Answered({.error = taken}).what, What::kTryAgain) << taken;
    ASSERT_TRUE(cm_->Resolve(heard_).ok());
    ASSERT_EQ(Next().what, What::kNothing);
    ASSERT_EQ(Next().what, What::kRequest);
    EXPECT_EQ(Answered({.event = RDMA_CM_EVENT_ESTABLISHED}).what, What::kEstablished) << taken;
  }
}

TEST_F(IwarpConnectorTest, NotForEver) {
  Resolve(To("192.0.2.1"));
  int tries = 1;
  CmStep step = Answered({.error = EADDRINUSE});
  for (; step.what == What::kTryAgain && tries < 1000; ++tries) {
    ASSERT_TRUE(cm_->Resolve(heard_).ok());
    ASSERT_EQ(Next().what, What::kNothing);
    ASSERT_EQ(Next().what, What::kRequest);
    step = Answered({.error = EADDRINUSE});
  }
  EXPECT_EQ(step.what, What::kFailed);
  EXPECT_EQ(step.reject, RejectReason::kUnreachable);
  EXPECT_NE(step.why.find("Address already in use"), std::string::npos) << step.why;
  EXPECT_EQ(tries, 16);
}

TEST_F(IwarpConnectorTest, TheCallItselfMayFail) {
  Resolve(To("127.0.0.1"));
  const CmStep step = Answered({.error = ENETUNREACH});
  EXPECT_EQ(step.what, What::kFailed);
  EXPECT_EQ(step.reject, RejectReason::kUnreachable);
}

TEST_F(IwarpConnectorTest, AnEndWithAStatusIsABreak) {
  Resolve(To("127.0.0.1"));
  TellNullConnection({.event = RDMA_CM_EVENT_DISCONNECTED, .status = -ECONNRESET});
  const CmStep step = Next(/*connecting=*/false);
  EXPECT_EQ(step.what, What::kOver);
  EXPECT_TRUE(step.broken);
}

// The kernel would block the thread that destroys the id until the peer has answered.
TEST_F(IwarpConnectorTest, AnUnansweredRequestIsGivenUpLater) {
  Resolve(To("127.0.0.1"));
  EXPECT_EQ(Answered({.silent = true}).what, What::kNothing);
  cm_->GiveUp(/*may_wait=*/true);
  EXPECT_NE(cm_->TakeGivenUp(), nullptr);
  EXPECT_EQ(cm_->TakeGivenUp(), nullptr);
}

TEST_F(IwarpConnectorTest, AnAnsweredOneGoesAtOnce) {
  Resolve(To("127.0.0.1"));
  EXPECT_EQ(Answered({.event = RDMA_CM_EVENT_REJECTED, .status = -ECONNRESET}).what, What::kFailed);
  cm_->GiveUp(/*may_wait=*/true);
  EXPECT_EQ(cm_->TakeGivenUp(), nullptr);
}

}  // namespace
}  // namespace softdat::verbs
