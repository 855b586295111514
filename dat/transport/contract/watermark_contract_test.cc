// SPDX-License-Identifier: BSD-3-Clause
// Contract: how many buffers of its SRQ a queue pair may hold. For back ends with
// receive_watermarks. A buffer is held from when a message takes it until its completion. So every
// message exceeds a watermark of zero. How many a back end may hold at a time is up to the back
// end.
#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

class WatermarkTester : public ContractTest {
 protected:
  void SetUp() override {
    ContractTest::SetUp();
    ASSERT_TRUE(adapter_->attributes().receive_watermarks);
    auto srq = adapter_->CreateSharedReceiveQueue(*pd_, 8, 1, nullptr);
    ASSERT_TRUE(srq.ok()) << srq.status().reason();
    srq_ = srq.Take();
    memory_ = MakeMemory(*pd_, 64);
    sender_ = MakePair(pd_.get());
    receiver_ = MakePair(pd_.get(), srq_.get());
  }
  void TearDown() override {
    sender_.reset();
    receiver_.reset();
    srq_.reset();
    memory_.reset();
    ContractTest::TearDown();
  }
  void PostShared(uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const DAT_LMR_TRIPLET local = memory_->local(0, 16);
      ASSERT_EQ(srq_->PostReceive({i, {&local, 1}}), Code::kOk);
    }
  }
  void Deliver() {
    ASSERT_EQ(PostSend(*sender_, {memory_->local(32, 16)}), Code::kOk);
    EXPECT_EQ(Next(*receiver_->recv_queue).status, WorkStatus::kSuccess);
  }

  std::unique_ptr<SharedReceiveQueue> srq_;
  std::unique_ptr<TestMemory> memory_;
  std::unique_ptr<TestPair> sender_;
  std::unique_ptr<TestPair> receiver_;
};

// covers: semantics 11
TEST_F(WatermarkTester, TheSoftOneIsToldOncePerSetting) {
  ASSERT_TRUE(receiver_->qp->SetReceiveWatermarks(0, kNoWatermark).ok()) << "before a connection";
  Join(*sender_, *receiver_);
  EXPECT_EQ(receiver_->watermarks, 0);
  PostShared(4);
  Deliver();
  ASSERT_TRUE(Until([&] { return receiver_->watermarks == 1; }));
  Deliver();
  Settle();
  EXPECT_EQ(receiver_->watermarks, 1);
  ASSERT_TRUE(receiver_->qp->SetReceiveWatermarks(0, kNoWatermark).ok());
  Settle();
  EXPECT_EQ(receiver_->watermarks, 1) << "nothing is held now";
  Deliver();
  ASSERT_TRUE(Until([&] { return receiver_->watermarks == 2; }));
  Deliver();
  EXPECT_FALSE(receiver_->over());
}

// covers: semantics 11
TEST_F(WatermarkTester, NoWatermarkIsNeverExceeded) {
  ASSERT_TRUE(receiver_->qp->SetReceiveWatermarks(0, 0).ok());
  ASSERT_TRUE(receiver_->qp->SetReceiveWatermarks(kNoWatermark, kNoWatermark).ok());
  Join(*sender_, *receiver_);
  PostShared(3);
  for (int i = 0; i < 3; ++i) Deliver();
  Settle();
  EXPECT_EQ(receiver_->watermarks, 0);
  EXPECT_FALSE(receiver_->over());
}

// covers: semantics 11
TEST_F(WatermarkTester, AboveTheHardOneTheConnectionBreaks) {
  Join(*sender_, *receiver_);
  PostShared(3);
  Deliver();
  ASSERT_TRUE(receiver_->qp->SetReceiveWatermarks(kNoWatermark, 0).ok());
  ASSERT_EQ(PostSend(*sender_, {memory_->local(32, 16)}, 7), Code::kOk);
  ASSERT_TRUE(Until([&] { return receiver_->over() && sender_->over(); }));
  EXPECT_TRUE(receiver_->ended(EndReason::kBroken));
  EXPECT_EQ(receiver_->watermarks, 0);
  EXPECT_EQ(receiver_->qp->OutstandingReceives(), 0u);
  // What the pair had taken comes back flushed. The rest stays for others.
  const std::vector<Completion> flushed = Drain(*receiver_->recv_queue);
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].status, WorkStatus::kFlushed);
  EXPECT_EQ(srq_->Available(), 1u);
}

// covers: semantics 11
TEST_F(WatermarkTester, BothAtOnceAndTheyOutliveAConnection) {
  ASSERT_TRUE(receiver_->qp->SetReceiveWatermarks(0, 0).ok());
  for (int round = 0; round < 2; ++round) {
    SCOPED_TRACE(round);
    sender_ = MakePair(pd_.get());
    const size_t before = receiver_->log.all().size();
    Join(*sender_, *receiver_);
    PostShared(1);
    ASSERT_EQ(PostSend(*sender_, {}), Code::kOk);
    ASSERT_TRUE(Until([&] { return receiver_->log.all().size() == before + 2; }));
    EXPECT_EQ(receiver_->log.all().back(), "ended:1");
    Settle();
    EXPECT_EQ(receiver_->watermarks, 1) << "the soft one was told in the first round";
    ASSERT_TRUE(receiver_->qp->Reset().ok());
  }
}

}  // namespace
}  // namespace softdat::transport
