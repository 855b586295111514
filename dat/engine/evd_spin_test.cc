// SPDX-License-Identifier: BSD-3-Clause
// dat_evd_wait first waits actively if any completion ends the wait.
#include <gtest/gtest.h>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

using transport::ProgressResult;

class EvdSpinTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    Use(MakeEvd(DAT_EVD_DTO_FLAG));
    adapter().progress = [this](transport::Waiter* waiter, transport::Clock::time_point) {
      if (waiter == nullptr) return ProgressResult::kIdle;
      ++blocks_;
      spun_ = waiter->spun;
      Arrive();
      Arrive();
      return ProgressResult::kWorked;
    };
  }
  // Sets the EVD that is waited on, and its completion queue.
  void Use(DAT_EVD_HANDLE evd, DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG) {
    evd_ = recv_evd_ = evd;
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
    completion.solicited = true;
    cq_->Add(completion);
  }
  DAT_RETURN Wait(DAT_TIMEOUT timeout_us = DAT_TIMEOUT_INFINITE, DAT_COUNT threshold = 1) {
    DAT_EVENT event;
    DAT_COUNT nmore = 0;
    return slots::EvdWait(evd_, timeout_us, threshold, &event, &nmore);
  }

  DAT_EVD_HANDLE evd_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  FakeCompletionQueue* cq_ = nullptr;
  int spins_ = 0;
  int blocks_ = 0;
  bool spun_ = false;
};

TEST_F(EvdSpinTest, WhatComesMeanwhileIsTakenUnarmed) {
  adapter().spin = [this] {
    if (++spins_ < 3) return ProgressResult::kIdle;
    Arrive();
    return ProgressResult::kWorked;
  };
  EXPECT_EQ(Wait(), DAT_SUCCESS);
  EXPECT_EQ(spins_, 3);
  EXPECT_EQ(cq_->arms(), 0);
  EXPECT_EQ(blocks_, 0);
}

TEST_F(EvdSpinTest, ThenItBlocksAndTheBackEndKnowsIt) {
  adapter().spin = [this] {
    ++spins_;
    return ProgressResult::kTimedOut;
  };
  EXPECT_EQ(Wait(), DAT_SUCCESS);
  EXPECT_EQ(spins_, 1);
  EXPECT_EQ(cq_->arms(), 1);
  EXPECT_EQ(blocks_, 1);
  EXPECT_TRUE(spun_);
}

TEST_F(EvdSpinTest, DataForOthersDoNotKeepItFromItsDeadline) {
  adapter().spin = [this] {
    ++spins_;
    return ProgressResult::kWorked;
  };
  EXPECT_EQ(Wait(), DAT_SUCCESS);
  EXPECT_EQ(blocks_, 1);
  EXPECT_GT(spins_, 1);
}

// covers: semantics 5.3
TEST_F(EvdSpinTest, ASignalEndsIt) {
  adapter().spin = [this] {
    if (++spins_ == 1) {
      EXPECT_EQ(slots::EvdSetUnwaitable(evd_), DAT_SUCCESS);
    }
    return ProgressResult::kIdle;
  };
  EXPECT_EQ(Wait(), Ret(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_UNWAITABLE));
  EXPECT_EQ(spins_, 1);
}

TEST_F(EvdSpinTest, NotWithAThreshold) {
  adapter().spin = [this] {
    ++spins_;
    return ProgressResult::kTimedOut;
  };
  EXPECT_EQ(Wait(DAT_TIMEOUT_INFINITE, 2), DAT_SUCCESS);
  EXPECT_EQ(spins_, 0);
  EXPECT_FALSE(spun_);
}

TEST_F(EvdSpinTest, NotForSolicitedOnesOnly) {
  Use(MakeEvd(DAT_EVD_DTO_FLAG), DAT_COMPLETION_SOLICITED_WAIT_FLAG);
  adapter().spin = [this] {
    ++spins_;
    return ProgressResult::kTimedOut;
  };
  EXPECT_EQ(Wait(), DAT_SUCCESS);
  EXPECT_EQ(spins_, 0);
}

}  // namespace
}  // namespace softdat::engine::testing
