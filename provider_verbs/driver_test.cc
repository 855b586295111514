// SPDX-License-Identifier: BSD-3-Clause
// Driver: leadership, followers, helper, tasks, timers, signals and cancellation.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include "provider_verbs/driver_fixture.h"

namespace softdat::verbs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using transport::Clock;
using transport::ProgressResult;
using transport::Waiter;

TEST_F(DriverTest, TheHelperServesAProgramThatMakesNoCall) {
  Raise();
  EXPECT_TRUE(Spin([&] { return events_ == 1; }));
  Raise();
  EXPECT_TRUE(Spin([&] { return events_ == 2; }));
}

TEST_F(DriverTest, AWaiterLeadsAndSeesTheEvent) {
  Waiter waiter;
  on_event_ = [&] { waiter.Signal(); };
  Raise();
  ProgressResult result = ProgressResult::kIdle;
  while (result != ProgressResult::kSignalled) {
    result = driver_.Progress(&waiter, Clock::now() + seconds(20));
    ASSERT_NE(result, ProgressResult::kTimedOut);
  }
  EXPECT_EQ(events_, 1);
}

TEST_F(DriverTest, TasksRunOnceInOrderAndFromTasks) {
  std::vector<int> order;
  std::atomic<int> ran{0};
  const auto run = [&](int which) {
    EXPECT_TRUE(driver_.Leading());
    order.push_back(which);
    ran.fetch_add(1);
  };
  // The third task may come before the second, because the helper may already run the first.
  driver_.Post([&] {
    driver_.Post([&] { run(3); });
    run(1);
  });
  driver_.Post([&] { run(2); });
  EXPECT_TRUE(Spin([&] { return ran == 3; }));
  EXPECT_FALSE(driver_.Leading());
  EXPECT_EQ(order.front(), 1);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

TEST_F(DriverTest, TimersFireInOrderNeverEarlyAndCanBeCancelled) {
  const Clock::time_point start = Clock::now();
  std::mutex mutex;
  std::vector<int> order;
  std::atomic<int> fired{0};
  const auto note = [&](int which) {
    return [&, which] {
      const std::lock_guard<std::mutex> lock(mutex);
      EXPECT_GE(Clock::now() - start, milliseconds(10 * which));
      order.push_back(which);
      ++fired;
    };
  };
  driver_.PostAt(start + milliseconds(30), note(3));
  const Driver::TimerId dead = driver_.PostAt(start + milliseconds(20), note(2));
  driver_.PostAt(start + milliseconds(10), note(1));
  driver_.Cancel(dead);
  EXPECT_TRUE(Spin([&] { return fired == 2; }));
  const std::lock_guard<std::mutex> lock(mutex);
  EXPECT_EQ(order, (std::vector<int>{1, 3}));
}

// The helper may be quicker than the caller, so the test repeats until the caller is.
TEST_F(DriverTest, ATimerFiresWhileACallerLeads) {
  bool by_the_caller = false;
  for (int round = 0; round < 200 && !by_the_caller; ++round) {
    Waiter waiter;
    std::atomic<std::thread::id> fired_by{};
    driver_.PostAt(Clock::now() + milliseconds(20), [&] {
      fired_by = std::this_thread::get_id();
      waiter.Signal();
    });
    ProgressResult result = ProgressResult::kIdle;
    while (result != ProgressResult::kSignalled && result != ProgressResult::kTimedOut) {
      result = driver_.Progress(&waiter, Clock::now() + seconds(60));
    }
    ASSERT_EQ(result, ProgressResult::kSignalled);
    by_the_caller = fired_by.load() == std::this_thread::get_id();
  }
  EXPECT_TRUE(by_the_caller) << "the caller blocked, and the helper had to run its timers";
}

TEST_F(DriverTest, ManyWaitersEachWakeByTheirOwnSignalOrDeadline) {
  constexpr int kThreads = 6;
  Waiter waiters[kThreads];
  std::vector<std::thread> threads;
  std::atomic<int> signalled{0}, timed_out{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const Clock::time_point deadline =
          Clock::now() + (i % 2 == 0 ? milliseconds(40) : milliseconds(20000));
      ProgressResult result = ProgressResult::kIdle;
      while (result != ProgressResult::kSignalled && result != ProgressResult::kTimedOut) {
        result = driver_.Progress(&waiters[i], deadline);
      }
      (result == ProgressResult::kSignalled ? signalled : timed_out).fetch_add(1);
    });
  }
  EXPECT_TRUE(Spin([&] { return timed_out == kThreads / 2; }));
  for (int i = 1; i < kThreads; i += 2) waiters[i].Signal();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(signalled, kThreads / 2);
  Raise();  // the helper works again
  EXPECT_TRUE(Spin([&] { return events_ == 1; }));
}

void OnSignal(int) {}

TEST_F(DriverTest, ASignalHandlerInterruptsTheWait) {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigaction(SIGUSR1, &action, nullptr);
  std::atomic<bool> interrupted{false};
  std::thread waiting([&] {
    Waiter waiter;
    ProgressResult result = ProgressResult::kIdle;
    while (result != ProgressResult::kInterrupted && result != ProgressResult::kTimedOut) {
      result = driver_.Progress(&waiter, Clock::now() + seconds(20));
    }
    interrupted = result == ProgressResult::kInterrupted;
  });
  // A signal that comes before the thread is in the call interrupts nothing. So it is sent again.
  while (!interrupted) {
    pthread_kill(waiting.native_handle(), SIGUSR1);
    std::this_thread::yield();
  }
  waiting.join();
}

}  // namespace
}  // namespace softdat::verbs
