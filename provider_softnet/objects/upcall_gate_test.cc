// SPDX-License-Identifier: BSD-3-Clause
// Upcalls on several threads whose consumers destroy each other's queues.
#include "provider_softnet/driver/upcall_gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "provider_softnet/driver/driver_token.h"
#include "provider_softnet/objects/queue_cores.h"

namespace softdat::softnet {
namespace {

// A queue whose upcall runs a function.
struct Queue final : transport::CompletionSink {
  Queue() : queue(std::make_unique<SoftnetCompletionQueue>(8, this, &callers)) {}
  void OnCompletion() override {
    ++upcalls;
    upcall();
  }
  void OnOverflow() override {}
  // Acts like a stream that has pushed a completion.
  void Notify(Queue* and_then = nullptr) {
    PendingUpcalls owed;
    for (Queue* q : {this, and_then}) {
      if (q == nullptr) continue;
      EXPECT_TRUE(q->queue->Arm(false));
      EXPECT_TRUE(q->queue->core()->ring.Push({}));
      owed.Owe(q->queue->core());
    }
  }

  std::function<void()> upcall;
  int upcalls = 0;
  CallerActivity callers;
  std::unique_ptr<SoftnetCompletionQueue> queue;
};

class Nobody final : public transport::Interruptible {
 public:
  void Interrupt() override {}
};

// A barrier: all threads that have come in go on together.
class Meeting {
 public:
  explicit Meeting(int expected) : expected_(expected) {}
  void Come() {
    ++here_;
    while (here_ < expected_) std::this_thread::yield();
  }

 private:
  const int expected_;
  std::atomic<int> here_{0};
};

TEST(UpcallGateTest, TwoUpcallsDestroyEachOthersQueues) {
  for (int round = 0; round < 200; ++round) {
    Queue queues[2];
    Meeting both(2);
    for (int i = 0; i < 2; ++i) {
      queues[i].upcall = [&, i] {
        both.Come();
        queues[1 - i].queue.reset();
      };
    }
    std::thread other([&] { queues[1].Notify(); });
    queues[0].Notify();
    other.join();
    EXPECT_EQ(queues[0].upcalls + queues[1].upcalls, 2);
  }
}

// An upcall that is owed, but has not begun when its queue is destroyed, is never made.
TEST(UpcallGateTest, NoUpcallIsMadeForAQueueThatIsDestroyed) {
  for (int round = 0; round < 200; ++round) {
    Queue first, owed, other;
    Meeting both(2);
    first.upcall = [&] {
      both.Come();
      other.queue.reset();
    };
    std::atomic<bool> destroyed{false};
    owed.upcall = [&] { EXPECT_FALSE(destroyed); };
    other.upcall = [&] {
      both.Come();
      owed.queue.reset();
      destroyed = true;
    };
    std::thread thread([&] { other.Notify(); });
    first.Notify(&owed);
    thread.join();
    EXPECT_EQ(first.upcalls + other.upcalls, 2);
  }
}

// One upcall waits for the token that the other thread holds, and the other thread waits for that
// upcall.
TEST(UpcallGateTest, AnUpcallThatWaitsForTheTokenIsNotWaitedForByAnother) {
  for (int round = 0; round < 200; ++round) {
    Nobody nobody;
    DriverToken token(&nobody);
    Queue with, without;
    Meeting both(2);
    with.upcall = [&] {
      both.Come();
      without.queue.reset();
    };
    without.upcall = [&] {
      both.Come();
      const TokenHold hold(&token);
    };
    std::thread thread([&] {
      const TokenHold hold(&token);
      with.Notify();
    });
    without.Notify();
    thread.join();
  }
}

// A thread that is not inside an upcall waits for all of them, because afterwards what the
// consumer's upcall uses may go away.
TEST(UpcallGateTest, OthersWaitForAnUpcallThatWaits) {
  Nobody nobody;
  DriverToken token(&nobody);
  Queue queue;
  std::atomic<bool> inside{false}, over{false};
  queue.upcall = [&] {
    inside = true;
    const TokenHold hold(&token);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    over = true;
  };
  std::thread upcall;
  {
    const TokenHold hold(&token);
    upcall = std::thread([&] { queue.Notify(); });
    while (!inside) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  queue.queue.reset();
  EXPECT_TRUE(over);
  upcall.join();
}

}  // namespace
}  // namespace softdat::softnet
