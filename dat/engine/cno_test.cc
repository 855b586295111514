// SPDX-License-Identifier: BSD-3-Clause
// A CNO with a descriptor, whose consumer sleeps where the engine does not see it.
#include <gtest/gtest.h>
#include <poll.h>

#include <utility>

#include "dat/engine/events/cno_descriptor.h"
#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

class FdCnoTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    ep_ = MakeEp();
    const transport::QueuePairAttributes& attributes = adapter().last_qp().attributes;
    receives_ = static_cast<FakeCompletionQueue*>(attributes.recv_cq);
    requests_ = static_cast<FakeCompletionQueue*>(attributes.send_cq);
    ASSERT_EQ(slots::CnoFdCreate(ia_, &fd_, &cno_), DAT_SUCCESS);
    for (DAT_EVD_HANDLE evd : {recv_evd_, request_evd_})
      ASSERT_EQ(slots::EvdModifyCno(evd, cno_), DAT_SUCCESS);
  }
  void Arrive(FakeCompletionQueue* queue) {
    transport::Completion completion;
    completion.context = ep_;
    completion.op = queue == receives_ ? transport::Op::kReceive : transport::Op::kSend;
    queue->Add(completion);
  }
  bool Readable() const {
    pollfd p = {fd_, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
  }
  DAT_RETURN Collect() { return slots::CnoTrigger(cno_, &hint_); }

  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  FakeCompletionQueue* receives_ = nullptr;
  FakeCompletionQueue* requests_ = nullptr;
  DAT_CNO_HANDLE cno_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE hint_ = DAT_HANDLE_NULL;
  DAT_FD fd_ = -1;
  bool late_ = false;
};

// covers: semantics 6, 16.6
TEST_F(FdCnoTest, EachArrivalAfterACollectionIsTold) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(Readable());
    Arrive(receives_);
    EXPECT_TRUE(Readable());
    EXPECT_EQ(Collect(), DAT_SUCCESS);
    EXPECT_EQ(hint_, recv_evd_);
    EXPECT_EQ(Take(recv_evd_).size(), 1u);
  }
  EXPECT_EQ(Collect(), Ret(DAT_QUEUE_EMPTY));
}

// dat_cno_trigger looks at one EVD after the other, and meanwhile something arrives at one that it
// has already looked at. Its trigger is part of this collection, and the next arrival must still be
// told.
// covers: semantics 6
TEST_F(FdCnoTest, AnArrivalInTheMiddleOfACollectionDoesNotSilenceItsEvd) {
  Arrive(receives_);
  Arrive(requests_);
  ASSERT_TRUE(Readable());
  // Receives are looked at first, because they came first.
  requests_->on_armed = [this] {
    if (!std::exchange(late_, true)) Arrive(receives_);
  };
  EXPECT_EQ(Collect(), DAT_SUCCESS);
  EXPECT_TRUE(late_);
  EXPECT_EQ(Take(recv_evd_).size(), 2u);
  EXPECT_EQ(Take(request_evd_).size(), 1u);
  while (Readable()) Collect();
  EXPECT_TRUE(Take(recv_evd_).empty());

  Arrive(receives_);
  EXPECT_TRUE(Readable());
  EXPECT_EQ(Collect(), DAT_SUCCESS);
  EXPECT_EQ(Take(recv_evd_).size(), 1u);
}

// A back end that lets data wake the program. An eventfd is its socket.
class ProgressCnoTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    ASSERT_TRUE(socket_.Open());
    adapter().progress_descriptor = socket_.consumers();
    adapter().look_around = [this] {
      ++looks_;
      socket_.Clear();
      if (!std::exchange(arriving_, false)) return transport::ProgressResult::kIdle;
      receives_->Add(transport::Completion{.context = ep_});
      return transport::ProgressResult::kWorked;
    };
    ep_ = MakeEp();
    receives_ = static_cast<FakeCompletionQueue*>(adapter().last_qp().attributes.recv_cq);
  }
  static bool Readable(DAT_FD fd) {
    pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
  }

  CnoDescriptor socket_;
  bool arriving_ = false;
  int looks_ = 0;
  DAT_EP_HANDLE ep_ = DAT_HANDLE_NULL;
  FakeCompletionQueue* receives_ = nullptr;
};

// covers: semantics 6
TEST_F(ProgressCnoTest, DataWakeTheProgramAndTheCallMovesThem) {
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_EQ(slots::CnoFdCreate(ia_, &fd, &cno), DAT_SUCCESS);
  ASSERT_EQ(slots::EvdModifyCno(recv_evd_, cno), DAT_SUCCESS);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_FALSE(Readable(fd));
    socket_.Set();
    arriving_ = true;
    EXPECT_TRUE(Readable(fd));
    DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
    EXPECT_EQ(slots::CnoTrigger(cno, &hint), DAT_SUCCESS);
    EXPECT_EQ(hint, recv_evd_);
    EXPECT_EQ(looks_, i);
    EXPECT_EQ(Take(recv_evd_).size(), 1u);
  }
  // What is already there needs no LookAround().
  receives_->Add(transport::Completion{.context = ep_});
  EXPECT_TRUE(Readable(fd));
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  EXPECT_EQ(slots::CnoTrigger(cno, &hint), DAT_SUCCESS);
  EXPECT_EQ(looks_, 3);
  EXPECT_EQ(Take(recv_evd_).size(), 1u);
}

// Data wake every program that sleeps on them, whoever they are for. So one CNO at a time has them.
TEST_F(ProgressCnoTest, OneCnoAtATime) {
  DAT_FD first = -1, second = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL, other = DAT_HANDLE_NULL;
  ASSERT_EQ(slots::CnoFdCreate(ia_, &first, &cno), DAT_SUCCESS);
  ASSERT_EQ(slots::CnoFdCreate(ia_, &second, &other), DAT_SUCCESS);
  socket_.Set();
  EXPECT_TRUE(Readable(first));
  EXPECT_FALSE(Readable(second));
  DAT_EVD_HANDLE hint = DAT_HANDLE_NULL;
  EXPECT_EQ(slots::CnoTrigger(other, &hint), Ret(DAT_QUEUE_EMPTY));
  EXPECT_EQ(looks_, 0);
  ASSERT_EQ(slots::CnoFree(cno), DAT_SUCCESS);
  ASSERT_EQ(slots::CnoFdCreate(ia_, &first, &cno), DAT_SUCCESS);
  EXPECT_TRUE(Readable(first));
}

}  // namespace
}  // namespace softdat::engine::testing
