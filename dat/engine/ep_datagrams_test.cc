// SPDX-License-Identifier: BSD-3-Clause
// Endpoints for datagrams: what reaches the back end, and upcalls that cross calls (semantics
// 15.2).
#include <cstdarg>
#include <cstring>

#include "dat/engine/testing/engine_test.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine::testing {
namespace {

using transport::RejectReason;

// Counts the handles that are alive.
class Way : public transport::AddressHandle {
 public:
  explicit Way(int* alive) : alive_(alive) { ++*alive_; }
  ~Way() override { --*alive_; }

 private:
  int* const alive_;
};

class EpDatagramsTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    adapter().limits.datagrams = true;
    adapter().limits.max_datagram = 1024;
    std::memset(&attr_, 0, sizeof(attr_));
    attr_.service_type = static_cast<DAT_SERVICE_TYPE>(DAT_IB_SERVICE_TYPE_UD);
    attr_.max_recv_dtos = attr_.max_request_dtos = attr_.max_recv_iov = attr_.max_request_iov = 4;
    ep_ = MakeEp(&attr_);
    qp_ = &adapter().last_qp();
  }
  void TearDown() override {
    EXPECT_EQ(slots::EpFree(ep_), DAT_SUCCESS);
    EXPECT_EQ(alive_, 0) << "a way to a peer outlives its EP";
    EngineTest::TearDown();
  }

  transport::DatagramPeer Peer(uint32_t number) {
    transport::DatagramPeer peer;
    peer.handle = std::make_unique<Way>(&alive_);
    peer.number = number;
    peer.qkey = 0x1234;
    return peer;
  }
  static DAT_RETURN Extension(DAT_HANDLE handle, int op, ...) {
    va_list args;
    va_start(args, op);
    const DAT_RETURN ret = slots::HandleExtendedop(handle, op, args);
    va_end(args);
    return ret;
  }
  DAT_RETURN Send(DAT_EP_HANDLE ep, DAT_IB_ADDR_HANDLE to) {
    DAT_LMR_TRIPLET local{};
    return Extension(ep, DAT_IB_UD_SEND_OP, 1, &local, &to, cookie_, DAT_COMPLETION_DEFAULT_FLAG);
  }
  // The data of the only event, which must be this one.
  DAT_IB_EXTENSION_EVENT_DATA Told(int number) {
    const std::vector<DAT_EVENT> events = Take(connect_evd_);
    DAT_IB_EXTENSION_EVENT_DATA extension{};
    EXPECT_EQ(events.size(), 1u);
    if (events.size() != 1) return extension;
    EXPECT_EQ(static_cast<int>(events[0].event_number), number);
    std::memcpy(&extension, events[0].event_extension_data, sizeof(extension));
    return extension;
  }
  DAT_IB_EXTENSION_EVENT_DATA Meet(uint32_t number) {
    EXPECT_EQ(Connect(ep_), DAT_SUCCESS);
    qp_->attributes.datagram_sink->OnResolved(qp_->tokens.back(), Peer(number), {});
    return Told(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED);
  }

  DAT_EP_ATTR attr_;
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  FakeQueuePair* qp_ = nullptr;
  int alive_ = 0;  // ways
};

// covers: semantics 15.2
TEST_F(EpDatagramsTest, TheQueuePairIsForDatagrams) {
  EXPECT_EQ(qp_->attributes.service, transport::Service::kDatagram);
  EXPECT_EQ(qp_->attributes.sink, nullptr);
  EXPECT_NE(qp_->attributes.datagram_sink, nullptr);
  EXPECT_EQ(qp_->attributes.max_read_in, 0u);
}

// covers: semantics 15.2
TEST_F(EpDatagramsTest, OutcomesComeInAnyOrderAndOnce) {
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Connect(ep_), DAT_SUCCESS);
  ASSERT_EQ(qp_->tokens.size(), 3u);
  transport::DatagramSink& sink = *qp_->attributes.datagram_sink;
  sink.OnResolved(qp_->tokens[1], Peer(11), {});
  EXPECT_EQ(Told(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED).remote_ah.qpn, 11u);
  sink.OnUnresolved(qp_->tokens[0], RejectReason::kNonPeer, {}, "test");
  EXPECT_EQ(Told(DAT_IB_UD_CONNECTION_REJECT_EVENT).type, DAT_IB_UD_CONNECT_REJECT);
  sink.OnUnresolved(qp_->tokens[2], RejectReason::kUnreachable, {}, "test");
  EXPECT_EQ(Told(DAT_IB_UD_CONNECTION_ERROR_EVENT).type, DAT_IB_UD_CONNECT_ERROR);
  EXPECT_EQ(StateOf(ep_), DAT_EP_STATE_CONNECTED);
  // A back end must not report an outcome twice. If it does, nobody learns of it.
  sink.OnResolved(qp_->tokens[1], Peer(12), {});
  sink.OnUnresolved(qp_->tokens[1], RejectReason::kPeer, {}, "test");
  EXPECT_TRUE(Take(connect_evd_).empty());
  EXPECT_EQ(alive_, 1);
}

// covers: semantics 15.2
TEST_F(EpDatagramsTest, AResolveThatFailsAtOnceLeavesNothing) {
  qp_->next_status = Status(Code::kNoResources, "test");
  EXPECT_NE(Connect(ep_), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep_), DAT_EP_STATE_UNCONNECTED);
  EXPECT_TRUE(Take(connect_evd_).empty());
  // A failed call does not disturb an exchange that is under way either.
  ASSERT_EQ(Connect(ep_), DAT_SUCCESS);
  qp_->next_status = Status(Code::kNoResources, "test");
  EXPECT_NE(Connect(ep_), DAT_SUCCESS);
  EXPECT_EQ(StateOf(ep_), DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
}

// covers: semantics 15.2
TEST_F(EpDatagramsTest, APostNamesTheWayAndItsPeer) {
  const DAT_IB_EXTENSION_EVENT_DATA met = Meet(42);
  cookie_.as_64 = 9;
  ASSERT_EQ(Send(ep_, met.remote_ah), DAT_SUCCESS);
  const transport::SendRequest& sent = qp_->sends.back();
  EXPECT_EQ(sent.op, transport::Op::kSendDatagram);
  EXPECT_EQ(sent.cookie, 9u);
  EXPECT_NE(sent.datagram.to, nullptr);
  EXPECT_EQ(sent.datagram.number, 42u);
  EXPECT_EQ(sent.datagram.qkey, 0x1234u);
  // The number is taken from the structure, which the consumer may have changed.
  DAT_IB_ADDR_HANDLE other = met.remote_ah;
  other.qpn = 43;
  ASSERT_EQ(Send(ep_, other), DAT_SUCCESS);
  EXPECT_EQ(qp_->sends.back().datagram.number, 43u);
}

// covers: semantics 15.2
TEST_F(EpDatagramsTest, AHandleServesItsProtectionZone) {
  const DAT_IB_EXTENSION_EVENT_DATA met = Meet(42);
  const DAT_EP_HANDLE same = MakeEp(&attr_);
  EXPECT_EQ(Send(same, met.remote_ah), DAT_SUCCESS);
  DAT_PZ_HANDLE zone = DAT_HANDLE_NULL;
  ASSERT_EQ(slots::PzCreate(ia_, &zone), DAT_SUCCESS);
  DAT_EP_HANDLE other = DAT_HANDLE_NULL;
  ASSERT_EQ(slots::EpCreate(ia_, zone, recv_evd_, request_evd_, connect_evd_, &attr_, &other),
            DAT_SUCCESS);
  EXPECT_EQ(Send(other, met.remote_ah), Arg(4));
  EXPECT_EQ(slots::EpFree(other), DAT_SUCCESS);
  EXPECT_EQ(slots::PzFree(zone), DAT_SUCCESS);
  // Any EP for datagrams of the IA may free it.
  DAT_IB_ADDR_HANDLE handle = met.remote_ah;
  EXPECT_EQ(Extension(same, DAT_IB_UD_AH_FREE_OP, &handle), DAT_SUCCESS);
  EXPECT_EQ(alive_, 0);
  EXPECT_EQ(slots::EpFree(same), DAT_SUCCESS);
}

// covers: semantics 3.1, 15.2
TEST_F(EpDatagramsTest, AnAbruptCloseTakesEverything) {
  Meet(1);
  Meet(2);
  ASSERT_EQ(Connect(ep_), DAT_SUCCESS);  // one is under way
  EXPECT_EQ(alive_, 2);
  ASSERT_EQ(slots::IaClose(ia_, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
  EXPECT_EQ(alive_, 0);
  async_evd_ = DAT_HANDLE_NULL;
  EngineTest::SetUp();  // for TearDown
  adapter().limits.datagrams = true;
  ep_ = MakeEp(&attr_);
}

}  // namespace
}  // namespace softdat::engine::testing
