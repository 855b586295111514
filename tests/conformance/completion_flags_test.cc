// SPDX-License-Identifier: BSD-3-Clause
// Completion flags, per post and per EP (semantics 8.1, 10.2).
#include "tests/conformance/evd_waiter.h"
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
  // Makes an EP of `side` on EVDs of its own.
  DAT_EP_HANDLE MakeEp(Side& side, const DAT_EP_ATTR& attr) {
    recv_ = side.MakeEvd(DAT_EVD_DTO_FLAG);
    request_ = side.MakeEvd(DAT_EVD_DTO_FLAG);
    return MakeEpOn(side, recv_, request_, attr);
  }
  static DAT_EP_HANDLE MakeEpOn(Side& side, DAT_EVD_HANDLE recv, DAT_EVD_HANDLE request,
                                const DAT_EP_ATTR& attr) {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(side.ia, side.pz, recv, request, side.connect_evd, &attr, &ep));
    return ep;
  }
  // When this returns, everything that `active` sent before has arrived at b, because the answer to
  // a read comes after it.
  void ExpectArrived(DAT_EP_HANDLE active) {
    const auto sink = a_->MakeBuffer(1), source = b_->MakeBuffer(1);
    ASSERT_OK(PostRead(active, {sink->local()}, source->remote(), 77));
    a_->ExpectDto(a_->request_evd, active, 77);
  }
  DAT_EVD_HANDLE recv_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE request_ = DAT_HANDLE_NULL;
};
CONFORMANCE_ALL_VARIANTS(CompletionFlagsTest);

// covers: semantics 10.2
TEST_P(CompletionFlagsTest, SuppressedWorkSucceedsInSilence) {
  const auto from = a_->MakeBuffer(8), to = b_->MakeBuffer(8);
  for (int i = 0; i < 2; ++i) ASSERT_OK(PostRecv(b_->ep, {to->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 1, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostWrite(a_->ep, {from->local()}, to->remote(), 2, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostRead(a_->ep, {from->local()}, to->remote(), 3, DAT_COMPLETION_SUPPRESS_FLAG));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 4));
  // The completion of a later request implies the suppressed ones.
  a_->ExpectDto(a_->request_evd, a_->ep, 4);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  ExpectNothingMore({a_->request_evd, b_->recv_evd});
}

// covers: semantics 10.1
TEST_P(CompletionFlagsTest, SuppressedWorkFreesItsSlots) {
  const auto from = a_->MakeBuffer(8, 1), to = b_->MakeBuffer(8);
  uint64_t posted = 0;
  // This is many times the queue's length. Every tenth post is signalled and reaped, as dtest does.
  while (posted < 1000) {
    for (int i = 0; i < 9; ++i) {
      ASSERT_OK(
          PostWrite(a_->ep, {from->local()}, to->remote(), ++posted, DAT_COMPLETION_SUPPRESS_FLAG));
    }
    ASSERT_OK(PostWrite(a_->ep, {from->local()}, to->remote(), ++posted));
    a_->ExpectDto(a_->request_evd, a_->ep, posted);
  }
  ExpectNothingMore({a_->request_evd});
}

// covers: semantics 10.2
TEST_P(CompletionFlagsTest, SuppressedWorkReportsItsFlush) {
  Part();
  const auto memory = a_->MakeBuffer(8);
  ASSERT_OK(PostSend(a_->ep, {memory->local()}, 5, DAT_COMPLETION_SUPPRESS_FLAG));
  a_->ExpectDto(a_->request_evd, a_->ep, 5, DAT_DTO_ERR_FLUSHED);
}

// covers: semantics 8.1, 10.2
TEST_P(CompletionFlagsTest, UnsignalledNeedsTheEpsConsent) {
  const auto memory = a_->MakeBuffer(8);
  EXPECT_TYPE(PostSend(a_->ep, {memory->local()}, 1, DAT_COMPLETION_UNSIGNALLED_FLAG),
              DAT_INVALID_PARAMETER);
  ExpectNothingMore({a_->request_evd});
}

// covers: semantics 10.2
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

// covers: semantics 8.1
TEST_P(CompletionFlagsTest, SuppressIsNoReceiveFlagOfAnEp) {
  const DAT_EP_ATTR attr = Attributes(DAT_COMPLETION_SUPPRESS_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  EXPECT_RETURN(
      dat_ep_create(a_->ia, a_->pz, a_->recv_evd, a_->request_evd, a_->connect_evd, &attr, &ep),
      BadArgument(6));
}

// covers: semantics 5.3, 10.2
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

// covers: semantics 5.3, 10.2
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
  // All three are there, in order. Only the last one may have woken the program.
  for (uint64_t i = 0; i < 3; ++i) b_->ExpectDto(recv, passive, i);
  // Threshold waits and such streams exclude each other.
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  EXPECT_TYPE(dat_evd_wait(recv, 0, 2, &event, &nmore), DAT_INVALID_STATE);
  EXPECT_OK(dat_ep_free(passive));
}

// As in public programs: one EVD has receives that notify and requests that need not.
// covers: semantics 5.3, 8.1, 10.2
TEST_P(CompletionFlagsTest, OnOneEvdEachCompletionDecidesWhetherItNotifies) {
  const DAT_EVD_HANDLE both = a_->MakeEvd(DAT_EVD_DTO_FLAG);
  const DAT_EP_HANDLE active = MakeEpOn(
      *a_, both, both, Attributes(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG));
  const DAT_EP_HANDLE passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(PostRecv(active, {}, i));
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  // A threshold is valid here, since some of the events notify.
  for (const DAT_COUNT threshold : {1, 2}) {
    const auto round = static_cast<uint64_t>(threshold - 1);
    const uint64_t request = 10 + round;
    EvdWaiter waiter(both, threshold);
    ASSERT_OK(PostSend(active, {}, request, DAT_COMPLETION_UNSIGNALLED_FLAG));
    b_->ExpectDto(b_->recv_evd, passive, round);
    a_->ExpectSilence(a_->connect_evd);  // time to wake up
    ASSERT_TRUE(waiter.waits());
    ASSERT_OK(PostSend(passive, {}, 20 + round));
    waiter.Join();
    ASSERT_OK(waiter.ret);
    // The message may overtake the confirmation of the request.
    const uint64_t first = waiter.event.event_data.dto_completion_event_data.user_cookie.as_64;
    EXPECT_TRUE(first == request || first == round) << first;
    a_->ExpectDto(both, active, first == request ? round : request);
  }
  b_->ExpectDto(b_->request_evd, passive, 20);
  b_->ExpectDto(b_->request_evd, passive, 21);
  EXPECT_OK(dat_ep_free(active));
}

// covers: semantics 5.3, 8.1, 10.2
TEST_P(CompletionFlagsTest, ARequestWakesBesideSolicitedReceives) {
  const DAT_EVD_HANDLE both = b_->MakeEvd(DAT_EVD_DTO_FLAG);
  const DAT_EP_HANDLE passive = MakeEpOn(
      *b_, both, both, Attributes(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
  const DAT_EP_HANDLE active = a_->MakeEp();
  Join(*a_, active, *b_, passive);
  ASSERT_OK(PostRecv(active, {}, 1));
  ASSERT_OK(PostRecv(passive, {}, 2));
  {
    EvdWaiter waiter(both);
    ASSERT_OK(PostSend(passive, {}, 3));
    waiter.Join();
    ASSERT_OK(waiter.ret);
    EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 3u);
  }
  a_->ExpectDto(a_->recv_evd, active, 1);
  EvdWaiter waiter(both);
  ASSERT_OK(PostSend(active, {}, 4, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  waiter.Join();
  ASSERT_OK(waiter.ret);
  EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 2u);
  a_->ExpectDto(a_->request_evd, active, 4);
  EXPECT_OK(dat_ep_free(passive));
}

// covers: semantics 5.3, 8.1, 10.2
TEST_P(CompletionFlagsTest, AnUnsolicitedMessageIsQuietBesideStreamsThatNotify) {
  const DAT_EVD_HANDLE both = b_->MakeEvd(DAT_EVD_DTO_FLAG);
  const DAT_EP_HANDLE passive = MakeEpOn(
      *b_, both, both, Attributes(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
  const DAT_EP_HANDLE active = a_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  EvdWaiter waiter(both);
  ASSERT_OK(PostSend(active, {}, 0));
  a_->ExpectDto(a_->request_evd, active, 0);
  ExpectArrived(active);
  b_->ExpectSilence(b_->connect_evd);  // time to wake up
  ASSERT_TRUE(waiter.waits());
  ASSERT_OK(PostSend(active, {}, 1, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  waiter.Join();
  ASSERT_OK(waiter.ret);
  EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 0u);
  b_->ExpectDto(both, passive, 1);
  a_->ExpectDto(a_->request_evd, active, 1);
  EXPECT_OK(dat_ep_free(passive));
}

// The waiter is already inside the call, so an arrival does not count as queued before it.
// covers: semantics 5.3, 10.2
TEST_P(CompletionFlagsTest, AWaitSleepsThroughAnUnsolicitedMessage) {
  const DAT_EP_HANDLE passive =
      MakeEp(*b_, Attributes(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
  const DAT_EVD_HANDLE recv = recv_;
  const DAT_EP_HANDLE active = a_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  EvdWaiter waiter(recv);
  for (uint64_t i = 0; i < 2; ++i) {
    ASSERT_OK(PostSend(active, {}, i));
    a_->ExpectDto(a_->request_evd, active, i);
    ExpectArrived(active);
    b_->ExpectSilence(b_->connect_evd);  // time to wake up
    ASSERT_TRUE(waiter.waits()) << "message " << i << " was not solicited";
  }
  ASSERT_OK(PostSend(active, {}, 2, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  waiter.Join();
  // The oldest comes out, and the others stay queued.
  ASSERT_OK(waiter.ret);
  EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 0u);
  EXPECT_GE(waiter.nmore, 1);
  b_->ExpectDto(recv, passive, 1);
  b_->ExpectDto(recv, passive, 2);
  a_->ExpectDto(a_->request_evd, active, 2);
  EXPECT_OK(dat_ep_free(passive));
}

// covers: semantics 5.3, 10.2
TEST_P(CompletionFlagsTest, AWaitSleepsThroughAnUnsignalledCompletion) {
  const DAT_EP_HANDLE active =
      MakeEp(*a_, Attributes(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG));
  const DAT_EVD_HANDLE request = request_;
  const DAT_EP_HANDLE passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  EvdWaiter waiter(request);
  ASSERT_OK(PostSend(active, {}, 10, DAT_COMPLETION_UNSIGNALLED_FLAG));
  b_->ExpectDto(b_->recv_evd, passive, 0);
  a_->ExpectSilence(a_->connect_evd);  // time to wake up
  ASSERT_TRUE(waiter.waits());
  ASSERT_OK(PostSend(active, {}, 11));
  waiter.Join();
  ASSERT_OK(waiter.ret);
  EXPECT_EQ(waiter.event.event_data.dto_completion_event_data.user_cookie.as_64, 10u);
  a_->ExpectDto(request, active, 11);
  b_->ExpectDto(b_->recv_evd, passive, 1);
  EXPECT_OK(dat_ep_free(active));
}

// Only notifications trigger a CNO.
// covers: semantics 6, 10.2
TEST_P(CompletionFlagsTest, AnUnsignalledCompletionLeavesTheCnoAsleep) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(a_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  DAT_EVD_HANDLE request = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(a_->ia, 16, cno, DAT_EVD_DTO_FLAG, &request));
  const DAT_EP_HANDLE active =
      MakeEpOn(*a_, a_->recv_evd, request,
               Attributes(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG));
  const DAT_EP_HANDLE passive = b_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  ASSERT_OK(PostSend(active, {}, 10, DAT_COMPLETION_UNSIGNALLED_FLAG));
  b_->ExpectDto(b_->recv_evd, passive, 0);
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  EXPECT_TYPE(dat_cno_wait(cno, kSilenceUs, &hint), DAT_QUEUE_EMPTY);
  ASSERT_OK(PostSend(active, {}, 11));
  ASSERT_OK(dat_cno_wait(cno, kPatienceUs, &hint));
  EXPECT_EQ(hint, request);
  b_->ExpectDto(b_->recv_evd, passive, 1);
  const std::vector<DAT_EVENT> events = Side::Drain(request);
  ASSERT_EQ(events.size(), 2u);
  for (size_t i = 0; i < 2; ++i)
    EXPECT_EQ(events[i].event_data.dto_completion_event_data.user_cookie.as_64, 10 + i);
  EXPECT_OK(dat_ep_free(active));
  EXPECT_OK(dat_evd_free(request));
  EXPECT_OK(dat_cno_free(cno));
}

// covers: semantics 6, 10.2
TEST_P(CompletionFlagsTest, AnUnsolicitedMessageLeavesTheCnoAsleep) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(b_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  DAT_EVD_HANDLE recv = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(b_->ia, 16, cno, DAT_EVD_DTO_FLAG, &recv));
  const DAT_EP_HANDLE passive =
      MakeEpOn(*b_, recv, b_->request_evd,
               Attributes(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
  const DAT_EP_HANDLE active = a_->MakeEp();
  Join(*a_, active, *b_, passive);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(PostRecv(passive, {}, i));
  ASSERT_OK(PostSend(active, {}, 0));
  a_->ExpectDto(a_->request_evd, active, 0);
  ExpectArrived(active);
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  EXPECT_TYPE(dat_cno_wait(cno, kSilenceUs, &hint), DAT_QUEUE_EMPTY);
  ASSERT_OK(PostSend(active, {}, 1, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  ASSERT_OK(dat_cno_wait(cno, kPatienceUs, &hint));
  EXPECT_EQ(hint, recv);
  EXPECT_EQ(Side::Drain(recv).size(), 2u);
  a_->ExpectDto(a_->request_evd, active, 1);
  EXPECT_OK(dat_ep_free(passive));
  EXPECT_OK(dat_evd_free(recv));
  EXPECT_OK(dat_cno_free(cno));
}

// The EVD was armed for the first EP. That is not enough for the second.
// covers: semantics 6
TEST_P(CompletionFlagsTest, APlainStreamAfterASolicitedOneTriggersTheCno) {
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(b_->ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  DAT_EVD_HANDLE recv = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(b_->ia, 16, cno, DAT_EVD_DTO_FLAG, &recv));
  const auto solicited =
      Attributes(DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_DEFAULT_FLAG);
  ASSERT_OK(dat_ep_free(MakeEpOn(*b_, recv, b_->request_evd, solicited)));
  const DAT_EP_HANDLE passive =
      MakeEpOn(*b_, recv, b_->request_evd,
               Attributes(DAT_COMPLETION_DEFAULT_FLAG, DAT_COMPLETION_DEFAULT_FLAG));
  const DAT_EP_HANDLE active = a_->MakeEp();
  Join(*a_, active, *b_, passive);
  ASSERT_OK(PostRecv(passive, {}, 1));
  ASSERT_OK(PostSend(active, {}, 2));
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  EXPECT_OK(dat_cno_wait(cno, kPatienceUs, &hint));
  EXPECT_EQ(hint, recv);
  b_->ExpectDto(recv, passive, 1);
  a_->ExpectDto(a_->request_evd, active, 2);
  EXPECT_OK(dat_ep_free(passive));
  EXPECT_OK(dat_evd_free(recv));
  EXPECT_OK(dat_cno_free(cno));
}

}  // namespace
}  // namespace softdat::conformance
