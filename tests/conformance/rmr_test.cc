// SPDX-License-Identifier: BSD-3-Clause
// Memory windows: bind, rebind, unbind, stale contexts (semantics 7.3).
#include <utility>

#include "tests/conformance/evd_waiter.h"
#include "tests/conformance/rmr_fixture.h"

namespace softdat::conformance {
namespace {

CONFORMANCE_FAMILIES(RmrTest);

// covers: semantics 7.3
TEST_P(RmrTest, ABoundWindowIsReachable) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local(64, 64));
  ExpectReadable(context, 64, 64);
  ExpectReadable(context, 100, 28);
}

// covers: semantics 7.3
TEST_P(RmrTest, NothingBeyondABoundWindowIsReachable) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local(64, 64));
  ExpectRefused(Through(context, 64, 65));
  EXPECT_TRUE(mine_->untouched());
}

// covers: semantics 7.3
TEST_P(RmrTest, NothingBeyondTheRegionOfAWindowIsReachable) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local(64, kWindowed - 64));
  ExpectRefused(Through(context, 65, kWindowed - 64));
  EXPECT_TRUE(mine_->untouched());
}

// covers: semantics 7.3
TEST_P(RmrTest, PrivilegesOfTheWindowCountNotThoseOfTheRegion) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local(), DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  ASSERT_OK(PostWrite(b_->ep, {mine_->local(0, 8)}, Through(context, 0, 8), 6));
  b_->ExpectDto(b_->request_evd, b_->ep, 6);
  ExpectRefused(Through(context, 0, 8));
}

// covers: semantics 7.3
TEST_P(RmrTest, LaterPostsStartBehindTheBind) {
  // The context travels in a message that is posted right behind the bind. The peer uses it at
  // once.
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

// covers: semantics 7.3
TEST_P(RmrTest, ARebindGivesAFreshContextAndMakesTheOldOneStale) {
  const DAT_RMR_CONTEXT first = Bind(memory_->local(0, 64));
  const DAT_RMR_CONTEXT second = Bind(memory_->local(0, 64));
  EXPECT_NE(first, second);
  ExpectReadable(second, 0, 64);
  ExpectRefused(Through(first, 0, 64));
}

// covers: semantics 7.3
TEST_P(RmrTest, AnUnbindTakesTheContextAway) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  EXPECT_RETURN(dat_lmr_free(memory_->lmr()), BadState(DAT_INVALID_STATE_LMR_IN_USE));
  Bind(memory_->local(0, 0));
  ExpectRefused(Through(context, 0, 8));
  EXPECT_OK(memory_->Free());
}

// covers: semantics 3.1, 7.3
TEST_P(RmrTest, FreeingABoundWindowUnbindsIt) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  EXPECT_OK(dat_rmr_free(std::exchange(rmr_, DAT_HANDLE_NULL)));
  ExpectRefused(Through(context, 0, 8));
}

// covers: semantics 7.3
TEST_P(RmrTest, WindowsAndMemoryMayGoWhileUnbindsAreUnreaped) {
  // Programs tear down like this: nothing is reaped in between.
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
  ExpectReadable(Bind(memory_->local()), 0, 32);  // the connection still works
}

// covers: semantics 7.3
TEST_P(RmrTest, AWindowOfTheWholeZoneServesEveryEpOfIt) {
  const DAT_RMR_CONTEXT context = Bind(memory_->local());
  const DAT_EP_HANDLE near = a_->MakeEp(), far = b_->MakeEp();
  Join(*a_, near, *b_, far);
  ASSERT_OK(PostRead(far, {mine_->local()}, Through(context, 0, kWindowed), 9));
  b_->ExpectDto(b_->request_evd, far, 9);
}

// covers: semantics 7.3
TEST_P(RmrTest, ABindOnADisconnectedEpIsFlushed) {
  Part();
  PostBind(rmr_, memory_->local());
  const auto data = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                        .event_data.rmr_completion_event_data;
  EXPECT_EQ(data.rmr_handle, rmr_);
  EXPECT_EQ(data.status, DAT_RMR_BIND_FAILURE);
  EXPECT_OK(memory_->Free()) << "nothing is bound";
}

// covers: semantics 7.3
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

// covers: semantics 10.2
TEST_P(RmrTest, ASuppressedBindSucceedsInSilence) {
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(PostBindOn(a_->ep, 60, DAT_COMPLETION_SUPPRESS_FLAG, &context));
  // A later completion implies this one.
  ASSERT_OK(PostRecv(b_->ep, {}, 1));
  ASSERT_OK(PostSend(a_->ep, {}, 61));
  a_->ExpectDto(a_->request_evd, a_->ep, 61);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  ExpectReadable(context, 0, 64);
  ExpectNothingMore({a_->request_evd});
}

// No other completion confirms the writes before it, so the bind must.
TEST_P(RmrTest, ABindBehindSuppressedWritesCompletes) {
  const auto source = a_->MakeBuffer(64);
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_OK(PostWrite(a_->ep, {source->local(0, 8)}, mine_->remote(0, 8), i,
                        DAT_COMPLETION_SUPPRESS_FLAG));
  }
  Bind(memory_->local());
  ExpectNothingMore({a_->request_evd});
}

// covers: semantics 10.2
TEST_P(RmrTest, ASuppressedBindReportsItsFlush) {
  Part();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(PostBindOn(a_->ep, 60, DAT_COMPLETION_SUPPRESS_FLAG, &context));
  const auto data = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                        .event_data.rmr_completion_event_data;
  EXPECT_EQ(data.user_cookie.as_64, 60u);
  EXPECT_EQ(data.status, DAT_RMR_BIND_FAILURE);
}

// covers: semantics 10.2
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
  // This is posted behind the bind, so the bind is done when it arrives.
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

// A fenced bind waits for the read in front of it, so a peer that accesses the window finds the
// data of the read. b tries it over another connection while the read may be under way. It is
// either too early or sees all data.
// covers: semantics 10.2
TEST_P(RmrTest, AFencedBindComesBehindTheRead) {
  constexpr size_t kSize = 1 << 20;
  const auto sink = a_->MakeBuffer(kSize), from = b_->MakeBuffer(kSize), last = b_->MakeBuffer(8);
  from->FillPattern(5);
  const DAT_EP_HANDLE near = a_->MakeEp(), far = b_->MakeEp();
  Join(*a_, near, *b_, far);
  ASSERT_OK(PostRead(a_->ep, {sink->local()}, from->remote(), 60));
  const DAT_LMR_TRIPLET all = sink->local();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(BindRmr(rmr_, sink->lmr(), &all, DAT_MEM_PRIV_REMOTE_READ_FLAG, a_->ep, Cookie(61),
                    DAT_COMPLETION_BARRIER_FENCE_FLAG, &context));
  DAT_RMR_TRIPLET end = sink->remote(kSize - 8, 8);
  end.rmr_context = context;
  ASSERT_OK(PostRead(far, {last->local()}, end, 62));
  a_->ExpectDto(a_->request_evd, a_->ep, 60);
  ExpectBound(rmr_, 61);
  EXPECT_TRUE(std::equal(sink->data(), sink->data() + kSize, from->data()));
  if (b_->Next(b_->request_evd).event_data.dto_completion_event_data.status == DAT_DTO_SUCCESS) {
    EXPECT_TRUE(std::equal(last->data(), last->data() + 8, from->data() + kSize - 8));
  }
  ASSERT_OK(PostRead(b_->ep, {last->local()}, end, 63));
  b_->ExpectDto(b_->request_evd, b_->ep, 63);
  EXPECT_TRUE(std::equal(last->data(), last->data() + 8, from->data() + kSize - 8));
  EXPECT_OK(dat_rmr_free(std::exchange(rmr_, DAT_HANDLE_NULL)));  // before the memory under it
}

// A write, a read, a message and another bind are all posted right behind a bind. Each is carried
// out and completes in its turn. Each event that implies the bind finds it done.
// covers: semantics 7.3, 10.3
TEST_P(RmrTest, EveryRequestMayStandBehindABind) {
  const auto note = a_->MakeBuffer(sizeof(DAT_RMR_CONTEXT)), sink = a_->MakeBuffer(32);
  const auto source = b_->MakeBuffer(32, 0x42);
  DAT_RMR_HANDLE second = DAT_HANDLE_NULL;
  ASSERT_OK(dat_rmr_create(a_->pz, &second));
  ASSERT_OK(PostRecv(b_->ep, {}, 1));
  const DAT_RMR_CONTEXT context =
      PostBind(rmr_, memory_->local(), DAT_MEM_PRIV_REMOTE_READ_FLAG, 40);
  std::copy_n(reinterpret_cast<const uint8_t*>(&context), sizeof context, note->data());
  ASSERT_OK(PostWrite(a_->ep, {note->local()}, mine_->remote(0, sizeof context), 41));
  ASSERT_OK(PostRead(a_->ep, {sink->local()}, source->remote(), 42));
  const DAT_RMR_CONTEXT other =
      PostBind(second, memory_->local(64, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG, 43);
  ASSERT_OK(PostSend(a_->ep, {}, 44));
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  DAT_RMR_CONTEXT told = 0;
  std::copy_n(mine_->data(), sizeof told, reinterpret_cast<uint8_t*>(&told));
  EXPECT_EQ(told, context);
  ExpectReadable(told, 0, 32);
  ExpectReadable(other, 64, 64);
  ExpectBound(rmr_, 40);
  a_->ExpectDto(a_->request_evd, a_->ep, 41);
  a_->ExpectDto(a_->request_evd, a_->ep, 42);
  EXPECT_TRUE(std::equal(sink->data(), sink->data() + 32, source->data()));
  ExpectBound(second, 43);
  a_->ExpectDto(a_->request_evd, a_->ep, 44);
  EXPECT_OK(dat_rmr_free(second));
}

// The window is bound, bound anew, and bound to nothing without a pause. The last bind counts.
// covers: semantics 7.3
TEST_P(RmrTest, BindsOfOneWindowInARowEndAsTheLastOne) {
  const DAT_RMR_CONTEXT first = PostBind(rmr_, memory_->local(), DAT_MEM_PRIV_REMOTE_READ_FLAG, 40);
  PostBind(rmr_, memory_->local(0, 0), 0, 41);
  const DAT_RMR_CONTEXT last =
      PostBind(rmr_, memory_->local(32, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG, 42);
  EXPECT_NE(first, last);
  for (uint64_t i = 40; i <= 42; ++i) ExpectBound(rmr_, i);
  ExpectReadable(last, 32, 64);
  ExpectRefused(Through(first, 0, 8));
}

// The call has returned a context, and then the bind fails because the read in front of it is
// refused.
// covers: semantics 7.3
TEST_P(RmrTest, ABindThatFailsAfterItsReturnLeavesNothingBound) {
  const auto closed = b_->MakeBuffer(64, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  const auto sink = a_->MakeBuffer(64);
  ASSERT_OK(PostRead(a_->ep, {sink->local()}, closed->remote(), 40));
  DAT_RMR_CONTEXT context = 0;
  ASSERT_OK(PostBindOn(a_->ep, 41, DAT_COMPLETION_BARRIER_FENCE_FLAG, &context));
  a_->ExpectDto(a_->request_evd, a_->ep, 40, DAT_DTO_ERR_REMOTE_ACCESS);
  const auto bind = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                        .event_data.rmr_completion_event_data;
  EXPECT_EQ(bind.rmr_handle, rmr_);
  EXPECT_EQ(bind.user_cookie.as_64, 41u);
  EXPECT_EQ(bind.status, DAT_RMR_BIND_FAILURE);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
  ResetBoth();
  Join();
  ExpectRefused(Through(context, 0, 8));
  EXPECT_OK(memory_->Free()) << "nothing is bound";
}

// Whether a window serves only the EP over which it was bound.
bool WindowsAreOfTheirEp(DAT_IA_HANDLE ia) {
#if DAT_VERSION_MAJOR >= 2
  DAT_PROVIDER_ATTR attr{};
  EXPECT_OK(dat_ia_query(ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &attr));
  return attr.rmr_scope_supported == DAT_RMR_SCOPE_EP;
#else
  (void)ia;
  return true;  // the provider does not say
#endif
}

// A bind is carried out in its turn. A bind in front of a refused request has succeeded, and a bind
// behind it is flushed.
TEST_P(RmrTest, ABindInFrontOfARefusedRequestSucceeds) {
  constexpr size_t kSize = 64;
  const auto closed = b_->MakeBuffer(kSize, 0, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  const auto mine = a_->MakeBuffer(kSize);
  const DAT_RMR_TRIPLET good = mine_->remote(kWindowed - kSize, kSize);
  // This begins in the memory of the good request, and goes on beyond its end.
  DAT_RMR_TRIPLET beyond = mine_->remote(kWindowed - 8, 8);
  beyond.segment_length = kSize;
  DAT_RMR_HANDLE second = DAT_HANDLE_NULL;
  ASSERT_OK(dat_rmr_create(a_->pz, &second));
  const auto post = [&](bool read, const DAT_RMR_TRIPLET& remote, uint64_t cookie) {
    ASSERT_OK(read ? PostRead(a_->ep, {mine->local()}, remote, cookie)
                   : PostWrite(a_->ep, {mine->local()}, remote, cookie));
  };
  for (int kinds = 0; kinds < 8; ++kinds) {
    const bool good_is_read = (kinds & 1) != 0, refused_is_read = (kinds & 2) != 0;
    // Such a write completes like any other.
    if (!refused_is_read && !ConfirmsCompletions(a_->ia)) continue;
    SCOPED_TRACE(testing::Message() << "kinds " << kinds);
    post(good_is_read, good, 40);
    const DAT_RMR_CONTEXT context =
        PostBind(rmr_, memory_->local(), DAT_MEM_PRIV_REMOTE_READ_FLAG, 41);
    post(refused_is_read, (kinds & 4) != 0 ? beyond : closed->remote(), 42);
    PostBind(second, memory_->local(), DAT_MEM_PRIV_REMOTE_READ_FLAG, 43);
    a_->ExpectDto(a_->request_evd, a_->ep, 40);
    ExpectBound(rmr_, 41);
    a_->ExpectDto(a_->request_evd, a_->ep, 42, DAT_DTO_ERR_REMOTE_ACCESS);
    const auto behind = a_->Expect(a_->request_evd, DAT_RMR_BIND_COMPLETION_EVENT)
                            .event_data.rmr_completion_event_data;
    EXPECT_EQ(behind.user_cookie.as_64, 43u);
    EXPECT_EQ(behind.status, DAT_RMR_BIND_FAILURE);
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
    b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_BROKEN);
    ResetBoth();
    Join();
    if (HasFailure()) return;
    if (!WindowsAreOfTheirEp(a_->ia)) ExpectReadable(context, 0, kSize);
  }
  EXPECT_OK(dat_rmr_free(second));
}

}  // namespace
}  // namespace softdat::conformance
