// SPDX-License-Identifier: BSD-3-Clause
// Contract: shared receive queues. For back ends with srq.
#include <set>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

class TestSharedSink : public SharedReceiveSink {
 public:
  void OnLimit() override { limits.fetch_add(1); }
  std::atomic<int> limits{0};
};

class SharedReceiveTester : public ContractTest {
 protected:
  void SetUp() override {
    ContractTest::SetUp();
    auto srq = adapter_->CreateSharedReceiveQueue(*pd_, 8, 2, &sink_);
    ASSERT_TRUE(srq.ok()) << srq.status().reason();
    srq_ = srq.Take();
    memory_ = MakeMemory(*pd_, 8 * 16);
  }
  void TearDown() override {
    pairs_.clear();
    srq_.reset();
    memory_.reset();
    ContractTest::TearDown();
  }
  Code PostShared(uint64_t slot) {
    const DAT_LMR_TRIPLET local = memory_->local(slot % 8 * 16, 16);
    return srq_->PostReceive({slot, {&local, 1}});
  }
  // Makes a sender that is connected to a pair which draws from the queue. Returns both.
  std::pair<TestPair*, TestPair*> Join2() {
    pairs_.push_back(MakePair(pd_.get()));
    pairs_.push_back(MakePair(pd_.get(), srq_.get()));
    TestPair* const sender = pairs_[pairs_.size() - 2].get();
    TestPair* const receiver = pairs_.back().get();
    Join(*sender, *receiver);
    return {sender, receiver};
  }

  TestSharedSink sink_;
  std::unique_ptr<SharedReceiveQueue> srq_;
  std::unique_ptr<TestMemory> memory_;
  std::vector<std::unique_ptr<TestPair>> pairs_;
};

// covers: semantics 11
TEST_F(SharedReceiveTester, ManyPairsShareTheBuffersAndCompleteOnTheirOwnQueue) {
  const auto [s1, r1] = Join2();
  const auto [s2, r2] = Join2();
  for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(PostShared(i), Code::kOk);
  EXPECT_EQ(srq_->Available(), 4u);
  for (TestPair* sender : {s1, s2, s1, s2}) ASSERT_EQ(PostSend(*sender, {}), Code::kOk);
  std::set<uint64_t> cookies;
  for (TestPair* receiver : {r1, r2, r1, r2}) {
    const Completion got = Next(*receiver->recv_queue);
    EXPECT_EQ(got.context, receiver);
    EXPECT_EQ(got.status, WorkStatus::kSuccess);
    cookies.insert(got.cookie);
  }
  EXPECT_EQ(cookies, (std::set<uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(srq_->Available(), 0u);
}

// covers: semantics 10.5, 11
TEST_F(SharedReceiveTester, AMessageWaitsForASharedBuffer) {
  const auto [sender, receiver] = Join2();
  ASSERT_EQ(PostSend(*sender, {}), Code::kOk);
  EXPECT_TRUE(Drain(*receiver->recv_queue).empty());
  ASSERT_EQ(PostShared(3), Code::kOk);
  EXPECT_EQ(Next(*receiver->recv_queue).cookie, 3u);
}

TEST_F(SharedReceiveTester, EachBufferThatAWaitingMessageTakesIsTold) {
  const auto [sender, receiver] = Join2();
  TestQueue& queue = *receiver->recv_queue;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(PostSend(*sender, {}), Code::kOk);
  EXPECT_TRUE(Drain(queue).empty());
  ASSERT_TRUE(srq_->SetLimit(0).ok());
  for (int told = 1; told <= 3; ++told) {
    ASSERT_TRUE(queue.cq->Arm(false));
    ASSERT_EQ(PostShared(static_cast<uint64_t>(told)), Code::kOk);
    ASSERT_TRUE(Until([&] { return queue.completions == told; })) << told;
    EXPECT_EQ(Next(queue).cookie, static_cast<uint64_t>(told));
    EXPECT_TRUE(Drain(queue).empty());
  }
}

// covers: semantics 8.1, 11
TEST_F(SharedReceiveTester, APairWithASharedQueueTakesNoReceivesOfItsOwn) {
  const auto pair = Join2();
  EXPECT_EQ(PostReceive(*pair.second, {}), Code::kInvalidState);
}

// covers: semantics 11
TEST_F(SharedReceiveTester, DisconnectLeavesTheFreeBuffers) {
  const auto [sender, receiver] = Join2();
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(PostShared(i), Code::kOk);
  sender->qp->Disconnect(DisconnectMode::kAbrupt);
  TestPair* const over = receiver;
  ASSERT_TRUE(Until([&] { return over->over(); }));
  EXPECT_TRUE(Drain(*receiver->recv_queue).empty());
  EXPECT_EQ(srq_->Available(), 3u);
  const auto again = Join2();
  ASSERT_EQ(PostSend(*again.first, {}), Code::kOk);
  EXPECT_EQ(Next(*again.second->recv_queue).cookie, 0u);
}

// covers: semantics 11
TEST_F(SharedReceiveTester, TheLimitIsToldOncePerSetting) {
  const auto [sender, receiver] = Join2();
  for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(PostShared(i), Code::kOk);
  ASSERT_TRUE(srq_->SetLimit(3).ok());
  ASSERT_EQ(PostSend(*sender, {}), Code::kOk);
  EXPECT_EQ(Next(*receiver->recv_queue).status, WorkStatus::kSuccess);
  Settle();
  EXPECT_EQ(sink_.limits, 0) << "three are left, that is not below three";
  for (int i = 0; i < 2; ++i) ASSERT_EQ(PostSend(*sender, {}), Code::kOk);
  ASSERT_TRUE(Until([&] { return sink_.limits == 1; }));
  Settle();
  EXPECT_EQ(sink_.limits, 1);
  ASSERT_TRUE(srq_->SetLimit(5).ok());  // already below
  ASSERT_TRUE(Until([&] { return sink_.limits == 2; }));
}

// covers: semantics 11
TEST_F(SharedReceiveTester, FullQueuesRefuseAndResizeKeeps) {
  for (uint64_t i = 0; i < 8; ++i) ASSERT_EQ(PostShared(i), Code::kOk);
  Code code = Code::kOk;
  for (int i = 0; i < 100 && code == Code::kOk; ++i) code = PostShared(99);
  EXPECT_EQ(code, Code::kQueueFull);
  EXPECT_EQ(srq_->Resize(4).code(), Code::kInvalidState);
  const uint32_t before = srq_->Available();
  ASSERT_TRUE(srq_->Resize(200).ok());
  EXPECT_EQ(srq_->Available(), before);
  EXPECT_EQ(PostShared(8), Code::kOk);
}

}  // namespace
}  // namespace softdat::transport
