// SPDX-License-Identifier: BSD-3-Clause
// Completion flags, per post and per EP (DAT 2.0 semantics 8.1, 10.2).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class CompletionFlagsTest : public ConnectedTest {
 protected:
  DAT_EP_ATTR Attributes(DAT_COMPLETION_FLAGS recv, DAT_COMPLETION_FLAGS request) {
    DAT_EP_ATTR attr{};
    attr.recv_completion_flags = recv;
    attr.request_completion_flags = request;
    attr.max_recv_dtos = attr.max_request_dtos = 16;
    attr.max_recv_iov = attr.max_request_iov = 2;
    return attr;
  }
  // An EP of `side` on EVDs of its own.
  DAT_EP_HANDLE MakeEp(Side& side, const DAT_EP_ATTR& attr) {
    recv_ = side.MakeEvd(DAT_EVD_DTO_FLAG);
    request_ = side.MakeEvd(DAT_EVD_DTO_FLAG);
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(side.ia, side.pz, recv_, request_, side.connect_evd, &attr, &ep));
    return ep;
  }
  DAT_EVD_HANDLE recv_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_ = DAT_HANDLE_NULL;
};
CONFORMANCE_ALL_VARIANTS(CompletionFlagsTest);

TEST_P(CompletionFlagsTest, SuppressedWorkSucceedsInSilence) {
  const auto from = a_->MakeBuffer(8), to = b_->MakeBuffer(8);
  for (int i = 0; i < 3; ++i) ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 1, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostWrite(a_->ep, {from->local()}, to->remote(), 2, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostRead(a_->ep, {from->local()}, to->remote(), 3, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 4));
  // A completed later request implies the suppressed ones.
  a_->ExpectDto(a_->request_evd, a_->ep, 4);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  a_->ExpectSilence(a_->request_evd);
}

TEST_P(CompletionFlagsTest, SuppressedWorkFreesItsSlots) {
  const auto from = a_->MakeBuffer(8, 1), to = b_->MakeBuffer(8);
  uint64_t posted = 0;
  // Many times the queue's length; every tenth is signalled and reaped, as dtest does.
  while (posted < 1000) {
    for (int i = 0; i < 9; ++i) {
      ASSERT_OK(
          PostWrite(a_->ep, {from->local()}, to->remote(), ++posted, DAT_COMPLETION_SUPPRESS_FLAG));
    }
    ASSERT_OK(PostWrite(a_->ep, {from->local()}, to->remote(), ++posted));
    a_->ExpectDto(a_->request_evd, a_->ep, posted);
  }
  a_->ExpectSilence(a_->request_evd);
}

TEST_P(CompletionFlagsTest, SuppressedWorkReportsItsFlush) {
  Part();
  const auto memory = a_->MakeBuffer(8);
  ASSERT_OK(PostSend(a_->ep, {memory->local()}, 5, DAT_COMPLETION_SUPPRESS_FLAG));
  a_->ExpectDto(a_->request_evd, a_->ep, 5, DAT_DTO_ERR_FLUSHED);
}

TEST_P(CompletionFlagsTest, UnsignalledNeedsTheEpsConsent) {
  const auto memory = a_->MakeBuffer(8);
  EXPECT_TYPE(PostSend(a_->ep, {memory->local()}, 1, DAT_COMPLETION_UNSIGNALLED_FLAG),
              DAT_INVALID_PARAMETER);
  a_->ExpectSilence(a_->request_evd);
}

TEST_P(CompletionFlagsTest, UnknownAndMisplacedFlagsAreRefused) {
  const auto memory = a_->MakeBuffer(8), target = b_->MakeBuffer(8);
  for (const int flags : {0x10, 0x20, 0x40, 0x80, 0x100}) {
    EXPECT_TYPE(PostSend(a_->ep, {memory->local()}, 1, static_cast<DAT_COMPLETION_FLAGS>(flags)),
                DAT_INVALID_PARAMETER)
        << flags;
  }
  EXPECT_TYPE(
      PostWrite(a_->ep, {memory->local()}, target->remote(), 1, DAT_COMPLETION_SOLICITED_WAIT_FLAG),
      DAT_INVALID_PARAMETER);
  DAT_LMR_TRIPLET iov = memory->local();
  EXPECT_TYPE(dat_ep_post_recv(a_->ep, 1, &iov, Cookie(1), DAT_COMPLETION_SUPPRESS_FLAG),
              DAT_INVALID_PARAMETER);
}

TEST_P(CompletionFlagsTest, SuppressIsNoReceiveFlagOfAnEp) {
  const DAT_EP_ATTR attr = Attributes(DAT_COMPLETION_SUPPRESS_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_RETURN(
      dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, &attr, &ep),
      BadArgument(6));
}

TEST_P(CompletionFlagsTest, AnUnsignalledCompletionIsQueuedButWakesNobody) {
  const DAT_EP_ATTR attr = Attributes(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG);
  const DAT_EP_HANDLE active = MakeEp(*a_, attr);
  const DAT_EVD_HANDLE request = request_;
  const DAT_EP_HANDLE passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  const auto from = a_->MakeBuffer(8), to = b_->MakeBuffer(8);
  ASSERT_OK(PostRecv(passive, {}, 1));
  ASSERT_OK(PostWrite(active, {from->local()}, to->remote(), 1, DAT_COMPLETION_UNSIGNALLED_FLAG));
  ASSERT_OK(PostWrite(active, {from->local()}, to->remote(), 2));
  EXPECT_EQ(a_->ExpectDto(request, active, 1).status, DAT_DTO_SUCCESS);
  a_->ExpectDto(request, active, 2);
  EXPECT_OK(dat_ep_free(active));
}

TEST_P(CompletionFlagsTest, ASolicitedReceiveWakesAndTheOthersAreQueued) {
  const DAT_EP_ATTR attr =
      Attributes(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  const DAT_EP_HANDLE passive = MakeEp(*b_, attr);
  const DAT_EVD_HANDLE recv = recv_;
  const DAT_EP_HANDLE active = a_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  ASSERT_OK(PostSend(active, {}, 0));
  ASSERT_OK(PostSend(active, {}, 1));
  a_->ExpectDto(a_->request_evd, active, 0);
  a_->ExpectDto(a_->request_evd, active, 1);
  ASSERT_OK(PostSend(active, {}, 2, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  // All three, in order; the last one is what may have woken the program.
  for (uint64_t i = 0; i < 3; ++i) b_->ExpectDto(recv, passive, i);
  // Threshold waits and such streams exclude each other.
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  EXPECT_TYPE(dat_evd_wait(recv, 0, 2, &event, &nmore), DAT_INVALID_STATE);
  EXPECT_OK(dat_ep_free(passive));
}

TEST_P(CompletionFlagsTest, StreamsOfOneEvdMustAgree) {
  const DAT_EP_ATTR solicited =
      Attributes(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  const DAT_EP_ATTR plain = Attributes(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  const DAT_EP_HANDLE first = MakeEp(*a_, solicited);
  DAT_EP_HANDLE second = DAT_HANDLE_NULL;
  EXPECT_TYPE(dat_ep_create(a_->ia, a_->pz, recv_, request_, a_->connect_evd, &plain, &second),
              DAT_INVALID_PARAMETER);
  EXPECT_OK(dat_ep_free(first));
}

}  // namespace
}  // namespace softdat::conformance
