// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues: whose buffer a message takes, whose completion it is, the counts, the
// watermarks (semantics 11).
#include <algorithm>
#include <chrono>
#include <cstring>

#include "tests/conformance/fixture.h"
#include "tests/conformance/returns.h"

namespace softdat::conformance {
namespace {

constexpr size_t kSlot = 32;

// b's EPs use an SRQ; a's EPs send to them.
class SrqTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    ASSERT_OK(dat_ia_query(b_->ia, nullptr, 0, nullptr, DAT_PROVIDER_FIELD_ALL, &provider_));
    DAT_SRQ_ATTR attr{8, 2, DAT_SRQ_LW_DEFAULT};
    ASSERT_OK(dat_srq_create(b_->ia, b_->pz, &attr, &srq_));
    memory_ = b_->MakeBuffer(8 * kSlot);
    source_ = a_->MakeBuffer(kSlot, 0x5A);
  }
  void TearDown() override {
    for (const DAT_EP_HANDLE ep : srq_eps_) EXPECT_OK(dat_ep_free(ep));
    if (srq_ != DAT_HANDLE_NULL) {
      EXPECT_OK(dat_srq_free(srq_));
    }
    memory_.reset();
    source_.reset();
    ConformanceTest::TearDown();
  }

  static DAT_EP_ATTR EpAttributes() {
    DAT_EP_ATTR attr;
    std::memset(&attr, 0, sizeof attr);
    attr.service_type = DAT_SERVICE_TYPE_RC;
    attr.max_recv_dtos = attr.max_request_dtos = 8;
    attr.max_request_iov = 1;
    return attr;
  }
  DAT_EP_HANDLE MakeSrqEp(const DAT_EP_ATTR& attr = EpAttributes()) {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create_with_srq(b_->ia, b_->pz, b_->recv_evd, b_->request_evd, b_->connect_evd,
                                     srq_, &attr, &ep));
    srq_eps_.push_back(ep);
    return ep;
  }
  void FreeSrqEp(DAT_EP_HANDLE ep) {
    std::erase(srq_eps_, ep);
    EXPECT_OK(dat_ep_free(ep));
  }
  DAT_RETURN Post(uint64_t slot) {
    DAT_LMR_TRIPLET iov = memory_->local(slot * kSlot, kSlot);
    return dat_srq_post_recv(srq_, 1, &iov, Cookie(slot));
  }
  DAT_RETURN Send(DAT_EP_HANDLE ep) { return PostSend(ep, {source_->local()}, 1); }
  DAT_SRQ_PARAM Query() {
    DAT_SRQ_PARAM param{};
    EXPECT_OK(dat_srq_query(srq_, DAT_SRQ_FIELD_ALL, &param));
    return param;
  }
  void ExpectCounts(DAT_COUNT available, DAT_COUNT outstanding) {
    const DAT_SRQ_PARAM param = Query();
    EXPECT_EQ(param.available_dto_count, available);
    EXPECT_EQ(param.outstanding_dto_count, outstanding);
  }
  // Moves data, but reaps no receive, until a message took a buffer.
  void AwaitAvailable(DAT_COUNT available) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatienceUs);
    while (Query().available_dto_count != available) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      DAT_EVENT event{};
      ASSERT_NE(dat_evd_dequeue(b_->connect_evd, &event), DAT_SUCCESS);
    }
  }
  bool Watermarks() const { return (provider_.srq_watermarks_supported & 6) == 6; }
  void ExpectSoftNotice(DAT_EP_HANDLE ep) { ExpectAsync(ep, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT); }

  void ExpectAsync(DAT_HANDLE of, DAT_COUNT reason) {
    const auto data =
        b_->Expect(b_->async_evd, DAT_ASYNC_ERROR_EP_BROKEN).event_data.asynch_error_event_data;
    EXPECT_EQ(data.dat_handle, of);
    EXPECT_EQ(data.reason, reason);
  }
  // Sends one message from a_'s EP, which takes the oldest buffer.
  void Consume(DAT_EP_HANDLE ep, uint64_t cookie) {
    ASSERT_OK(Send(a_->ep));
    b_->ExpectDto(b_->recv_evd, ep, cookie);
  }
  // Ends the connection. The asynchronous EVD reports the end, and nothing before it.
  void ExpectNoNoticeUntilTheEnd(DAT_EP_HANDLE ep) {
    ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    b_->ExpectConnection(ep, DAT_CONNECTION_EVENT_DISCONNECTED);
    ExpectAsync(ep, DAT_EP_TRANSFER_TO_ERROR);
    EXPECT_TRUE(Side::Drain(b_->async_evd).empty());
  }

  DAT_PROVIDER_ATTR provider_{};
  DAT_SRQ_HANDLE srq_ = DAT_HANDLE_NULL;
  std::unique_ptr<Buffer> memory_;
  std::unique_ptr<Buffer> source_;
  std::vector<DAT_EP_HANDLE> srq_eps_;
};

CONFORMANCE_ALL_VARIANTS(SrqTest);

// covers: semantics 11, 19
TEST_P(SrqTest, CompletionsNameTheEpThatTookTheBuffer) {
  const DAT_EP_HANDLE first = MakeSrqEp(), second = MakeSrqEp();
  const DAT_EP_HANDLE other = a_->MakeEp();
  Join(*a_, a_->ep, *b_, first);
  Join(*a_, other, *b_, second);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(Post(i));
  ASSERT_OK(Send(other));
  const auto one =
      b_->Expect(b_->recv_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
  EXPECT_EQ(one.ep_handle, second);
  EXPECT_EQ(one.transfered_length, kSlot);
  ASSERT_OK(Send(a_->ep));
  const auto two =
      b_->Expect(b_->recv_evd, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data;
  EXPECT_EQ(two.ep_handle, first);
  EXPECT_NE(one.user_cookie.as_64, two.user_cookie.as_64);
  EXPECT_EQ(Query().available_dto_count, 0);
}

// covers: semantics 11
TEST_P(SrqTest, AReceiveIsOutstandingUntilItsCompletionIsReaped) {
  EXPECT_EQ(provider_.srq_info_supported, 3);
  const DAT_EP_HANDLE ep = MakeSrqEp();
  Join(*a_, a_->ep, *b_, ep);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(Post(i));
  ExpectCounts(3, 3);
  ASSERT_OK(Send(a_->ep));
  AwaitAvailable(2);
  ExpectCounts(2, 3);
  b_->ExpectDto(b_->recv_evd, ep, 0);
  ExpectCounts(2, 2);
  // Two arrive at once, and one of them stays in the EVD.
  for (int i = 0; i < 2; ++i) ASSERT_OK(Send(a_->ep));
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  ASSERT_OK(dat_evd_wait(b_->recv_evd, kPatienceUs, 2, &event, &more));
  EXPECT_EQ(more, 1);
  ExpectCounts(0, 1);
  b_->ExpectDto(b_->recv_evd, ep, 2);
  ExpectCounts(0, 0);
  EXPECT_NE(dat_srq_post_recv(srq_, 3, nullptr, Cookie(0)), DAT_SUCCESS);
  ExpectCounts(0, 0);
}

// covers: semantics 11
TEST_P(SrqTest, WhatAFreedEpLeftUnreapedIsOutstandingToo) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  Join(*a_, a_->ep, *b_, ep);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(Post(i));
  ASSERT_OK(Send(a_->ep));
  AwaitAvailable(2);
  FreeSrqEp(ep);
  ExpectCounts(2, 3);
  // Another EP on the same EVD does not change this.
  MakeSrqEp();
  ExpectCounts(2, 3);
  b_->ExpectDto(b_->recv_evd, ep, 0);
  ExpectCounts(2, 2);
}

// covers: semantics 11
TEST_P(SrqTest, AFreedEvdGivesBackWhatItHeld) {
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(b_->ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
  const DAT_EP_ATTR attr = EpAttributes();
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ep_create_with_srq(b_->ia, b_->pz, evd, b_->request_evd, b_->connect_evd, srq_,
                                   &attr, &ep));
  Join(*a_, a_->ep, *b_, ep);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(Post(i));
  ASSERT_OK(Send(a_->ep));
  AwaitAvailable(1);
  ASSERT_OK(dat_ep_free(ep));
  ExpectCounts(1, 2);
  ASSERT_OK(dat_evd_free(evd));
  ExpectCounts(1, 1);
}

// covers: semantics 11
TEST_P(SrqTest, ReceiveQueryOfAnEp) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  Join(*a_, a_->ep, *b_, ep);
  ASSERT_OK(Post(0));
  DAT_COUNT held = -2, span = -2;
  ASSERT_OK(dat_ep_recv_query(ep, &held, &span));
  EXPECT_EQ(held, 0) << "a posted buffer belongs to the SRQ until a message takes it";
  EXPECT_EQ(span, 0);
  ASSERT_OK(Send(a_->ep));
  b_->ExpectDto(b_->recv_evd, ep, 0);
  EXPECT_OK(dat_ep_recv_query(ep, nullptr, nullptr));
  ASSERT_OK(dat_ep_recv_query(ep, &held, &span));
  EXPECT_EQ(held, 0);
  // Without an SRQ a receive belongs to the EP from its post on.
  const auto to = b_->MakeBuffer(2 * kSlot);
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(PostRecv(b_->ep, {to->local(i * kSlot, kSlot)}, i));
  ASSERT_OK(dat_ep_recv_query(b_->ep, &held, nullptr));
  EXPECT_EQ(held, 2);
  ASSERT_OK(dat_ep_recv_query(b_->ep, nullptr, &span));
  EXPECT_EQ(span, 2);
  EXPECT_EQ(provider_.ep_recv_info_supported, 3);
}

// covers: semantics 11
TEST_P(SrqTest, TheSoftHighWatermarkIsToldOncePerSetting) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  if (!Watermarks()) {
    EXPECT_TYPE(dat_ep_set_watermark(ep, 0, DAT_WATERMARK_INFINITE), DAT_MODEL_NOT_SUPPORTED);
    return;
  }
  ASSERT_OK(dat_ep_set_watermark(ep, 0, DAT_WATERMARK_INFINITE));
  DAT_EP_PARAM param{};
  ASSERT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.ep_attr.srq_soft_hw, 0);
  Join(*a_, a_->ep, *b_, ep);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(Post(i));
  for (uint64_t i = 0; i < 2; ++i) {
    ASSERT_OK(Send(a_->ep));
    b_->ExpectDto(b_->recv_evd, ep, i);
  }
  ExpectSoftNotice(ep);
  ASSERT_OK(dat_ep_set_watermark(ep, 0, DAT_WATERMARK_INFINITE));
  EXPECT_TRUE(Side::Drain(b_->async_evd).empty());
  Consume(ep, 2);
  ExpectSoftNotice(ep);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_CONNECTED);
  ExpectNoNoticeUntilTheEnd(ep);
}

// covers: semantics 11
TEST_P(SrqTest, AsManyAsTheLowWatermarkIsNotBelowIt) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  Join(*a_, a_->ep, *b_, ep);
  for (uint64_t i = 0; i < 5; ++i) ASSERT_OK(Post(i));
  ASSERT_OK(dat_srq_set_lw(srq_, 3));
  EXPECT_EQ(Query().low_watermark, 3);
  for (uint64_t i = 0; i < 2; ++i) Consume(ep, i);
  ExpectCounts(3, 3);
  ExpectNoNoticeUntilTheEnd(ep);
}

// covers: semantics 11
TEST_P(SrqTest, BelowTheLowWatermarkIsToldOncePerSetting) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  Join(*a_, a_->ep, *b_, ep);
  for (uint64_t i = 0; i < 5; ++i) ASSERT_OK(Post(i));
  ASSERT_OK(dat_srq_set_lw(srq_, 3));
  for (uint64_t i = 0; i < 3; ++i) Consume(ep, i);
  ExpectAsync(srq_, DAT_SRQ_LOW_WATERMARK_EVENT);
  // The count goes further below, and comes from above once more, but the event has already been
  // reported.
  Consume(ep, 3);
  for (uint64_t i = 0; i < 3; ++i) ASSERT_OK(Post(i));
  ExpectCounts(4, 4);
  Consume(ep, 4);
  for (uint64_t i = 0; i < 2; ++i) Consume(ep, i);
  EXPECT_TRUE(Side::Drain(b_->async_evd).empty());
  // A watermark that is set anew is reported anew. One that is set to 0 is not.
  for (uint64_t i = 3; i < 5; ++i) ASSERT_OK(Post(i));
  ExpectCounts(3, 3);
  ASSERT_OK(dat_srq_set_lw(srq_, 3));
  Consume(ep, 2);
  ExpectAsync(srq_, DAT_SRQ_LOW_WATERMARK_EVENT);
  ASSERT_OK(dat_srq_set_lw(srq_, 2));
  ASSERT_OK(dat_srq_set_lw(srq_, 0));
  for (uint64_t i = 3; i < 5; ++i) Consume(ep, i);
  ExpectNoNoticeUntilTheEnd(ep);
}

// covers: semantics 11
TEST_P(SrqTest, AboveTheHardHighWatermarkTheConnectionBreaks) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  if (!Watermarks()) {
    EXPECT_TYPE(dat_ep_set_watermark(ep, DAT_WATERMARK_INFINITE, 0), DAT_MODEL_NOT_SUPPORTED);
    return;
  }
  Join(*a_, a_->ep, *b_, ep);
  ASSERT_OK(Post(0));
  ASSERT_OK(Send(a_->ep));
  b_->ExpectDto(b_->recv_evd, ep, 0);
  ASSERT_OK(Post(1));
  ASSERT_OK(Post(2));
  ASSERT_OK(dat_ep_set_watermark(ep, DAT_WATERMARK_INFINITE, 0));
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_CONNECTED) << "nothing is held yet";
  ASSERT_OK(Send(a_->ep));
  b_->ExpectConnection(ep, DAT_CONNECTION_EVENT_BROKEN);
  b_->ExpectDto(b_->recv_evd, ep, 1, DAT_DTO_ERR_FLUSHED);
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(StateOf(ep), DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(Query().available_dto_count, 1) << "the free buffer stays in the SRQ";
}

// covers: semantics 8.1, 11
TEST_P(SrqTest, TheSoftHighWatermarkAsAnAttribute) {
  DAT_EP_ATTR attr = EpAttributes();
  attr.srq_soft_hw = DAT_HW_DEFAULT;
  const DAT_EP_HANDLE ep = MakeSrqEp(attr);
  DAT_EP_PARAM param{};
  param.ep_attr.srq_soft_hw = 3;
  if (!Watermarks()) {
    EXPECT_TYPE(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, &param),
                DAT_MODEL_NOT_SUPPORTED);
    return;
  }
  ASSERT_OK(dat_ep_modify(ep, DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, &param));
  param = {};
  ASSERT_OK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.ep_attr.srq_soft_hw, 3);
  attr.srq_soft_hw = 2;
  ASSERT_OK(dat_ep_query(MakeSrqEp(attr), DAT_EP_FIELD_ALL, &param));
  EXPECT_EQ(param.ep_attr.srq_soft_hw, 2);
  attr.srq_soft_hw = -7;
  DAT_EP_HANDLE bad = DAT_HANDLE_NULL;
  EXPECT_RETURN(dat_ep_create_with_srq(b_->ia, b_->pz, b_->recv_evd, b_->request_evd,
                                       b_->connect_evd, srq_, &attr, &bad),
                BadArgument(7));
}

// covers: semantics 11
TEST_P(SrqTest, WatermarksAreForEpsWithAnSrq) {
  EXPECT_TYPE(dat_ep_set_watermark(b_->ep, 1, 1), DAT_MODEL_NOT_SUPPORTED);
  EXPECT_RETURN(dat_ep_set_watermark(b_->ep, -2, 1), BadArgument(2));
  EXPECT_RETURN(dat_ep_set_watermark(b_->ep, 1, -2), BadArgument(3));
}

}  // namespace
}  // namespace softdat::conformance
