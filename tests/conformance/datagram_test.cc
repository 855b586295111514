// SPDX-License-Identifier: BSD-3-Clause
// Datagrams that arrive, and datagrams that are lost (semantics 15.2).
#include <array>

#include "dat2/softdat.h"
#include "tests/conformance/datagram_fixture.h"

namespace softdat::conformance {
namespace {

class DatagramTest : public DatagramFixture {
 protected:
  void SetUp() override {
    DatagramFixture::SetUp();
    source_ = a_->MakeBuffer(256);
    source_->FillPattern(5);
    target_ = b_->MakeBuffer(8 * kSlot);
  }
  void TearDown() override {
    source_.reset();
    target_.reset();
    DatagramFixture::TearDown();
  }
  static constexpr size_t kSlot = 128;
  DAT_LMR_TRIPLET Slot(size_t i) { return target_->local(i * kSlot, kSlot); }
  const uint8_t* Payload(size_t i) { return target_->data() + i * kSlot + kHeader; }

  std::unique_ptr<Buffer> source_, target_;
};
CONFORMANCE_ALL_VARIANTS(DatagramTest);

// covers: semantics 15.2
TEST_P(DatagramTest, ADatagramComesBehindItsHeader) {
  const Both met = Meet();
  ASSERT_OK(PostRecv(b_ud_, {Slot(0)}, 3));
  ASSERT_OK(SendUd(a_ud_, source_->local(0, 16), met.active.to, 7));
  EXPECT_EQ(ExpectReceived(*b_, b_ud_, 3).transfered_length, 56u);
  EXPECT_EQ(std::memcmp(Payload(0), source_->data(), 16), 0);
  EXPECT_EQ(ExpectUd(*a_, a_->request_evd, a_ud_, 7, DAT_IB_UD_SEND).transfered_length, 16u);
}

// covers: semantics 15.2
TEST_P(DatagramTest, TheAcceptorAnswersAndIsNamed) {
  const Both met = Meet();
  const auto answer = b_->MakeBuffer(8, 0x41), room = a_->MakeBuffer(64);
  ASSERT_OK(PostRecv(a_ud_, {room->local()}, 4));
  ASSERT_OK(SendUd(b_ud_, answer->local(), met.passive.to, 1, DAT_COMPLETION_SUPPRESS_FLAG));
  const DAT_EVENT event = a_->Expect(a_->recv_evd, static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT));
  EXPECT_EQ(event.event_data.dto_completion_event_data.transfered_length, 48u);
  EXPECT_EQ(ExtensionOf(event).remote_ah.qpn, met.active.to.qpn);
  EXPECT_EQ(room->data()[kHeader], 0x41);
}

// covers: semantics 10.2, 15.2
TEST_P(DatagramTest, TheyComeInOrderAndSuppressedOnesSucceedInSilence) {
  const Both met = Meet();
  for (uint64_t i = 0; i < 8; ++i) ASSERT_OK(PostRecv(b_ud_, {Slot(i)}, 10 + i));
  for (uint64_t i = 0; i < 8; ++i) {
    ASSERT_OK(SendUd(a_ud_, source_->local(i, 1), met.active.to, i,
                     i < 7 ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG));
  }
  for (uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(ExpectReceived(*b_, b_ud_, 10 + i).transfered_length, 41u);
    EXPECT_EQ(*Payload(i), source_->data()[i]);
  }
  ExpectUd(*a_, a_->request_evd, a_ud_, 7, DAT_IB_UD_SEND);  // the first one to be reported
}

// covers: semantics 15.2
TEST_P(DatagramTest, WhatFindsNoReceiveIsLost) {
  const Both met = Meet();
  ASSERT_OK(SendUd(a_ud_, source_->local(0, 16), met.active.to, 1));
  ExpectUd(*a_, a_->request_evd, a_ud_, 1, DAT_IB_UD_SEND);
  ASSERT_OK(PostRecv(b_ud_, {target_->local(0, kHeader + 4)}, 2));
  ASSERT_OK(SendUd(a_ud_, source_->local(0, 16), met.active.to, 3));  // too long for the receive
  ExpectUd(*a_, a_->request_evd, a_ud_, 3, DAT_IB_UD_SEND);
  ASSERT_OK(SendUd(a_ud_, source_->local(0, 4), met.active.to, 4));
  EXPECT_EQ(ExpectReceived(*b_, b_ud_, 2).transfered_length, kHeader + 4u);
  EXPECT_EQ(StateOf(b_ud_), DAT_EP_STATE_CONNECTED);
}

// covers: semantics 15.2
TEST_P(DatagramTest, PostsThatAreRefused) {
  const DAT_RETURN bad_ep = BadHandle(DAT_INVALID_HANDLE_EP);
  // Before the EP has met anybody, and afterwards.
  for (int i = 0; i < 2; ++i) {
    EXPECT_RETURN(PostSend(a_ud_, {source_->local()}, 1), bad_ep);
    EXPECT_RETURN(PostWrite(a_ud_, {source_->local()}, target_->remote(), 1), bad_ep);
    EXPECT_RETURN(PostRead(a_ud_, {source_->local()}, target_->remote(0, 256), 1), bad_ep);
    if (i == 0) Meet();
  }
  DAT_IB_ADDR_HANDLE to = Meet().active.to;
  EXPECT_RETURN(SendUd(a_->ep, source_->local(), to, 1), bad_ep);
  DAT_LMR_TRIPLET iov = source_->local();
  DAT_IB_ADDR_HANDLE* const none = nullptr;
  EXPECT_RETURN(dat_ib_post_send_ud(a_ud_, 1, &iov, none, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                BadArgument(4));
  EXPECT_RETURN(dat_ib_post_send_ud(a_ud_, 5, &iov, &to, Cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
                BadArgument(2));
  to.qpn = 0;
  EXPECT_RETURN(SendUd(a_ud_, iov, to, 1), BadArgument(4));
  to.ah = reinterpret_cast<ibv_ah*>(this);
  EXPECT_RETURN(SendUd(a_ud_, iov, to, 1), BadArgument(4));
  EXPECT_TRUE(Side::Drain(a_->request_evd).empty());
}

// covers: semantics 15.2
TEST_P(DatagramTest, ALongerOneThanTheMtuIsRefused) {
  const Both met = Meet();
  const auto large = a_->MakeBuffer(65'536);
  EXPECT_RETURN(SendUd(a_ud_, large->local(), met.active.to, 1), Error(DAT_LENGTH_ERROR));
  EXPECT_EQ(StateOf(a_ud_), DAT_EP_STATE_CONNECTED);
}

// covers: semantics 11, 15.2
TEST_P(DatagramTest, TwoEpsTakeFromOneSrq) {
  DAT_SRQ_ATTR srq_attr{8, 1, DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_OK(dat_srq_create(b_->ia, b_->pz, &srq_attr, &srq));
  const DAT_EP_ATTR attr = DatagramAttributes();
  std::array<DAT_EP_HANDLE, 2> eps{};
  std::array<DAT_IB_ADDR_HANDLE, 2> to{};
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_OK(dat_ep_create_with_srq(b_->ia, b_->pz, b_->recv_evd, b_->request_evd, b_->connect_evd,
                                     srq, &attr, &eps[i]));
    ASSERT_OK(Ask(a_ud_, ""));
    ASSERT_OK(Accept(NextUdRequest(), eps[i]));
    NextMet(*b_, eps[i], DAT_IB_UD_PASSIVE_REMOTE_AH);
    to[i] = NextMet(*a_, a_ud_, DAT_IB_UD_REMOTE_AH).to;
    DAT_LMR_TRIPLET slot = Slot(i);
    ASSERT_OK(dat_srq_post_recv(srq, 1, &slot, Cookie(20 + i)));
  }
  for (size_t i = 0; i < 2; ++i)
    ASSERT_OK(SendUd(a_ud_, source_->local(0, 4), to[i], i, DAT_COMPLETION_SUPPRESS_FLAG));
  for (size_t i = 0; i < 2; ++i) ExpectReceived(*b_, eps[i], 20 + i);
  DAT_SRQ_PARAM param{};
  ASSERT_OK(dat_srq_query(srq, DAT_SRQ_FIELD_ALL, &param));
  EXPECT_EQ(param.outstanding_dto_count, 0);
  for (const DAT_EP_HANDLE ep : eps) EXPECT_OK(dat_ep_free(ep));
  EXPECT_OK(dat_srq_free(srq));
}

// covers: semantics 15.2
TEST_P(DatagramTest, TheyAreCountedAsDatagrams) {
  const auto read = [](DAT_HANDLE handle, int counter) {
    DAT_UINT64 value = ~DAT_UINT64{0};
    EXPECT_OK(dat_query_counters(handle, counter, &value, 0));
    return value;
  };
  const Both met = Meet();
  EXPECT_EQ(read(a_->ia, DCNT_IA_CM_AH_REQ_TX), 1u);
  EXPECT_EQ(read(b_->ia, DCNT_IA_CM_AH_REQ_RX), 1u);
  EXPECT_EQ(read(a_->ia, DCNT_IA_CM_AH_RESOLVED), 1u);
  EXPECT_EQ(read(a_->ia, DCNT_IA_CM_REQ_TX), 0u);
  ASSERT_OK(PostRecv(b_ud_, {Slot(0)}, 1));
  ASSERT_OK(SendUd(a_ud_, source_->local(0, 16), met.active.to, 1, DAT_COMPLETION_SUPPRESS_FLAG));
  ExpectReceived(*b_, b_ud_, 1);
  EXPECT_EQ(read(a_ud_, DCNT_EP_POST_SEND_UD), 1u);
  EXPECT_EQ(read(a_ud_, DCNT_EP_POST_SEND_UD_DATA), 16u);
  EXPECT_EQ(read(a_ud_, DCNT_EP_POST_SEND), 0u);
  EXPECT_EQ(read(b_ud_, DCNT_EP_RECV_UD), 1u);
  EXPECT_EQ(read(b_ud_, DCNT_EP_RECV_UD_DATA), 56u);
  EXPECT_EQ(read(b_ud_, DCNT_EP_RECV), 0u);
}

}  // namespace
}  // namespace softdat::conformance
