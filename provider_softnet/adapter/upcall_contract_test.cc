// SPDX-License-Identifier: BSD-3-Clause
// An upcall may wait for what arrives at another queue pair, whatever the two share on the wire.
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>

#include "dat/transport/contract/contract_test_suite.h"

namespace softdat::transport {
namespace {

// In its first upcall it has a message sent, and moves data until one has come.
class WaitingSink : public CompletionSink {
 public:
  void OnCompletion() override {
    if (entered_.exchange(true)) return;
    send();
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(5);
    while (!came && Clock::now() < deadline) {
      adapter->Progress(nullptr, {});
      came = has_come();
    }
    left = true;
  }
  void OnOverflow() override {}

  Adapter* adapter = nullptr;
  std::function<void()> send;
  std::function<bool()> has_come;
  std::atomic<bool> came{false};
  std::atomic<bool> left{false};

 private:
  std::atomic<bool> entered_{false};
};

// Over UDP the packets of both pairs come by one socket, and may be read together. Over TCP each
// pair has a socket, and the one that is waited for has been silent. Which thread makes the upcall,
// and in which way it was found, differs from round to round.
TEST_F(ContractPairTest, AnUpcallMayWaitForAnotherPairsMessage) {
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    WaitingSink sink;
    sink.adapter = adapter_.get();
    auto told = adapter_->CreateCompletionQueue(64, &sink);
    ASSERT_TRUE(told.ok());
    const std::unique_ptr<CompletionQueue> queue = told.Take();
    const auto c = MakePair(pd_.get()), d = MakePair(pd_.get());
    const auto e = MakePair(pd_.get()), f = MakePair(pd_.get());
    QueuePairAttributes attributes = PairAttributes(*d);
    attributes.recv_cq = queue.get();
    ASSERT_TRUE(d->qp->Configure(attributes).ok());
    Join(*c, *d);
    Join(*e, *f);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(PostReceive(*f, {}), Code::kOk);
    ASSERT_EQ(PostReceive(*d, {}), Code::kOk);
    sink.send = [&] { EXPECT_EQ(PostSend(*e, {}), Code::kOk); };
    sink.has_come = [&] {
      Completion completion;
      return f->recv_queue->cq->Poll({&completion, 1}) == 1;
    };
    ASSERT_TRUE(queue->Arm(false));
    ASSERT_EQ(PostSend(*c, {}), Code::kOk);
    if (round % 2 == 0) {
      ASSERT_EQ(PostSend(*e, {}), Code::kOk);
    }
    ASSERT_TRUE(Until([&] { return sink.left.load(); }));
    EXPECT_TRUE(sink.came);
  }
}

}  // namespace
}  // namespace softdat::transport
