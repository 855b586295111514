// SPDX-License-Identifier: BSD-3-Clause
// What a waiting thread asks the back end for, and until when (semantics 5.3).
#include <gtest/gtest.h>

#include <vector>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

using transport::Clock;
using transport::ProgressResult;
using transport::Waiter;

class EvdWaitTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    adapter().now = Clock::time_point{} + std::chrono::hours(1);
    UseEp(DAT_COMPLETION_DEFAULT_FLAG);
  }
  // An EP whose receives complete on recv_evd_.
  void UseEp(DAT_COMPLETION_FLAGS flags) {
    DAT_EP_ATTR attr{};
    attr.service_type = DAT_SERVICE_TYPE_RC;
    attr.max_recv_dtos = attr.max_request_dtos = 4;
    attr.max_recv_iov = attr.max_request_iov = 1;
    attr.recv_completion_flags = flags;
    ep_ = MakeEp(&attr);
    ASSERT_NE(ep_, DAT_HANDLE_NULL);
    cq_ = static_cast<FakeCompletionQueue*>(adapter().last_qp().attributes.recv_cq);
  }
  void Arrive() {
    transport::Completion completion;
    completion.context = ep_;
    completion.op = transport::Op::kReceive;
    cq_->Add(completion);
  }
  DAT_RETURN Wait(DAT_TIMEOUT timeout_us, DAT_COUNT threshold = 1) {
    DAT_EVENT event;
    return slots::EvdWait(recv_evd_, timeout_us, threshold, &event, &nmore_);
  }

  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  FakeCompletionQueue* cq_ = nullptr;
  DAT_COUNT nmore_ = -1;
};

// Wake-ups below the threshold do not restart the time.
// covers: semantics 5.3
TEST_F(EvdWaitTest, AThresholdWaitKeepsItsDeadline) {
  const Clock::time_point end = *adapter().now + std::chrono::microseconds(1000);
  std::vector<Clock::time_point> deadlines;
  adapter().progress = [&](Waiter* waiter, Clock::time_point deadline) {
    if (waiter == nullptr) return ProgressResult::kIdle;
    deadlines.push_back(deadline);
    if (deadlines.size() == 3) {
      *adapter().now = deadline;
      return ProgressResult::kTimedOut;
    }
    *adapter().now += std::chrono::microseconds(400);
    Arrive();
    EXPECT_TRUE(waiter->signalled());
    return ProgressResult::kWorked;
  };
  EXPECT_EQ(Wait(1000, 3), Ret(DAT_TIMEOUT_EXPIRED));
  EXPECT_THAT(deadlines, ::testing::ElementsAre(end, end, end));
  EXPECT_EQ(nmore_, 2);
  EXPECT_EQ(Take(recv_evd_).size(), 2u) << "nothing is dequeued";
}

// covers: semantics 5.3, 10.2
TEST_F(EvdWaitTest, ForSolicitedOnesTheOthersDoNotEndIt) {
  ASSERT_EQ(slots::EpFree(ep_), DAT_SUCCESS);
  UseEp(DAT_COMPLETION_SOLICITED_WAIT_FLAG);
  int blocks = 0;
  adapter().progress = [&](Waiter* waiter, Clock::time_point) {
    if (waiter == nullptr) return ProgressResult::kIdle;
    ++blocks;
    Arrive();
    EXPECT_FALSE(waiter->signalled());
    return ProgressResult::kInterrupted;
  };
  EXPECT_EQ(Wait(DAT_TIMEOUT_INFINITE), Ret(DAT_INTERRUPTED_CALL));
  EXPECT_EQ(blocks, 1);
}

// The queue was armed for another kind of stream. What comes now must not be missed.
// covers: semantics 5.3
TEST_F(EvdWaitTest, AStreamThatComesMeanwhileIsWaitedFor) {
  ASSERT_EQ(slots::EpFree(ep_), DAT_SUCCESS);
  UseEp(DAT_COMPLETION_SOLICITED_WAIT_FLAG);
  int blocks = 0;
  adapter().progress = [&](Waiter* waiter, Clock::time_point) {
    if (waiter == nullptr) return ProgressResult::kIdle;
    if (++blocks == 1) {
      EXPECT_EQ(slots::EpFree(ep_), DAT_SUCCESS);
      EXPECT_FALSE(waiter->signalled());
      UseEp(DAT_COMPLETION_DEFAULT_FLAG);
    } else {
      Arrive();
    }
    if (waiter->signalled()) return ProgressResult::kWorked;
    ADD_FAILURE() << "the thread sleeps on, in call " << blocks;
    return ProgressResult::kInterrupted;
  };
  EXPECT_EQ(Wait(DAT_TIMEOUT_INFINITE), DAT_SUCCESS);
  EXPECT_EQ(blocks, 2);
}

}  // namespace
}  // namespace softdat::engine::testing
