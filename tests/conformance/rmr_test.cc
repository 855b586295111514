// SPDX-License-Identifier: BSD-3-Clause
// Memory windows: bind, rebind, unbind, stale contexts (DAT 2.0 semantics 7.3).
#include "tests/conformance/evd_waiter.h"
#include "tests/conformance/rmr_fixture.h"

namespace softdat::conformance {
namespace {

CONFORMANCE_FAMILIES(RmrTest);

TEST_P(RmrTest, ABoundWindowIsReachableAndNoFurther) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local(64, 64));
  ExpectReadable(context, 64, 64);
  ExpectReadable(context, 100, 28);
  ExpectRefused(Through(context, 64, 65));
}

TEST_P(RmrTest, PrivilegesOfTheWindowCountNotThoseOfTheRegion) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local(), DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  ASSERT_OK(PostWrite(b_->ep, {mine_->local(0, 8)}, Through(context, 0, 8), 6));
  b_->ExpectDto(b_->request_evd, b_->ep, 6);
  ExpectRefused(Through(context, 0, 8));
}

TEST_P(RmrTest, LaterPostsStartBehindTheBind) {
  // The context travels in a message posted right behind the bind; the peer uses it at once.
  const auto note = a_->MakeBuffer(sizeof(DAT_RMR_CONTEXT));
  ASSERT_OK(PostRecv(b_->ep, {mine_->local()}, 1));
  const DAT_RMR_CONTEXT context = PostBind(rmr_, memory_->local());
  std::copy_n(reinterpret_cast<const uint8_t*>(&context), sizeof context, note->data());
  ASSERT_OK(PostSend(a_->ep, {note->local()}, 2));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  DAT_RMR_CONTEXT told = 0;
  std::copy_n(mine_->data(), sizeof told, reinterpret_cast<uint8_t*>(&told));
  EXPECT_EQ(told, context);
  ExpectReadable(told, 0, 32);
  ExpectBound(rmr_);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
}

TEST_P(RmrTest, ARebindGivesAFreshContextAndMakesTheOldOneStale) {
  const DAT_RMR_CONTEXT first = Bind(memory_->local(0, 64));
  const DAT_RMR_CONTEXT second = Bind(memory_->local(0, 64));
  EXPECT_NE(first, second);
  ExpectReadable(second, 0, 64);
  ExpectRefused(Through(first, 0, 64));
}

TEST_P(RmrTest, AnUnbindTakesTheContextAway) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  EXPECT_RETURN(dat_lmr_free(memory_->lmr()), BadState(DAT_INVALID_STATE_LMR_IN_USE));
  Bind(memory_->local(0, 0));
  ExpectRefused(Through(context, 0, 8));
  EXPECT_OK(memory_->Free());
}

TEST_P(RmrTest, FreeingABoundWindowUnbindsIt) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  EXPECT_OK(dat_rmr_free(std::exchange(rmr_, DAT_HANDLE_NULL)));
  ExpectRefused(Through(context, 0, 8));
}

TEST_P(RmrTest, WindowsAndMemoryMayGoWhileUnbindsAreUnreaped) {
  // How programs tear down: nothing is reaped in between.
  const auto other = a_->MakeBuffer(kWindowed);
  std::vector<DAT_RMR_HANDLE> rmrs(8, DAT_HANDLE_NULL);
  for (auto& rmr : rmrs) {
    ASSERT_OK(dat_rmr_create(a_->pz, &rmr));
    const DAT_LMR_TRIPLET all = other->local();
    DAT_RMR_CONTEXT context = 0;
    ASSERT_OK(BindRmr(rmr, other->lmr(), &all, DAT_MEM_PRIV_REMOTE_READ_FLAG, a_->ep, Cookie(60),
                      DAT_COMPLETION_DEFAULT_FLAG, &context));
  }
  for (const auto rmr : rmrs) PostBind(rmr, memory_->local(0, 0), 0, 61);
  EXPECT_OK(other->Free());
  for (const auto rmr : rmrs) EXPECT_OK(dat_rmr_free(rmr));
  for (size_t i = 0; i < 2 * rmrs.size(); ++i) {
    const auto data = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                          .event_data.rmr_completion_event_data;
    EXPECT_EQ(data.status, DAT_RMR_BIND_SUCCESS);
    EXPECT_EQ(data.user_cookie.as_64, i < rmrs.size() ? 60u : 61u);
  }
  ExpectReadable(Bind(memory_->local()), 0, 32);  // the connection is as it was
}

TEST_P(RmrTest, AWindowOfTheWholeZoneServesEveryEpOfIt) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  const DAT_EP_HANDLE near = a_->MakeEp(), far = b_->MakeEp();
  Join(*a_, near, *b_, far);
  ASSERT_OK(PostRead(far, {mine_->local()}, Through(context, 0, kWindowed), 9));
  b_->ExpectDto(b_->request_evd, far, 9);
}

TEST_P(RmrTest, ABindOnADisconnectedEpIsFlushed) {
  Part();
  PostBind(rmr_, memory_->local());
  const auto data = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                        .event_data.rmr_completion_event_data;
  EXPECT_EQ(data.rmr_handle, rmr_);
  EXPECT_EQ(data.status, DAT_RMR_BIND_FAILURE);
  EXPECT_OK(memory_->Free()) << "nothing is bound";
}

TEST_P(RmrTest, ManyWindowsOnOneRegion) {
  std::vector<DAT_RMR_HANDLE> windows(20);
  std::vector<DAT_RMR_CONTEXT> contexts;
  for (size_t i = 0; i < windows.size(); ++i) {
    ASSERT_OK(dat_rmr_create(a_->pz, &windows[i]));
    contexts.push_back(
        PostBind(windows[i], memory_->local(8 * i, 8), DAT_MEM_PRIV_REMOTE_READ_FLAG, i));
    ExpectBound(windows[i], i);
  }
  for (size_t i = 0; i < windows.size(); ++i) ExpectReadable(contexts[i], 8 * i, 8);
  for (const DAT_RMR_HANDLE window : windows) EXPECT_OK(dat_rmr_free(window));
}

TEST_P(RmrTest, ASuppressedBindSucceedsInSilence) {
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(PostBindOn(a_->ep, 60, DAT_COMPLETION_SUPPRESS_FLAG, &context));
  // A later completion implies it.
  ASSERT_OK(PostRecv(b_->ep, {}, 1));
  ASSERT_OK(PostSend(a_->ep, {}, 61));
  a_->ExpectDto(a_->request_evd, a_->ep, 61);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  ExpectReadable(context, 0, 64);
  a_->ExpectSilence(a_->request_evd);
}

TEST_P(RmrTest, ASuppressedBindReportsItsFlush) {
  Part();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(PostBindOn(a_->ep, 60, DAT_COMPLETION_SUPPRESS_FLAG, &context));
  const auto data = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                        .event_data.rmr_completion_event_data;
  EXPECT_EQ(data.user_cookie.as_64, 60u);
  EXPECT_EQ(data.status, DAT_RMR_BIND_FAILURE);
}

TEST_P(RmrTest, AnUnsignalledBindNeedsTheEpsConsentAndWakesNobody) {
  DAT_RMR_CONTEXT context = 0;
  EXPECT_RETURN(PostBindOn(a_->ep, 60, DAT_COMPLETION_UNSIGNALLED_FLAG, &context),
                BadArgument(kFlagsOfBind));
  DAT_EP_ATTR attr{};
  attr.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  attr.max_recv_dtos = attr.max_request_dtos = 4;
  attr.max_recv_iov = attr.max_request_iov = 1;
  const DAT_EVD_HANDLE request =
      a_->MakeEvd(static_cast<DAT_EVD_FLAGS>(DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG));
  DAT_EP_HANDLE near = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ep_create(a_->ia, a_->pz, a_->recv_evd, request, a_->connect_evd, &attr, &near));
  const DAT_EP_HANDLE far = b_->MakeEp();
  Join(*a_, near, *b_, far);
  EvdWaiter waiter(request);
  ASSERT_OK(PostBindOn(near, 61, DAT_COMPLETION_UNSIGNALLED_FLAG, &context));
  // Behind the bind, so it is done when this arrives.
  ASSERT_OK(PostRecv(far, {}, 1));
  ASSERT_OK(PostSend(near, {}, 62, DAT_COMPLETION_UNSIGNALLED_FLAG));
  b_->ExpectDto(b_->recv_evd, far, 1);
  ExpectReadable(context, 0, 8, far);
  a_->ExpectSilence(a_->connect_evd);  // time to wake up
  EXPECT_TRUE(waiter.waits());
  ASSERT_OK(PostBindOn(near, 63, DAT_COMPLETION_DEFAULT_FLAG, &context));
  waiter.Join();
  ASSERT_OK(waiter.ret);
  EXPECT_EQ(waiter.event.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
  EXPECT_EQ(waiter.event.event_data.rmr_completion_event_data.user_cookie.as_64, 61u);
  a_->ExpectDto(request, near, 62);
  EXPECT_EQ(a_->Expect(request, DAT_RMR_BIND_COMPLETION_EVENT)
                .event_data.rmr_completion_event_data.user_cookie.as_64,
            63u);
  EXPECT_OK(dat_ep_free(near));
}

TEST_P(RmrTest, AFencedBindComesBehindTheRead) {
  mine_->FillPattern(5);
  const auto sink = a_->MakeBuffer(kWindowed);
  ASSERT_OK(PostRead(a_->ep, {sink->local()}, mine_->remote(), 60));
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(PostBindOn(a_->ep, 61, DAT_COMPLETION_BARRIER_FENCE_FLAG, &context));
  a_->ExpectDto(a_->request_evd, a_->ep, 60);
  ExpectBound(rmr_, 61);
  EXPECT_TRUE(std::equal(sink->data(), sink->data() + kWindowed, mine_->data()));
  ExpectReadable(context, 0, 8);
}

}  // namespace
}  // namespace softdat::conformance
