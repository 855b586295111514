// SPDX-License-Identifier: BSD-3-Clause
// Shared receive queues, and endpoints that use one (semantics 11, 5.8).
#include <cstring>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

class SrqTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    ASSERT_EQ(slots::SrqCreate(ia_, pz_, &srq_attr_, &srq_), DAT_SUCCESS);
    std::memset(&attr_, 0, sizeof(attr_));
    attr_.max_recv_dtos = attr_.max_request_dtos = 10;
    attr_.max_request_iov = 1;
  }
  DAT_EP_HANDLE MakeSrqEp() {
    DAT_EP_HANDLE ep = nullptr;
    EXPECT_EQ(
        slots::EpCreateWithSrq(ia_, pz_, recv_evd_, request_evd_, connect_evd_, srq_, &attr_, &ep),
        DAT_SUCCESS);
    return ep;
  }
  DAT_RETURN Post(DAT_COUNT n = 1) { return slots::SrqPostRecv(srq_, n, iov_, cookie_); }

  DAT_SRQ_ATTR srq_attr_{3, 2, DAT_SRQ_LW_DEFAULT};
  DAT_SRQ_HANDLE srq_ = nullptr;
  DAT_EP_ATTR attr_;
  DAT_LMR_TRIPLET iov_[3] = {};
};

// covers: semantics 11
TEST_F(SrqTest, CreateArguments) {
  DAT_SRQ_HANDLE srq = nullptr;
  const auto create = [&](DAT_COUNT dtos, DAT_COUNT iov, DAT_COUNT low) {
    DAT_SRQ_ATTR attr{dtos, iov, low};
    return slots::SrqCreate(ia_, pz_, &attr, &srq);
  };
  EXPECT_EQ(create(0, 1, 0), Arg(3));
  EXPECT_EQ(create(-1, 1, 0), Arg(3));
  EXPECT_EQ(create(1025, 1, 0), Arg(3));
  EXPECT_EQ(create(1, 0, 0), Arg(3));
  EXPECT_EQ(create(1, 9, 0), Arg(3));
  EXPECT_EQ(create(1, 1, 1), Arg(3));
  EXPECT_EQ(slots::SrqCreate(pz_, pz_, &srq_attr_, &srq),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
  EXPECT_EQ(slots::SrqCreate(ia_, ia_, &srq_attr_, &srq),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
  EXPECT_EQ(slots::SrqCreate(ia_, pz_, nullptr, &srq), Arg(3));
  EXPECT_EQ(slots::SrqCreate(ia_, pz_, &srq_attr_, nullptr), Arg(4));
  adapter().limits.srq = false;
  EXPECT_EQ(create(1, 1, 0), Ret(DAT_MODEL_NOT_SUPPORTED));
  EXPECT_EQ(srq, nullptr);
}

// covers: semantics 11
TEST_F(SrqTest, PostUntilFull) {
  cookie_.as_64 = 0xfedcba9876543210;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Post(), DAT_SUCCESS);
  EXPECT_EQ(Post(), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ));
  EXPECT_EQ(adapter().last_srq->cookies.front(), 0xfedcba9876543210u);
  EXPECT_EQ(Post(3), Arg(2));
  EXPECT_EQ(Post(-1), Arg(2));
  EXPECT_EQ(slots::SrqPostRecv(srq_, 1, nullptr, cookie_), Arg(3));
  EXPECT_EQ(slots::SrqPostRecv(pz_, 1, iov_, cookie_),
            Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
}

// covers: semantics 11
TEST_F(SrqTest, Query) {
  Post();
  Post();
  DAT_SRQ_PARAM param{};
  ASSERT_EQ(slots::SrqQuery(srq_, DAT_SRQ_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.srq_state, DAT_SRQ_STATE_OPERATIONAL);
  EXPECT_EQ(param.pz_handle, pz_);
  EXPECT_EQ(param.max_recv_dtos, 3);
  EXPECT_EQ(param.max_recv_iov, 2);
  EXPECT_EQ(param.low_watermark, 0);
  EXPECT_EQ(param.available_dto_count, 2);
  EXPECT_EQ(slots::SrqQuery(srq_, static_cast<DAT_SRQ_PARAM_MASK>(0x100), &param), Arg(2));
  EXPECT_EQ(slots::SrqQuery(srq_, DAT_SRQ_FIELD_ALL, nullptr), Arg(3));
}

// covers: semantics 11
TEST_F(SrqTest, Resize) {
  ASSERT_EQ(slots::SrqResize(srq_, 5), DAT_SUCCESS);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(Post(), DAT_SUCCESS);
  EXPECT_EQ(DAT_GET_TYPE(slots::SrqResize(srq_, 4)), DAT_GET_TYPE(DAT_INVALID_STATE));
  EXPECT_EQ(slots::SrqResize(srq_, 0), Arg(2));
  EXPECT_EQ(slots::SrqResize(srq_, 5000), Ret(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_SRQ));
  ASSERT_EQ(slots::SrqSetLw(srq_, 5), DAT_SUCCESS);
  ASSERT_EQ(slots::SrqResize(srq_, 6), DAT_SUCCESS);
  EXPECT_EQ(slots::SrqResize(srq_, 4), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_OPERATIONAL));
}

// covers: semantics 11
TEST_F(SrqTest, LowWatermarkNotice) {
  ASSERT_EQ(slots::SrqSetLw(srq_, 2), DAT_SUCCESS);
  EXPECT_EQ(adapter().last_srq->limit, 2u);
  adapter().last_srq->sink->OnLimit();
  const std::vector<DAT_EVENT> events = Take(async_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_number, DAT_ASYNC_ERROR_EP_BROKEN);
  EXPECT_EQ(events[0].event_data.asynch_error_event_data.dat_handle, srq_);
  EXPECT_EQ(events[0].event_data.asynch_error_event_data.reason, DAT_SRQ_LOW_WATERMARK_EVENT);
  EXPECT_EQ(slots::SrqSetLw(srq_, 4), Arg(2));
  EXPECT_EQ(slots::SrqSetLw(srq_, -1), Arg(2));
}

// covers: semantics 3.1, 11
TEST_F(SrqTest, InUseByEpAndZoneInUseBySrq) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  EXPECT_EQ(slots::SrqFree(srq_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE));
  ASSERT_EQ(slots::EpFree(ep), DAT_SUCCESS);
  EXPECT_EQ(slots::PzFree(pz_), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
  EXPECT_EQ(slots::SrqFree(srq_), DAT_SUCCESS);
  EXPECT_EQ(slots::SrqFree(srq_), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
  EXPECT_EQ(slots::PzFree(pz_), DAT_SUCCESS);
}

// covers: semantics 8.1, 11
TEST_F(SrqTest, EpWithSrq) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  EXPECT_NE(adapter().last_qp().attributes.srq, nullptr);
  EXPECT_EQ(adapter().last_qp().attributes.max_recv, 0u);
  EXPECT_EQ(slots::EpPostRecv(ep, 1, iov_, cookie_, DAT_COMPLETION_DEFAULT_FLAG),
            Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_SRQ_IN_USE));
  DAT_EP_PARAM param;
  ASSERT_EQ(slots::EpQuery(ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.srq_handle, srq_);
}

// covers: semantics 8.1, 17
TEST_F(SrqTest, EpWithSrqArguments) {
  DAT_EP_HANDLE ep;
  const auto create = [&](DAT_PZ_HANDLE pz, DAT_SRQ_HANDLE srq, const DAT_EP_ATTR* attr,
                          DAT_EP_HANDLE* out) {
    return slots::EpCreateWithSrq(ia_, pz, recv_evd_, request_evd_, connect_evd_, srq, attr, out);
  };
  DAT_PZ_HANDLE other;
  ASSERT_EQ(slots::PzCreate(ia_, &other), DAT_SUCCESS);
  EXPECT_EQ(create(pz_, nullptr, &attr_, &ep), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
  EXPECT_EQ(create(pz_, pz_, &attr_, &ep), Ret(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_SRQ));
  EXPECT_EQ(create(pz_, srq_, nullptr, &ep), Arg(7));
  EXPECT_EQ(create(pz_, srq_, &attr_, nullptr), Arg(8));
  EXPECT_EQ(create(other, srq_, &attr_, &ep), Arg(2));
  attr_.max_request_dtos = -1;
  EXPECT_EQ(create(pz_, srq_, &attr_, &ep), Arg(7));
  attr_.max_request_dtos = 1;
  ASSERT_EQ(create(nullptr, srq_, &attr_, &ep), DAT_SUCCESS);
  DAT_EP_PARAM param{};
  param.pz_handle = other;
  EXPECT_EQ(slots::EpModify(ep, DAT_EP_FIELD_PZ_HANDLE, &param), Arg(3));
  param.pz_handle = pz_;
  EXPECT_EQ(slots::EpModify(ep, DAT_EP_FIELD_PZ_HANDLE, &param), DAT_SUCCESS);
}

// dtestsrq waits for this event without limit after each disconnect.
// covers: semantics 5.8, 19
TEST_F(SrqTest, EndOfAConnectionIsAnAsynchronousEventToo) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  ASSERT_EQ(Connect(ep), DAT_SUCCESS);
  adapter().last_qp().sink().OnEstablished({});
  EXPECT_TRUE(Take(async_evd_).empty());
  adapter().last_qp().sink().OnEnded(transport::EndReason::kDisconnected, "test");
  adapter().last_qp().sink().OnEnded(transport::EndReason::kDisconnected, "test");
  const std::vector<DAT_EVENT> events = Take(async_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_number, DAT_ASYNC_ERROR_EP_BROKEN);
  EXPECT_EQ(events[0].event_data.asynch_error_event_data.dat_handle, ep);
}

// Flushed receives and those with immediate data count. Sends do not, and neither do receives of an
// EP without an SRQ.
// covers: semantics 11
TEST_F(SrqTest, OutstandingUntilReaped) {
  const DAT_EP_HANDLE ep = MakeSrqEp(), other = MakeEp();
  const auto outstanding = [this] {
    DAT_SRQ_PARAM param{};
    EXPECT_EQ(slots::SrqQuery(srq_, DAT_SRQ_FIELD_ALL, &param), DAT_SUCCESS);
    return param.outstanding_dto_count;
  };
  const auto complete = [this](DAT_EP_HANDLE of, transport::Op op, transport::WorkStatus status) {
    transport::Completion c;
    c.context = of;
    c.op = op;
    c.status = status;
    static_cast<FakeCompletionQueue*>(adapter().last_qp().attributes.recv_cq)->Add(c);
  };
  for (int i = 0; i < 3; ++i) ASSERT_EQ(Post(), DAT_SUCCESS);
  EXPECT_NE(Post(), DAT_SUCCESS);
  EXPECT_EQ(outstanding(), 3) << "a refused post does not count";
  while (!adapter().last_srq->cookies.empty()) adapter().last_srq->cookies.pop_back();
  complete(ep, transport::Op::kSend, transport::WorkStatus::kSuccess);
  complete(other, transport::Op::kReceive, transport::WorkStatus::kSuccess);
  complete(ep, transport::Op::kReceive, transport::WorkStatus::kFlushed);
  complete(ep, transport::Op::kReceiveImmediate, transport::WorkStatus::kSuccess);
  complete(ep, transport::Op::kReceiveInvalidate, transport::WorkStatus::kSuccess);
  EXPECT_EQ(outstanding(), 3);
  for (const int left : {3, 3, 2, 1, 0}) {
    DAT_EVENT event;
    ASSERT_EQ(slots::EvdDequeue(recv_evd_, &event), DAT_SUCCESS);
    EXPECT_EQ(outstanding(), left);
  }
}

// covers: semantics 11
TEST_F(SrqTest, WatermarksOfTheEp) {
  const DAT_EP_HANDLE ep = MakeSrqEp();
  ASSERT_EQ(slots::EpSetWatermark(ep, 3, DAT_WATERMARK_INFINITE), DAT_SUCCESS);
  EXPECT_EQ(adapter().last_qp().calls.back(), "watermarks 3 4294967295");
  EXPECT_EQ(slots::EpSetWatermark(ep, -2, 1), Arg(2));
  EXPECT_EQ(slots::EpSetWatermark(ep, 1, -2), Arg(3));
  adapter().last_qp().sink().OnReceiveWatermark();
  const std::vector<DAT_EVENT> events = Take(async_evd_);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].event_data.asynch_error_event_data.dat_handle, ep);
  EXPECT_EQ(events[0].event_data.asynch_error_event_data.reason, DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT);
  EXPECT_EQ(slots::EpSetWatermark(MakeEp(), 3, 5), Ret(DAT_MODEL_NOT_SUPPORTED));
  adapter().limits.receive_watermarks = false;
  EXPECT_EQ(slots::EpSetWatermark(ep, 3, 5), Ret(DAT_MODEL_NOT_SUPPORTED));
}

// srq_soft_hw of the attributes arms the soft watermark, at creation and by dat_ep_modify.
// covers: semantics 8.1, 11
TEST_F(SrqTest, SoftWatermarkByAttribute) {
  attr_.srq_soft_hw = 4;
  const DAT_EP_HANDLE ep = MakeSrqEp();
  EXPECT_EQ(adapter().last_qp().calls.back(), "watermarks 4 4294967295");
  ASSERT_EQ(slots::EpSetWatermark(ep, 3, 9), DAT_SUCCESS);
  DAT_EP_PARAM param{};
  ASSERT_EQ(slots::EpQuery(ep, DAT_EP_FIELD_ALL, &param), DAT_SUCCESS);
  EXPECT_EQ(param.ep_attr.srq_soft_hw, 3);
  param.ep_attr.srq_soft_hw = 5;
  ASSERT_EQ(slots::EpModify(ep, DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, &param), DAT_SUCCESS);
  EXPECT_EQ(adapter().last_qp().calls.back(), "watermarks 5 9") << "the hard one stays";
  adapter().limits.receive_watermarks = false;
  DAT_EP_HANDLE other = nullptr;
  EXPECT_EQ(
      slots::EpCreateWithSrq(ia_, pz_, recv_evd_, request_evd_, connect_evd_, srq_, &attr_, &other),
      Ret(DAT_MODEL_NOT_SUPPORTED));
}

}  // namespace
}  // namespace softdat::engine::testing
