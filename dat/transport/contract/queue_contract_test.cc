// SPDX-License-Identifier: BSD-3-Clause
// Contract: completion queues (Poll, Arm, Resize, overflow) and Progress with its waiter.
#include <algorithm>
#include <atomic>
#include <thread>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

TEST_F(ContractPairTest, ArmTellsOnceAboutTheNextArrival) {
  TestQueue& queue = *b_->recv_queue;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(PostReceive(*b_, {}), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {}), Code::kOk);
  EXPECT_EQ(Next(queue).status, WorkStatus::kSuccess);
  EXPECT_EQ(queue.completions, 0) << "not armed";
  ASSERT_TRUE(queue.cq->Arm(false));
  ASSERT_EQ(PostSend(*a_, {}), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {}), Code::kOk);
  ASSERT_TRUE(Until([&] { return queue.completions > 0; }));
  Settle();
  EXPECT_EQ(queue.completions, 1);
  EXPECT_FALSE(queue.cq->Arm(false)) << "not empty";
  EXPECT_EQ(Drain(queue).size(), 2u);
  ASSERT_EQ(PostReceive(*b_, {}), Code::kOk);
  ASSERT_EQ(PostSend(*a_, {}), Code::kOk);
  Settle();
  EXPECT_EQ(queue.completions, 1) << "the refused Arm armed nothing";
}

TEST_F(ContractPairTest, AQuietReceiveSaysSo) {
  for (const uint8_t flags : {uint8_t{0}, uint8_t{kQuiet}}) {
    ReceiveRequest request;
    request.cookie = flags;
    request.flags = flags;
    ASSERT_EQ(b_->qp->PostReceive(request), Code::kOk);
    ASSERT_EQ(PostSend(*a_, {}, 1), Code::kOk);
    const Completion got = Next(*b_->recv_queue);
    EXPECT_EQ(got.cookie, flags);
    EXPECT_EQ(got.quiet(), flags == kQuiet);
  }
}

// covers: semantics 5.3, 10.2
TEST_F(ContractPairTest, AQuietCompletionDoesNotNotify) {
  TestQueue& queue = *a_->send_queue;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(PostReceive(*b_, {}), Code::kOk);
  ASSERT_TRUE(queue.cq->Arm(false));
  ASSERT_EQ(PostSend(*a_, {}, 1, kQuiet), Code::kOk);
  Settle();
  EXPECT_EQ(queue.completions, 0);
  ASSERT_EQ(PostSend(*a_, {}, 2), Code::kOk);
  EXPECT_TRUE(Until([&] { return queue.completions == 1; }));
  EXPECT_EQ(Next(queue).cookie, 1u);
  EXPECT_EQ(Next(queue).cookie, 2u);
}

// covers: semantics 5.3, 10.2
TEST_F(ContractPairTest, SolicitedArmingWaitsForSolicitedOrFailed) {
  TestQueue& queue = *b_->recv_queue;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(PostReceive(*b_, {}), Code::kOk);
  ASSERT_TRUE(queue.cq->Arm(true));
  ASSERT_EQ(PostSend(*a_, {}, 1), Code::kOk);
  Settle();
  EXPECT_EQ(queue.completions, 0);
  ASSERT_EQ(PostSend(*a_, {}, 2, kSolicited), Code::kOk);
  ASSERT_TRUE(Until([&] { return queue.completions == 1; }));
  EXPECT_EQ(Drain(queue).size(), 2u);
  ASSERT_TRUE(queue.cq->Arm(true));
  a_->qp->Disconnect(DisconnectMode::kAbrupt);
  EXPECT_TRUE(Until([&] { return queue.completions == 2; })) << "the flush is a failed completion";
}

// Otherwise a thread that waits for the queue, which other pairs fill too, would never wake again.
TEST_F(ContractPairTest, WhatADestroyedPairLeavesInAnArmedQueueIsTold) {
  TestQueue& queue = *b_->recv_queue;
  ASSERT_EQ(PostReceive(*b_, {}), Code::kOk);
  ASSERT_TRUE(queue.cq->Arm(false));
  b_->qp.reset();
  Settle();
  const bool empty = Drain(queue).empty();
  EXPECT_EQ(queue.completions, empty ? 0 : 1);
}

// Records which thread was told, and keeps every thread except the poller in its first upcall.
class HoldingSink : public CompletionSink {
 public:
  void OnCompletion() override {
    if (std::this_thread::get_id() == poller) {
      ++told_to_poller;
      return;
    }
    entered = true;
    while (!released) std::this_thread::yield();
  }
  void OnOverflow() override {}

  const std::thread::id poller = std::this_thread::get_id();
  std::atomic<int> told_to_poller{0};
  std::atomic<bool> entered{false};
  std::atomic<bool> released{false};
};

// The engine polls and arms while it holds a lock that the queue's sink takes.
TEST_F(ContractPairTest, PollingAndArmingMakeNoUpcall) {
  HoldingSink sink;
  auto sent = adapter_->CreateCompletionQueue(64, &sink);
  auto received = adapter_->CreateCompletionQueue(64, &sink);
  ASSERT_TRUE(sent.ok() && received.ok());
  const std::unique_ptr<CompletionQueue> queues[] = {sent.Take(), received.Take()};
  const auto c = MakePair(pd_.get()), d = MakePair(pd_.get());
  QueuePairAttributes attributes = PairAttributes(*c);
  attributes.send_cq = queues[0].get();
  ASSERT_TRUE(c->qp->Configure(attributes).ok());
  attributes = PairAttributes(*d);
  attributes.recv_cq = queues[1].get();
  ASSERT_TRUE(d->qp->Configure(attributes).ok());
  Join(*c, *d);
  ASSERT_EQ(PostReceive(*d, {}), Code::kOk);
  for (const auto& queue : queues) ASSERT_TRUE(queue->Arm(false));

  std::thread poster([&] { EXPECT_EQ(PostSend(*c, {}), Code::kOk); });
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(20);
  while (!sink.entered && Clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(sink.entered);
  // Another upcall may be due, whose turn comes when the first has returned.
  Completion completion;
  for (const auto& queue : queues) {
    queue->Poll({&completion, 1});
    queue->Arm(false);
  }
  EXPECT_EQ(sink.told_to_poller, 0);
  sink.released = true;
  poster.join();
}

// covers: semantics 5.8
TEST_F(ContractPairTest, OverflowIsToldOnceAndKeepsWhatIsQueued) {
  const auto small = MakeQueue(4);
  const auto c = MakePair(pd_.get()), d = MakePair(pd_.get());
  QueuePairAttributes attributes = PairAttributes(*d);
  attributes.recv_cq = small->cq.get();
  ASSERT_TRUE(d->qp->Configure(attributes).ok());
  for (uint64_t i = 0; i < 32; ++i) ASSERT_EQ(PostReceive(*d, {}, i), Code::kOk);
  Join(*c, *d);
  for (int i = 0; i < 32; ++i) ASSERT_EQ(PostSend(*c, {}), Code::kOk);
  ASSERT_TRUE(Until([&] { return small->overflows > 0; }));
  Settle();
  EXPECT_EQ(small->overflows, 1);
  const std::vector<Completion> kept = Drain(*small);
  ASSERT_GE(kept.size(), 4u);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(kept[i].cookie, i);
}

// covers: semantics 5.2
TEST_F(ContractPairTest, ResizeKeepsWhatIsQueued) {
  TestQueue& queue = *b_->recv_queue;
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(PostReceive(*b_, {}, i), Code::kOk);
    ASSERT_EQ(PostSend(*a_, {}), Code::kOk);
  }
  ASSERT_TRUE(Until([&] { return b_->qp->OutstandingReceives() == 0; }));
  EXPECT_EQ(queue.cq->Resize(4).code(), Code::kInvalidState);
  ASSERT_TRUE(queue.cq->Resize(1000).ok());
  std::vector<Completion> all(20);
  all.resize(queue.cq->Poll(all));
  ASSERT_EQ(all.size(), 10u);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(all[i].cookie, i);
}

// covers: semantics 5.1
TEST_F(ContractPairTest, OneQueueServesBothDirectionsOfManyPairs) {
  const auto shared = MakeQueue(256);
  std::vector<std::unique_ptr<TestPair>> pairs;
  for (int i = 0; i < 4; ++i) {
    pairs.push_back(MakePair(pd_.get()));
    QueuePairAttributes attributes = PairAttributes(*pairs.back());
    attributes.send_cq = attributes.recv_cq = shared->cq.get();
    ASSERT_TRUE(pairs.back()->qp->Configure(attributes).ok());
  }
  Join(*pairs[0], *pairs[1]);
  Join(*pairs[2], *pairs[3]);
  for (int i : {1, 3}) ASSERT_EQ(PostReceive(*pairs[i], {}, 100 + i), Code::kOk);
  for (int i : {0, 2}) ASSERT_EQ(PostSend(*pairs[i], {}, 100 + i), Code::kOk);
  std::vector<bool> seen(4);
  for (int i = 0; i < 4; ++i) {
    const Completion completion = Next(*shared);
    ASSERT_GE(completion.cookie, 100u);
    ASSERT_LT(completion.cookie, 104u);
    const size_t which = completion.cookie - 100;
    EXPECT_EQ(completion.context, pairs[which].get());
    EXPECT_FALSE(seen[which]);
    seen[which] = true;
  }
  pairs.clear();
}

// covers: semantics 8.1
TEST_F(ContractPairTest, ADirectionWithoutAQueueDropsItsCompletions) {
  const auto c = MakePair(pd_.get()), d = MakePair(pd_.get());
  QueuePairAttributes attributes = PairAttributes(*c);
  attributes.send_cq = nullptr;
  ASSERT_TRUE(c->qp->Configure(attributes).ok());
  ASSERT_EQ(PostReceive(*d, {}, 1), Code::kOk);
  Join(*c, *d);
  ASSERT_EQ(PostSend(*c, {}), Code::kOk);
  EXPECT_EQ(Next(*d->recv_queue).cookie, 1u);
  ASSERT_TRUE(Until([&] { return c->qp->OutstandingSends() == 0; }));
}

TEST_F(ContractTest, ProgressWithoutWaiterNeverBlocks) {
  const Clock::time_point before = Clock::now();
  for (int i = 0; i < 100; ++i) adapter_->Progress(nullptr, kForever);
  EXPECT_LT(Clock::now() - before, std::chrono::seconds(5));
}

TEST_F(ContractTest, ProgressEndsAtItsDeadline) {
  Waiter waiter;
  waiter.Clear();
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(30);
  while (adapter_->Progress(&waiter, deadline) != ProgressResult::kTimedOut) {
    ASSERT_LT(Clock::now(), deadline + std::chrono::seconds(10));
  }
  EXPECT_GE(Clock::now(), deadline);
}

TEST_F(ContractTest, ASignalBeforeProgressIsNotLost) {
  Waiter waiter;
  waiter.Clear();
  waiter.Signal();
  ProgressResult result = ProgressResult::kIdle;
  for (int i = 0; i < 1000 && result != ProgressResult::kSignalled; ++i) {
    result = adapter_->Progress(&waiter, Clock::now() + std::chrono::seconds(20));
    ASSERT_NE(result, ProgressResult::kTimedOut);
  }
  EXPECT_EQ(result, ProgressResult::kSignalled);
}

TEST_F(ContractTest, SeveralThreadsWaitAndEachIsWokenByItsOwnSignal) {
  constexpr int kThreads = 4;
  Waiter waiters[kThreads];
  std::atomic<int> woken{0};
  std::vector<std::thread> threads;
  for (Waiter& waiter : waiters) {
    waiter.Clear();
    threads.emplace_back([&] {
      ProgressResult result = ProgressResult::kIdle;
      const Clock::time_point deadline = Clock::now() + std::chrono::seconds(30);
      while (result != ProgressResult::kSignalled && result != ProgressResult::kTimedOut) {
        result = adapter_->Progress(&waiter, deadline);
      }
      if (result == ProgressResult::kSignalled) woken.fetch_add(1);
    });
  }
  for (Waiter& waiter : waiters) waiter.Signal();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(woken, kThreads);
}

TEST_F(ContractPairTest, AThreadThatWaitsMovesItsOwnData) {
  constexpr int kRounds = 200;
  std::thread echo([&] {
    Waiter waiter;
    b_->recv_queue->waiter = &waiter;
    for (int i = 0; i < kRounds; ++i) {
      Completion completion;
      while (b_->recv_queue->cq->Poll({&completion, 1}) == 0) {
        waiter.Clear();
        if (!b_->recv_queue->cq->Arm(false)) continue;
        adapter_->Progress(&waiter, Clock::now() + std::chrono::seconds(10));
      }
      EXPECT_EQ(PostReceive(*b_, {}), Code::kOk);
      EXPECT_EQ(PostSend(*b_, {}, 0, kSuppress), Code::kOk);
    }
    b_->recv_queue->waiter = nullptr;
  });
  ASSERT_EQ(PostReceive(*b_, {}), Code::kOk);
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_EQ(PostReceive(*a_, {}, i), Code::kOk);
    ASSERT_EQ(PostSend(*a_, {}, 0, kSuppress), Code::kOk);
    EXPECT_EQ(Next(*a_->recv_queue).cookie, static_cast<uint64_t>(i));
  }
  echo.join();
}

// A program that computes and makes no call still gets its connection requests and its data.
TEST_F(ContractTest, UpcallsComeWithoutAnyCall) {
  const auto a = MakePair(pd_.get());
  const auto listener = MakeListener();
  ASSERT_TRUE(Connect(*a, listener->listener->conn_qual()).ok());
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  while (!listener->has_request() && Clock::now() < deadline) std::this_thread::yield();
  ASSERT_TRUE(listener->has_request());
  ASSERT_TRUE(listener->TakeRequest()->Reject({}).ok());
  while (!a->over() && Clock::now() < deadline) std::this_thread::yield();
  EXPECT_TRUE(a->failed(RejectReason::kPeer));
}

// What an RDMA target does: it looks at memory that somebody else writes, and relies only on the
// order of the bytes. ThreadSanitizer cannot know that, and must not look.
__attribute__((noinline, no_sanitize("thread"))) uint8_t LastByte(const uint8_t* byte) {
  return *const_cast<const volatile uint8_t*>(byte);
}

__attribute__((noinline, no_sanitize("thread"))) bool SameBytesSeenByTarget(const uint8_t* expected,
                                                                            const uint8_t* seen,
                                                                            size_t size) {
  __asm__ __volatile__("" ::: "memory");
  for (size_t i = 0; i < size; ++i) {
    if (expected[i] != const_cast<const volatile uint8_t*>(seen)[i]) return false;
  }
  return true;
}

// covers: semantics 10.3, 19
TEST_F(ContractPairTest, AWriteIsVisibleToATargetThatMakesNoCall) {
  const auto from = MakeMemory(*pd_, 4096), to = MakeMemory(*pd_, 4096, 0);
  from->FillPattern(1);
  from->data()[4095] = 0xEE;
  ASSERT_EQ(PostRdma(*a_, Op::kRdmaWrite, {from->local()}, to->remote()), Code::kOk);
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  // Bytes land in order, the last one last (semantics 10.3).
  while (LastByte(&to->data()[4095]) != 0xEE && Clock::now() < deadline) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(SameBytesSeenByTarget(from->data(), to->data(), 4096));
}

TEST_F(ContractTest, AnUnknownDeviceIsNotFound) {
  const auto adapter = backend_->Open("no-such-device-0", &adapter_sink_);
  EXPECT_EQ(adapter.status().code(), Code::kNotFound);
  EXPECT_NE(adapter.status().reason(), "");
  const std::vector<Backend::Device> devices = backend_->Devices();
  EXPECT_EQ(std::count_if(
                devices.begin(), devices.end(),
                [](const Backend::Device& d) { return d.name == ContractSetupUnderTest().device; }),
            1);
}

TEST_F(ContractTest, TwoOpensOfADeviceMeet) {
  TestAdapterSink sink;
  auto second = backend_->Open(ContractSetupUnderTest().device, &sink);
  ASSERT_TRUE(second.ok());
  const std::unique_ptr<Adapter> other = second.Take();
  const auto listener = MakeListener();
  TestListener taken;
  ListenParameters p;
  p.conn_qual = listener->listener->conn_qual();
  p.sink = &taken;
  EXPECT_EQ(other->Listen(p).status().code(), Code::kInUse);
}

}  // namespace
}  // namespace softdat::transport
