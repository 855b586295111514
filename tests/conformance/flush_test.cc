// SPDX-License-Identifier: BSD-3-Clause
// What happens to outstanding work when a connection ends (semantics 8.4, 9.6, 10.5).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class FlushTest : public ConnectedTest {};
CONFORMANCE_ALL_VARIANTS(FlushTest);

// covers: semantics 5.5, 9.6, 10.5
TEST_P(FlushTest, ReceivesAreFlushedInOrderOnBothSides) {
  const auto at_a = a_->MakeBuffer(8), at_b = b_->MakeBuffer(8);
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_OK(PostRecv(a_->ep, {at_a->local()}, 0xFFFFFFFF00000000u + i));
    ASSERT_OK(PostRecv(b_->ep, {at_b->local()}, 0xEEEEEEEE00000000u + i));
  }
  Part();
  for (uint64_t i = 0; i < 10; ++i) {
    a_->ExpectDto(a_->recv_evd, a_->ep, 0xFFFFFFFF00000000u + i, DAT_DTO_ERR_FLUSHED);
    b_->ExpectDto(b_->recv_evd, b_->ep, 0xEEEEEEEE00000000u + i, DAT_DTO_ERR_FLUSHED);
  }
  ExpectNothingMore({a_->recv_evd, b_->recv_evd});
  EXPECT_TRUE(at_a->untouched());
  EXPECT_TRUE(at_b->untouched());
}

// covers: semantics 9.6
TEST_P(FlushTest, EveryRequestCompletesOnceAndNoneSucceedsAfterAFlush) {
  const auto memory = a_->MakeBuffer(1000), target = b_->MakeBuffer(1000);
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_OK(PostSend(a_->ep, {memory->local()}, 3 * i));  // the peer has no receives
    ASSERT_OK(PostWrite(a_->ep, {memory->local()}, target->remote(), 3 * i + 1));
    ASSERT_OK(PostRead(a_->ep, {memory->local()}, target->remote(), 3 * i + 2));
  }
  Part();
  // None of it reached the peer's memory.
  bool flushed = ConfirmsCompletions(a_->ia);
  for (uint64_t i = 0; i < 12; ++i) {
    const auto done =
        a_->Expect(a_->request_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
    EXPECT_EQ(done.user_cookie.as_64, i);
    EXPECT_EQ(done.ep_handle, a_->ep);
    if (flushed) {
      EXPECT_EQ(done.status, DAT_DTO_ERR_FLUSHED) << i;
    }
    flushed |= done.status != DAT_DTO_SUCCESS;
  }
  EXPECT_TRUE(flushed) << "reads behind a send that nobody takes cannot all have succeeded";
  ExpectNothingMore({a_->request_evd});
}

// covers: semantics 8.3, 10.1
TEST_P(FlushTest, PostsAfterTheEndAreAcceptedAndFlushed) {
  const auto memory = a_->MakeBuffer(8), target = b_->MakeBuffer(8);
  Part();
  ASSERT_OK(PostRecv(a_->ep, {memory->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {memory->local()}, 2));
  ASSERT_OK(PostWrite(a_->ep, {memory->local()}, target->remote(), 3));
  ASSERT_OK(PostRead(a_->ep, {memory->local()}, target->remote(), 4));
  a_->ExpectDto(a_->recv_evd, a_->ep, 1, DAT_DTO_ERR_FLUSHED);
  for (uint64_t i = 2; i <= 4; ++i) {
    a_->ExpectDto(a_->request_evd, a_->ep, i, DAT_DTO_ERR_FLUSHED);
  }
  EXPECT_TRUE(memory->untouched());
}

// A marker posted after the end is the last completion of its stream.
// covers: semantics 8.4
TEST_P(FlushTest, AMarkerComesLast) {
  const auto memory = a_->MakeBuffer(8);
  for (uint64_t i = 0; i < 5; ++i) ASSERT_OK(PostRecv(a_->ep, {memory->local()}, i));
  Part();
  ASSERT_OK(PostRecv(a_->ep, {memory->local()}, 99));
  for (uint64_t i = 0; i < 5; ++i) a_->ExpectDto(a_->recv_evd, a_->ep, i, DAT_DTO_ERR_FLUSHED);
  a_->ExpectDto(a_->recv_evd, a_->ep, 99, DAT_DTO_ERR_FLUSHED);
}

// covers: semantics 5.5
TEST_P(FlushTest, CompletionsFromBeforeTheEndAreKept) {
  const auto from = a_->MakeBuffer(8, 7), to = b_->MakeBuffer(8);
  for (uint64_t i = 0; i < 4; ++i) ASSERT_OK(PostRecv(b_->ep, {to->local()}, i));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_GRACEFUL_FLAG));
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  b_->ExpectDto(b_->recv_evd, b_->ep, 0);
  b_->ExpectDto(b_->recv_evd, b_->ep, 1);
  b_->ExpectDto(b_->recv_evd, b_->ep, 2, DAT_DTO_ERR_FLUSHED);
  b_->ExpectDto(b_->recv_evd, b_->ep, 3, DAT_DTO_ERR_FLUSHED);
}

// covers: semantics 8.3, 19
TEST_P(FlushTest, ResetInUnconnectedKeepsPostedReceives) {
  const DAT_EP_HANDLE active = a_->MakeEp(), passive = b_->MakeEp();
  const auto to = b_->MakeBuffer(8);
  ASSERT_OK(PostRecv(passive, {to->local()}, 4));
  ASSERT_OK(dat_ep_reset(passive));
  Join(*a_, active, *b_, passive);
  ASSERT_OK(PostSend(active, {}, 1));
  b_->ExpectDto(b_->recv_evd, passive, 4);
}

// covers: semantics 8.3, 19
TEST_P(FlushTest, AnEpMayBeFreedWithItsReceivesPosted) {
  const DAT_EP_HANDLE ep = a_->MakeEp();
  const auto memory = a_->MakeBuffer(8);
  for (uint64_t i = 0; i < 8; ++i) ASSERT_OK(PostRecv(ep, {memory->local()}, i));
  a_->FreeEp(ep);
}

// covers: semantics 8.1
TEST_P(FlushTest, IdleFlagsTellWhetherWorkIsOutstanding) {
  DAT_EP_STATE state = DAT_EP_STATE_UNCONNECTED;
  DAT_BOOLEAN recv_idle = DAT_FALSE, request_idle = DAT_FALSE;
  ASSERT_OK(dat_ep_get_status(a_->ep, &state, &recv_idle, &request_idle));
  EXPECT_EQ(recv_idle, DAT_TRUE);
  EXPECT_EQ(request_idle, DAT_TRUE);
  ASSERT_OK(PostRecv(a_->ep, {}, 1));
  ASSERT_OK(dat_ep_get_status(a_->ep, nullptr, &recv_idle, &request_idle));
  EXPECT_EQ(recv_idle, DAT_FALSE);
  EXPECT_EQ(request_idle, DAT_TRUE);
}

}  // namespace
}  // namespace softdat::conformance
