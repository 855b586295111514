// SPDX-License-Identifier: BSD-3-Clause
// Contract: Disconnect, Reset, destruction, and the flush.
#include <array>
#include <thread>
#include <vector>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

// covers: semantics 8.3, 9.6
TEST_F(ContractPairTest, AbruptEndsBothSidesOnce) {
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  b_->qp->Disconnect(DisconnectMode::kAbrupt);
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  Settle();
  EXPECT_EQ(a_->log.all(), (std::vector<std::string>{"established", "ended:0"}));
  EXPECT_EQ(b_->log.all(), (std::vector<std::string>{"established", "ended:0"}));
}

// covers: semantics 8.3
TEST_F(ContractPairTest, SimultaneousDisconnectsEndOnce) {
  for (const DisconnectMode mode : {DisconnectMode::kAbrupt, DisconnectMode::kGraceful}) {
    a_->qp->Disconnect(mode);
    b_->qp->Disconnect(DisconnectMode::kGraceful);
    ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
    Settle();
    EXPECT_EQ(a_->log.Count("ended:0"), 1u);
    EXPECT_EQ(b_->log.Count("ended:0"), 1u);
    a_ = MakePair(pd_.get());
    b_ = MakePair(pd_.get());
    Join(*a_, *b_);
  }
}

// covers: semantics 9.6, 10.5
TEST_F(ContractPairTest, AbruptFlushesEverythingBeforeTheEndIsReported) {
  const auto memory = MakeMemory(*pd_, 64);
  std::vector<Completion> sends, receives;
  const auto take = [](transport::CompletionQueue& cq, std::vector<Completion>* taken) {
    std::array<Completion, 8> batch;
    taken->insert(taken->end(), batch.begin(), batch.begin() + cq.Poll(batch));
  };
  const auto take_all = [&] {
    take(*a_->send_queue->cq, &sends);
    take(*a_->recv_queue->cq, &receives);
  };
  size_t when_told = 0;
  a_->on_ended = [&] {
    take_all();
    when_told = sends.size() + receives.size();
  };
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(PostReceive(*a_, {memory->local()}, 20 + i), Code::kOk);
    ASSERT_EQ(PostSend(*a_, {memory->local()}, 10 + i), Code::kOk);  // stalls: no receive at b
  }
  // A transport may end a connection whose message finds no receive. Then some are posted after the
  // end, and flushed at once.
  const bool ended_before = a_->over();
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(Until([&] { return a_->over(); }));
  if (!ended_before) {
    EXPECT_EQ(when_told, 6u);
  }
  take_all();
  ASSERT_EQ(receives.size(), 3u);
  ASSERT_EQ(sends.size(), 3u);
  for (uint64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(receives[i].cookie, 20 + i);
    EXPECT_EQ(receives[i].status, WorkStatus::kFlushed);
    EXPECT_EQ(receives[i].context, a_.get());
    EXPECT_EQ(sends[i].cookie, 10 + i);
    // A device that has only taken it may have completed it, but never after a flushed one.
    if (adapter_->attributes().confirmed_completions ||
        (i > 0 && sends[i - 1].status == WorkStatus::kFlushed)) {
      EXPECT_EQ(sends[i].status, WorkStatus::kFlushed);
    }
  }
  EXPECT_EQ(a_->qp->OutstandingSends(), 0u);
  EXPECT_EQ(a_->qp->OutstandingReceives(), 0u);
}

// covers: semantics 9.6
TEST_F(ContractPairTest, GracefulCompletesPostedSendsFirst) {
  const auto from = MakeMemory(*pd_, 64), to = MakeMemory(*pd_, 64 * 4);
  from->FillPattern(3);
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_EQ(PostReceive(*b_, {to->local(i * 64, 64)}, i), Code::kOk);
  }
  for (uint64_t i = 0; i < 4; ++i) ASSERT_EQ(PostSend(*a_, {from->local()}, i), Code::kOk);
  a_->qp->Disconnect(DisconnectMode::kGraceful);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  const std::vector<Completion> sent = Drain(*a_->send_queue), got = Drain(*b_->recv_queue);
  ASSERT_EQ(sent.size(), 4u);
  ASSERT_EQ(got.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(sent[i].status, WorkStatus::kSuccess);
    EXPECT_EQ(got[i].status, WorkStatus::kSuccess);
    EXPECT_TRUE(std::equal(from->span().begin(), from->span().end(), to->data() + i * 64));
  }
  EXPECT_TRUE(a_->ended(EndReason::kDisconnected));
  EXPECT_TRUE(b_->ended(EndReason::kDisconnected));
}

// covers: semantics 8.3, 9.6
TEST_F(ContractPairTest, GracefulRefusesNewSendsWhileItDrains) {
  const auto memory = MakeMemory(*pd_, 64), to = MakeMemory(*pd_, 64);
  ASSERT_EQ(PostSend(*a_, {memory->local()}, 1), Code::kOk);
  a_->qp->Disconnect(DisconnectMode::kGraceful);
  // The first waits for its receive. The end waits for the first, whenever it completes.
  EXPECT_EQ(PostSend(*a_, {memory->local()}, 2), Code::kInvalidState);
  ASSERT_EQ(PostReceive(*b_, {to->local()}), Code::kOk);
  ASSERT_TRUE(Until([&] { return a_->over(); }));
  const std::vector<Completion> sent = Drain(*a_->send_queue);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].cookie, 1u);
  EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
}

// The peer ends the connection, which this side learns step by step. What a thread posts meanwhile
// must be taken, and complete once, in order.
// covers: semantics 8.3, 10.1
TEST_F(ContractPairTest, PostsWhileTheConnectionEndsAreTaken) {
  const auto memory = MakeMemory(*pd_, 64);
  for (int round = 0; round < 8 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    std::vector<uint64_t> sends, receives;
    const auto reap = [](transport::CompletionQueue& cq, std::vector<uint64_t>* cookies) {
      Completion completion;
      while (cq.Poll({&completion, 1}) == 1) cookies->push_back(completion.cookie);
    };
    uint64_t sent = 0, received = 0;
    std::thread poster([&] {
      bool last = false;
      while (!last) {
        last = a_->over();
        const Code send = PostSend(*a_, {memory->local()}, sent);
        if (send == Code::kOk) ++sent;
        EXPECT_TRUE(send == Code::kOk || send == Code::kQueueFull) << static_cast<int>(send);
        const Code receive = PostReceive(*a_, {memory->local()}, received);
        if (receive == Code::kOk) ++received;
        EXPECT_TRUE(receive == Code::kOk || receive == Code::kQueueFull);
        last |= HasFailure();
        reap(*a_->send_queue->cq, &sends);
        reap(*a_->recv_queue->cq, &receives);
      }
    });
    b_->qp->Disconnect(DisconnectMode::kAbrupt);
    EXPECT_TRUE(Until([&] { return a_->over() && b_->over(); }));
    poster.join();
    EXPECT_EQ(a_->qp->OutstandingSends(), 0u);
    EXPECT_EQ(a_->qp->OutstandingReceives(), 0u);
    ASSERT_EQ(sends.size(), sent);
    ASSERT_EQ(receives.size(), received);
    for (uint64_t i = 0; i < sent; ++i) EXPECT_EQ(sends[i], i);
    for (uint64_t i = 0; i < received; ++i) EXPECT_EQ(receives[i], i);
    a_ = MakePair(pd_.get());
    b_ = MakePair(pd_.get());
    Join(*a_, *b_);
  }
}

// covers: semantics 8.3, 10.1
TEST_F(ContractPairTest, PostsAfterTheEndAreFlushedAtOnce) {
  const auto memory = MakeMemory(*pd_, 64);
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(Until([&] { return a_->over(); }));
  // More than the queue holds, because nothing stays in it.
  for (uint64_t i = 0; i < 100; ++i) {
    ASSERT_EQ(PostReceive(*a_, {memory->local()}, i), Code::kOk);
    ASSERT_EQ(PostSend(*a_, {memory->local()}, i), Code::kOk);
  }
  const std::vector<Completion> receives = Drain(*a_->recv_queue), sends = Drain(*a_->send_queue);
  ASSERT_EQ(receives.size(), 100u);
  ASSERT_EQ(sends.size(), 100u);
  for (uint64_t i = 0; i < 100; ++i) {
    EXPECT_EQ(receives[i].cookie, i);
    EXPECT_EQ(receives[i].status, WorkStatus::kFlushed);
    EXPECT_EQ(sends[i].cookie, i);
    EXPECT_EQ(sends[i].status, WorkStatus::kFlushed);
  }
}

// covers: semantics 8.4
TEST_F(ContractPairTest, ResetMakesThePairFitForAnotherConnection) {
  for (int round = 0; round < 3; ++round) {
    SCOPED_TRACE(round);
    EXPECT_EQ(a_->qp->Reset().code(), Code::kInvalidState);
    a_->qp->Disconnect(DisconnectMode::kAbrupt);
    const auto ends = static_cast<size_t>(round + 1);
    ASSERT_TRUE(Until(
        [&] { return a_->log.Count("ended:0") == ends && b_->log.Count("ended:0") == ends; }));
    ASSERT_TRUE(a_->qp->Reset().ok());
    ASSERT_TRUE(b_->qp->Reset().ok());
    ASSERT_TRUE(a_->qp->Reset().ok()) << "in idle nothing happens";
    EXPECT_EQ(a_->qp->Addresses().remote.ss_family, AF_UNSPEC);
    const auto to = MakeMemory(*pd_, 8), from = MakeMemory(*pd_, 8, 0x77);
    ASSERT_EQ(PostReceive(*a_, {to->local()}), Code::kOk);
    Join(*b_, *a_);  // the other way round
    ASSERT_EQ(PostSend(*b_, {from->local()}), Code::kOk);
    EXPECT_EQ(Next(*a_->recv_queue).status, WorkStatus::kSuccess);
    EXPECT_EQ(Next(*b_->send_queue).status, WorkStatus::kSuccess);
    EXPECT_EQ(to->data()[7], 0x77);
  }
}

// covers: semantics 8.3
TEST_F(ContractPairTest, ADestroyedPairDisconnectsItsPeer) {
  a_.reset();
  ASSERT_TRUE(Until([&] { return b_->over(); }));
  EXPECT_TRUE(b_->ended(EndReason::kDisconnected));
}

TEST_F(ContractPairTest, APairMayBeDestroyedInsideItsOwnUpcall) {
  b_->on_ended = [&] { b_->qp.reset(); };
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(Until([&] { return a_->over() && b_->over(); }));
  Settle();
  EXPECT_EQ(b_->log.all(), (std::vector<std::string>{"established", "ended:0"}));
}

TEST_F(ContractPairTest, APairMayBeResetInsideItsFinalUpcall) {
  Status reset(Code::kInternal, "not called");
  b_->on_ended = [&] { reset = b_->qp->Reset(); };
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  ASSERT_TRUE(Until([&] { return b_->over(); }));
  EXPECT_TRUE(reset.ok()) << reset.reason();
}

TEST_F(ContractTest, DestroyingAConnectingPairIsSilent) {
  auto a = MakePair(pd_.get());
  const auto b = MakePair(pd_.get());
  const auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  ASSERT_TRUE(Until([&] { return listener->has_request(); }));
  a->qp.reset();
  ASSERT_TRUE(listener->TakeRequest()->Accept(*b->qp, {}).ok());
  ASSERT_TRUE(Until([&] { return b->over(); }));
  EXPECT_TRUE(b->failed(RejectReason::kAborted));
  EXPECT_TRUE(a->log.all().empty());
}

TEST_F(ContractPairTest, ConfigureToFewerSegmentsLosesNoReceive) {
  const auto c = MakePair(pd_.get()), d = MakePair(pd_.get());
  const auto memory = MakeMemory(*pd_, 64);
  ASSERT_EQ(
      PostReceive(*d, {memory->local(0, 16), memory->local(16, 16), memory->local(32, 16)}, 9),
      Code::kOk);
  QueuePairAttributes a = PairAttributes(*d);
  a.max_recv_iov = 2;
  const Status status = d->qp->Configure(a);
  EXPECT_TRUE(status.ok()) << status.reason();
  EXPECT_EQ(d->qp->OutstandingReceives(), 1u);
  Join(*c, *d);
  ASSERT_EQ(PostSend(*c, {}), Code::kOk);
  EXPECT_EQ(Next(*d->recv_queue).cookie, 9u);
}

// covers: semantics 8.2
TEST_F(ContractPairTest, ConfigureOnlyWhileIdleOrEndedAndKeepsReceives) {
  QueuePairAttributes a = PairAttributes(*a_);
  EXPECT_EQ(a_->qp->Configure(a).code(), Code::kInvalidState);
  const auto c = MakePair(pd_.get());
  const auto memory = MakeMemory(*pd_, 8), from = MakeMemory(*pd_, 8, 0x31);
  ASSERT_EQ(PostReceive(*c, {memory->local()}, 9), Code::kOk);
  a = PairAttributes(*c);
  a.max_recv = 128;
  ASSERT_TRUE(c->qp->Configure(a).ok());
  EXPECT_EQ(c->qp->OutstandingReceives(), 1u);
  const auto d = MakePair(pd_.get());
  Join(*d, *c);
  ASSERT_EQ(PostSend(*d, {from->local()}), Code::kOk);
  EXPECT_EQ(Next(*c->recv_queue).cookie, 9u);
  EXPECT_EQ(memory->data()[0], 0x31);
}

}  // namespace
}  // namespace softdat::transport
