// SPDX-License-Identifier: BSD-3-Clause
// Contract: sends, RDMA writes and reads, their completions and their order.
#include <cstring>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

// covers: semantics 10.1
TEST_F(ContractPairTest, ASendFillsTheReceiveInOrderOfItsSegments) {
  const auto from = MakeMemory(*pd_, 300), to = MakeMemory(*pd_, 300);
  from->FillPattern(1);
  ASSERT_EQ(
      PostReceive(*b_, {to->local(0, 7), to->local(7, 0), to->local(7, 193), to->local(200, 100)},
                  0xFEDCBA9876543210u),
      Code::kOk);
  ASSERT_EQ(PostSend(*a_, {from->local(0, 100), from->local(100, 1), from->local(101, 149)},
                     0x0123456789ABCDEFu),
            Code::kOk);
  const Completion got = Next(*b_->recv_queue), sent = Next(*a_->send_queue);
  EXPECT_EQ(got.op, Op::kReceive);
  EXPECT_EQ(got.status, WorkStatus::kSuccess);
  EXPECT_EQ(got.length, 250u);
  EXPECT_EQ(got.cookie, 0xFEDCBA9876543210u);
  EXPECT_EQ(got.context, b_.get());
  EXPECT_EQ(sent.op, Op::kSend);
  EXPECT_EQ(sent.status, WorkStatus::kSuccess);
  EXPECT_EQ(sent.length, 250u);
  EXPECT_EQ(sent.cookie, 0x0123456789ABCDEFu);
  EXPECT_EQ(sent.context, a_.get());
  EXPECT_EQ(std::memcmp(from->data(), to->data(), 250), 0);
  EXPECT_EQ(to->data()[250], 0);
  EXPECT_TRUE(to->guards_intact());
}

// covers: semantics 10.1
TEST_F(ContractPairTest, AnEmptyMessageIsAMessage) {
  ASSERT_EQ(PostReceive(*b_, {}, 1), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {}, 2), Code::kOk);
  const Completion got = Next(*b_->recv_queue);
  EXPECT_EQ(got.cookie, 1u);
  EXPECT_EQ(got.length, 0u);
  EXPECT_EQ(Next(*a_->send_queue).cookie, 2u);
}

// covers: semantics 10.5
TEST_F(ContractPairTest, ASendWaitsForItsReceive) {
  const auto from = MakeMemory(*pd_, 32, 0x11), to = MakeMemory(*pd_, 32);
  ASSERT_EQ(PostSend(*a_, {from->local()}, 1), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {from->local(0, 16)}, 2), Code::kOk);
  EXPECT_TRUE(Drain(*b_->recv_queue).empty());
  EXPECT_FALSE(a_->over());
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 3), Code::kOk);
  ASSERT_EQ(PostReceive(*b_, {to->local()}, 4), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).length, 32u);
  EXPECT_EQ(Next(*b_->recv_queue).length, 16u);
  EXPECT_EQ(Next(*a_->send_queue).cookie, 1u);
  EXPECT_EQ(Next(*a_->send_queue).cookie, 2u);
}

// covers: semantics 10.3
TEST_F(ContractPairTest, MessagesStayInOrderBothWays) {
  constexpr uint64_t kRounds = 200;
  const auto from = MakeMemory(*pd_, 8), to = MakeMemory(*pd_, 16);
  for (uint64_t i = 0; i < kRounds; ++i) {
    ASSERT_EQ(PostReceive(*b_, {to->local(0, 8)}, i), Code::kOk);
    ASSERT_EQ(PostReceive(*a_, {to->local(8, 8)}, i), Code::kOk);
    std::memcpy(from->data(), &i, sizeof i);
    ASSERT_EQ(PostSend(*a_, {from->local()}, i), Code::kOk);
    ASSERT_EQ(PostSend(*b_, {from->local()}, i), Code::kOk);
    for (TestPair* pair : {a_.get(), b_.get()}) {
      EXPECT_EQ(Next(*pair->recv_queue).cookie, i);
      EXPECT_EQ(Next(*pair->send_queue).cookie, i);
    }
    EXPECT_EQ(std::memcmp(to->data(), &i, sizeof i), 0);
    EXPECT_EQ(std::memcmp(to->data() + 8, &i, sizeof i), 0);
  }
}

// covers: semantics 10.3
TEST_F(ContractPairTest, AWriteLandsWithoutTheTarget) {
  const auto from = MakeMemory(*pd_, 100), to = MakeMemory(*pd_, 100);
  from->FillPattern(9);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaWrite, {from->local(0, 33), from->local(33, 17)},
                     to->remote(50, 50), 77),
            Code::kOk);
  const Completion done = Next(*a_->send_queue);
  EXPECT_EQ(done.op, Op::kRdmaWrite);
  EXPECT_EQ(done.status, WorkStatus::kSuccess);
  EXPECT_EQ(done.length, 50u);
  // A completed write may still be on its way, but a read behind it is not served before it.
  const auto check = MakeMemory(*pd_, 50);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaRead, {check->local()}, to->remote(50, 50), 78), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).length, 50u);
  EXPECT_EQ(std::memcmp(from->data(), to->data() + 50, 50), 0);
  EXPECT_EQ(std::memcmp(from->data(), check->data(), 50), 0);
  EXPECT_EQ(to->data()[49], 0);
  EXPECT_TRUE(to->guards_intact());
  EXPECT_TRUE(Drain(*b_->recv_queue).empty());
}

// covers: semantics 10.1
TEST_F(ContractPairTest, AReadFetchesIntoSegments) {
  const auto from = MakeMemory(*pd_, 4096), to = MakeMemory(*pd_, 4096);
  from->FillPattern(5);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaRead, {to->local(0, 1), to->local(1, 4000), to->local(4001, 95)},
                     from->remote(), 5),
            Code::kOk);
  const Completion done = Next(*a_->send_queue);
  EXPECT_EQ(done.op, Op::kRdmaRead);
  EXPECT_EQ(done.status, WorkStatus::kSuccess);
  EXPECT_EQ(done.length, 4096u);
  EXPECT_EQ(std::memcmp(from->data(), to->data(), 4096), 0);
  EXPECT_TRUE(to->guards_intact());
}

// covers: semantics 10.1
TEST_F(ContractPairTest, EmptyRdmaTouchesNothingAndCompletes) {
  DAT_RMR_TRIPLET nowhere{};
  nowhere.rmr_context = 0xDEAD;
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaWrite, {}, nowhere, 1), Code::kOk);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaRead, {}, nowhere, 2), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(Next(*a_->send_queue).status, WorkStatus::kSuccess);
}

TEST_F(ContractPairTest, AMegabyteGoesEachWay) {
  constexpr size_t kSize = 1 << 20;
  const auto from = MakeMemory(*pd_, kSize), to = MakeMemory(*pd_, kSize),
             back = MakeMemory(*pd_, kSize);
  from->FillPattern(2);
  ASSERT_EQ(PostReceive(*b_, {back->local()}), Code::kOk);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaWrite, {from->local()}, to->remote(), 1), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {from->local()}, 2), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).length, kSize);
  // The write was placed before the later send became visible.
  EXPECT_EQ(std::memcmp(from->data(), to->data(), kSize), 0);
  EXPECT_EQ(std::memcmp(from->data(), back->data(), kSize), 0);
  EXPECT_EQ(Next(*a_->send_queue).cookie, 1u);
  EXPECT_EQ(Next(*a_->send_queue).cookie, 2u);
}

// covers: semantics 10.1, 10.2
TEST_F(ContractPairTest, SuppressedSuccessIsSilentAndFreesItsSlot) {
  const auto from = MakeMemory(*pd_, 8, 1), to = MakeMemory(*pd_, 8);
  for (uint64_t i = 0; i < 300; ++i) {  // far more than the 64 slots
    ASSERT_TRUE(Until([&] {
      return PostRdma(*a_, Op::kRdmaWrite, {from->local()}, to->remote(), i, kSuppress) ==
             Code::kOk;
    }));
  }
  ASSERT_TRUE(Until([&] {
    return PostRdma(*a_, Op::kRdmaWrite, {from->local()}, to->remote(), 999) == Code::kOk;
  }));
  EXPECT_EQ(Next(*a_->send_queue).cookie, 999u);
  EXPECT_TRUE(Drain(*a_->send_queue).empty());
  EXPECT_EQ(a_->qp->OutstandingSends(), 0u);
}

// covers: semantics 10.2
TEST_F(ContractPairTest, SuppressedWorkStillReportsItsFlush) {
  const auto memory = MakeMemory(*pd_, 8);
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(Until([&] { return a_->over(); }));
  ASSERT_EQ(PostSend(*a_, {memory->local()}, 4, kSuppress), Code::kOk);
  const Completion flushed = Next(*a_->send_queue);
  EXPECT_EQ(flushed.cookie, 4u);
  EXPECT_EQ(flushed.status, WorkStatus::kFlushed);
}

// covers: semantics 10.2
TEST_F(ContractPairTest, FlagsComeBackWhereTheyBelong) {
  const auto memory = MakeMemory(*pd_, 8);
  ASSERT_EQ(PostReceive(*b_, {memory->local()}, 1), Code::kOk);
  ASSERT_EQ(PostReceive(*b_, {memory->local()}, 2), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {}, 1, kSolicited), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {}, 2, kQuiet), Code::kOk);
  EXPECT_TRUE(Next(*b_->recv_queue).solicited);
  EXPECT_FALSE(Next(*b_->recv_queue).solicited);
  EXPECT_FALSE(Next(*a_->send_queue).quiet());
  EXPECT_TRUE(Next(*a_->send_queue).quiet());
}

// covers: semantics 10.1
TEST_F(ContractPairTest, AFullQueueRefusesAndLeavesNothingBehind) {
  const auto memory = MakeMemory(*pd_, 8);
  uint32_t accepted = 0;
  while (PostReceive(*b_, {memory->local()}, accepted) == Code::kOk) ++accepted;
  EXPECT_GE(accepted, 64u);
  EXPECT_EQ(PostReceive(*b_, {memory->local()}), Code::kQueueFull);
  EXPECT_EQ(b_->qp->OutstandingReceives(), accepted);
}

// covers: semantics 10.1
TEST_F(ContractPairTest, RdmaLengthsMustFit) {
  const auto memory = MakeMemory(*pd_, 64), target = MakeMemory(*pd_, 64);
  EXPECT_EQ(PostRdma(*a_, Op::kRdmaWrite, {memory->local(0, 9)}, target->remote(0, 8)),
            Code::kLength);
  EXPECT_EQ(PostRdma(*a_, Op::kRdmaRead, {memory->local(0, 8)}, target->remote(0, 9)),
            Code::kLength);
  // A shorter write is fine, and so is a read into more memory.
  EXPECT_EQ(PostRdma(*a_, Op::kRdmaWrite, {memory->local(0, 8)}, target->remote(0, 64)), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).length, 8u);
  EXPECT_EQ(PostRdma(*a_, Op::kRdmaRead, {memory->local(0, 64)}, target->remote(0, 8)), Code::kOk);
  EXPECT_EQ(Next(*a_->send_queue).length, 8u);
}

// covers: semantics 10.3
TEST_F(ContractPairTest, ManyReadsQueueUp) {
  const auto from = MakeMemory(*pd_, 64), to = MakeMemory(*pd_, 64 * 40);
  from->FillPattern(40);
  for (uint64_t i = 0; i < 40; ++i) {
    ASSERT_EQ(PostRdma(*a_, Op::kRdmaRead, {to->local(i * 64, 64)}, from->remote(), i), Code::kOk);
  }
  for (uint64_t i = 0; i < 40; ++i) {
    const Completion done = Next(*a_->send_queue);
    EXPECT_EQ(done.cookie, i);
    EXPECT_EQ(done.status, WorkStatus::kSuccess);
    EXPECT_EQ(std::memcmp(from->data(), to->data() + i * 64, 64), 0);
  }
}

// covers: semantics 10.2, 10.3
TEST_F(ContractPairTest, AFencedSendCarriesWhatTheReadBroughtBack) {
  const auto from = MakeMemory(*pd_, 4096), middle = MakeMemory(*pd_, 4096),
             to = MakeMemory(*pd_, 4096);
  from->FillPattern(88);
  ASSERT_EQ(PostReceive(*b_, {to->local()}), Code::kOk);
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaRead, {middle->local()}, from->remote(), 1), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {middle->local()}, 2, kFence), Code::kOk);
  EXPECT_EQ(Next(*b_->recv_queue).length, 4096u);
  EXPECT_EQ(std::memcmp(from->data(), to->data(), 4096), 0);
}

// covers: semantics 8.3, 10.1
TEST_F(ContractTest, SendsNeedAConnection) {
  const auto a = MakePair(pd_.get());
  const auto memory = MakeMemory(*pd_, 8);
  EXPECT_EQ(PostSend(*a, {memory->local()}), Code::kInvalidState);
  const auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  EXPECT_EQ(PostSend(*a, {memory->local()}), Code::kInvalidState);
  EXPECT_EQ(PostReceive(*a, {memory->local()}), Code::kOk);
}

// covers: semantics 5.5, 9.3
TEST_F(ContractTest, NoMessageOvertakesEstablished) {
  const auto a = MakePair(pd_.get()), b = MakePair(pd_.get());
  const auto memory = MakeMemory(*pd_, 8);
  ASSERT_EQ(PostReceive(*b, {memory->local()}), Code::kOk);
  const auto listener = MakeListener();
  size_t early = 0;
  b->on_established = [&] {
    Completion completion;
    early = b->recv_queue->cq->Poll({&completion, 1});
  };
  a->on_established = [&] { EXPECT_EQ(PostSend(*a, {}), Code::kOk); };
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  ASSERT_TRUE(listener->TakeRequest()->Accept(*b->qp, {}).ok());
  EXPECT_EQ(Next(*b->recv_queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(early, 0u);
  EXPECT_TRUE(b->established());
}

}  // namespace
}  // namespace softdat::transport
