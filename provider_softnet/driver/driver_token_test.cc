// SPDX-License-Identifier: BSD-3-Clause
// DriverToken: exclusion, recursion, order of hand-over, leaving the queue.
#include "provider_softnet/driver/driver_token.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace softdat::softnet {
namespace {

using Holder = DriverToken::Holder;
using transport::Waiter;

constexpr auto kPatience = std::chrono::seconds(10);

// Counts the attempts to wake a blocked holder.
class Kicks final : public transport::Interruptible {
 public:
  void Interrupt() override { count.fetch_add(1); }
  std::atomic<int> count{0};
};

bool Until(const std::function<bool()>& done) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(DriverToken, IsRecursiveInOneThread) {
  Kicks kicks;
  DriverToken token(&kicks);
  token.Acquire(Holder::kControl);
  EXPECT_TRUE(token.TryAcquire(Holder::kPoller));
  token.Acquire(Holder::kControl);
  token.Release();
  token.Release();
  EXPECT_TRUE(token.HeldByMe());
  EXPECT_EQ(token.holder(), Holder::kControl);
  token.Release();
  EXPECT_FALSE(token.HeldByMe());
  EXPECT_EQ(token.holder(), Holder::kNobody);
}

TEST(DriverToken, APollerDoesNotGetWhatAnotherHolds) {
  Kicks kicks;
  DriverToken token(&kicks);
  token.Acquire(Holder::kControl);
  bool got = true;
  std::thread([&] { got = token.TryAcquire(Holder::kPoller); }).join();
  EXPECT_FALSE(got);
  EXPECT_EQ(kicks.count, 0);
  token.Release();
  std::thread([&] {
    got = token.TryAcquire(Holder::kPoller);
    token.Release();
  }).join();
  EXPECT_TRUE(got);
}

TEST(DriverToken, ControlCallsKickAndGetItInOrderBeforeParkedThreads) {
  Kicks kicks;
  DriverToken token(&kicks);
  token.Acquire(Holder::kWaiter);
  std::vector<int> order;  // guarded by the token itself
  std::vector<std::thread> threads;
  Waiter waiter;
  std::atomic<bool> queued{false};
  threads.emplace_back([&] {
    ParkedThread self(&waiter);
    EXPECT_FALSE(token.AcquireOrQueue(&self));
    queued = true;
    EXPECT_EQ(waiter.Park(std::chrono::steady_clock::now() + kPatience, &self.granted),
              Waiter::ParkResult::kSignalled);
    EXPECT_TRUE(self.granted);
    EXPECT_FALSE(waiter.signalled());
    order.push_back(99);
    token.Release();
  });
  ASSERT_TRUE(Until([&] { return queued.load(); }));
  EXPECT_EQ(kicks.count, 0) << "a driving waiter is not disturbed by one that parks";
  for (int i = 0; i < 3; ++i) {
    const int before = kicks.count;
    threads.emplace_back([&, i] {
      token.Acquire(Holder::kControl);
      order.push_back(i);
      token.Release();
    });
    ASSERT_TRUE(Until([&] { return kicks.count > before; }));
  }
  EXPECT_TRUE(token.WantedByControl());
  token.Release();
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 99}));
  EXPECT_EQ(token.hand_overs(), 1u);
}

TEST(DriverToken, AHelperIsAskedToLeaveForAParkedThread) {
  Kicks kicks;
  DriverToken token(&kicks);
  ASSERT_TRUE(token.TryAcquire(Holder::kHelper));
  Waiter waiter;
  std::thread parked([&] {
    ParkedThread self(&waiter);
    EXPECT_FALSE(token.AcquireOrQueue(&self));
    waiter.Park(std::chrono::steady_clock::now() + kPatience, &self.granted);
    EXPECT_TRUE(token.LeaveQueue(&self));
    token.Release();
  });
  ASSERT_TRUE(Until([&] { return kicks.count == 1; }));
  EXPECT_TRUE(token.WantedByAnybody());
  EXPECT_FALSE(token.WantedByControl());
  token.Release();
  parked.join();
}

TEST(DriverToken, LeavingTheQueueGivesUpTheClaim) {
  Kicks kicks;
  DriverToken token(&kicks);
  token.Acquire(Holder::kWaiter);
  Waiter waiter;
  std::thread([&] {
    ParkedThread self(&waiter);
    EXPECT_FALSE(token.AcquireOrQueue(&self));
    EXPECT_EQ(waiter.Park(std::chrono::steady_clock::now(), &self.granted),
              Waiter::ParkResult::kTimedOut);
    EXPECT_FALSE(token.LeaveQueue(&self));
  }).join();
  EXPECT_FALSE(token.HasParked());
  token.Release();
  EXPECT_EQ(token.holder(), Holder::kNobody);
}

TEST(DriverToken, OneWhoGivesWayIsNextAfterTheControlCall) {
  Kicks kicks;
  DriverToken token(&kicks);
  Waiter first, second;
  ParkedThread driving(&first);
  ASSERT_TRUE(token.AcquireOrQueue(&driving));
  std::atomic<bool> second_queued{false}, second_done{false};
  std::thread other([&] {
    ParkedThread self(&second);
    EXPECT_FALSE(token.AcquireOrQueue(&self));
    second_queued = true;
    second.Park(std::chrono::steady_clock::now() + kPatience, &self.granted);
    second_done = true;
    token.Release();
  });
  ASSERT_TRUE(Until([&] { return second_queued.load(); }));
  std::thread control([&] {
    token.Acquire(Holder::kControl);
    token.Release();
  });
  ASSERT_TRUE(Until([&] { return token.WantedByControl(); }));
  ASSERT_TRUE(token.GiveWay(&driving));
  first.Park(std::chrono::steady_clock::now() + kPatience, &driving.granted);
  EXPECT_TRUE(driving.granted);
  EXPECT_TRUE(token.HeldByMe());
  EXPECT_FALSE(second_done);
  control.join();
  token.Release();
  other.join();
}

TEST(DriverToken, ExcludesUnderContention) {
  Kicks kicks;
  DriverToken token(&kicks);
  int inside = 0, total = 0;  // guarded by the token
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        if (t == 0) {
          if (!token.TryAcquire(Holder::kPoller)) continue;
        } else {
          token.Acquire(Holder::kControl);
        }
        EXPECT_EQ(++inside, 1);
        ++total;
        --inside;
        token.Release();
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_GE(total, 6000);
}

}  // namespace
}  // namespace softdat::softnet
