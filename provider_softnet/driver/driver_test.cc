// SPDX-License-Identifier: BSD-3-Clause
// The driver decides who moves the data. The channels count the bytes that they get.
#include "provider_softnet/driver/driver.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "provider_softnet/driver/driver_fixture.h"

namespace softdat::softnet {
namespace {

using transport::ProgressResult;
using transport::Waiter;

TEST_F(DriverTest, TheHelperServesAProgramThatMakesNoCall) {
  channel_->PeerSends();
  EXPECT_TRUE(Until([&] { return channel_->received == 1; }));
  EXPECT_FALSE(pthread_equal(channel_->last_reader, pthread_self()));
}

TEST_F(DriverTest, TheWaitingThreadMovesTheDataItself) {
  Waiter waiter;
  channel_->waiter = &waiter;
  channel_->PeerSends();
  EXPECT_EQ(driver_->Progress(&waiter, Patience()), ProgressResult::kSignalled);
  EXPECT_EQ(channel_->received, 1);
}

TEST_F(DriverTest, AWaitOnASilentChannelTimesOutAtItsDeadline) {
  Waiter waiter;
  const auto deadline = LoopClock::now() + std::chrono::microseconds(2500);
  EXPECT_EQ(driver_->Progress(&waiter, deadline), ProgressResult::kTimedOut);
  EXPECT_GE(LoopClock::now(), deadline);
}

TEST_F(DriverTest, ASignalledWaiterDoesNotWait) {
  Waiter waiter;
  waiter.Signal();
  EXPECT_EQ(driver_->Progress(&waiter, transport::kForever), ProgressResult::kSignalled);
}

TEST_F(DriverTest, ASignalFromAnotherThreadEndsTheSleep) {
  Waiter waiter;
  std::thread signaller([&] {
    Until([&] { return driver_->counters().blocking_waits.value() > 0; });
    waiter.Signal();
  });
  EXPECT_EQ(driver_->Progress(&waiter, transport::kForever), ProgressResult::kSignalled);
  signaller.join();
}

TEST_F(DriverTest, APollReceivesWithoutTheToken) {
  Waiter waiter;
  channel_->waiter = &waiter;
  channel_->PeerSends();
  ASSERT_TRUE(Until([&] { return channel_->received == 1; }));  // it is hot now
  ASSERT_TRUE(HelperDrives());
  channel_->PeerSends();
  EXPECT_TRUE(Until([&] {
    driver_->Progress(nullptr, LoopClock::now());
    return channel_->received == 2;
  }));
}

TEST_F(DriverTest, APollingThreadTakesTheLoopFromTheHelper) {
  ASSERT_TRUE(HelperDrives());
  EXPECT_TRUE(Until([&] {
    driver_->Progress(nullptr, LoopClock::now());
    return driver_->counters().loop_turns.value() > 3;
  }));
}

// A look that finds nothing leaves the helper in the loop, and leaves a lent descriptor unreadable.
TEST_F(DriverTest, ALookDoesNotMakeALentDescriptorReadable) {
  pollfd lent{driver_->ProgressDescriptor(), POLLIN, 0};
  ASSERT_TRUE(HelperDrives());
  ASSERT_TRUE(Until([&] { return poll(&lent, 1, 0) == 0; }));
  const uint64_t kicks = driver_->counters().kicks.value();
  for (int i = 0; i < 1000; ++i) {
    driver_->LookAround();
    driver_->Progress(nullptr, LoopClock::now());
  }
  EXPECT_EQ(driver_->counters().kicks.value(), kicks);
  EXPECT_EQ(poll(&lent, 1, 0), 0);
}

TEST_F(DriverTest, OfTwoWaitingThreadsOneDrivesAndTheLoopIsHandedOn) {
  Waiter mine, theirs;
  std::atomic<bool> other_done{false};
  std::thread other([&] {
    EXPECT_EQ(driver_->Progress(&theirs, transport::kForever), ProgressResult::kSignalled);
    other_done = true;
  });
  ASSERT_TRUE(Until([&] { return driver_->token().holder() == DriverToken::Holder::kWaiter; }));
  std::thread parked([&] {
    EXPECT_EQ(driver_->Progress(&mine, transport::kForever), ProgressResult::kSignalled);
  });
  ASSERT_TRUE(Until([&] { return driver_->token().HasParked(); }));
  const uint64_t before = driver_->token().hand_overs();  // one thread may have followed the helper
  theirs.Signal();
  other.join();
  // The parked thread drives now, so data reaches it without the helper.
  ASSERT_TRUE(Until([&] { return driver_->token().hand_overs() == before + 1; }));
  channel_->waiter = &mine;
  channel_->PeerSends();
  parked.join();
  EXPECT_EQ(channel_->received, 1);
  EXPECT_TRUE(other_done);
}

TEST_F(DriverTest, AParkedThreadTimesOutToo) {
  Waiter driving, parked;
  std::thread other([&] { driver_->Progress(&driving, transport::kForever); });
  ASSERT_TRUE(Until([&] { return driver_->token().holder() == DriverToken::Holder::kWaiter; }));
  EXPECT_EQ(driver_->Progress(&parked, LoopClock::now() + std::chrono::milliseconds(5)),
            ProgressResult::kTimedOut);
  driving.Signal();
  other.join();
}

TEST_F(DriverTest, AControlCallInterruptsASleepingWaiterWhichGoesOnAfterwards) {
  Waiter waiter;
  std::thread sleeping([&] {
    EXPECT_EQ(driver_->Progress(&waiter, transport::kForever), ProgressResult::kSignalled);
  });
  ASSERT_TRUE(Until([&] { return driver_->counters().blocking_waits.value() > 0; }));
  for (int i = 0; i < 50; ++i) {
    const TokenHold token(&driver_->token());
    EXPECT_TRUE(driver_->token().HeldByMe());
  }
  channel_->waiter = &waiter;
  channel_->PeerSends();
  sleeping.join();
}

void OnSignal(int) {}

TEST_F(DriverTest, ASignalHandlerEndsTheWait) {
  struct sigaction action {};
  action.sa_handler = &OnSignal;
  struct sigaction before;
  ASSERT_EQ(sigaction(SIGUSR1, &action, &before), 0);
  Waiter waiter;
  std::atomic<bool> done{false};
  std::thread sleeping([&] {
    EXPECT_EQ(driver_->Progress(&waiter, transport::kForever), ProgressResult::kInterrupted);
    done = true;
  });
  // The signal is sent again until it arrives while the thread sleeps.
  EXPECT_TRUE(Until([&] {
    if (!done) pthread_kill(sleeping.native_handle(), SIGUSR1);
    std::this_thread::yield();
    return done.load();
  }));
  sleeping.join();
  sigaction(SIGUSR1, &before, nullptr);
}

// ThreadSanitizer cannot follow a thread that is cancelled inside a system call. It treats the
// destructors that run on the way out as part of that call, and misses the locks that they take.
#ifndef __SANITIZE_THREAD__
void* WaitForEver(void* argument) {
  Waiter waiter;
  static_cast<Driver*>(argument)->Progress(&waiter, transport::kForever);
  return nullptr;
}

TEST_F(DriverTest, ACancelledThreadLeavesTheLoopToOthers) {
  pthread_t driving, parked;
  ASSERT_EQ(pthread_create(&driving, nullptr, &WaitForEver, &*driver_), 0);
  ASSERT_TRUE(Until([&] { return driver_->token().holder() == DriverToken::Holder::kWaiter; }));
  ASSERT_EQ(pthread_create(&parked, nullptr, &WaitForEver, &*driver_), 0);
  ASSERT_TRUE(Until([&] { return driver_->token().HasParked(); }));
  void* result = nullptr;
  ASSERT_EQ(pthread_cancel(parked), 0);
  ASSERT_EQ(pthread_join(parked, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  EXPECT_FALSE(driver_->token().HasParked());
  ASSERT_EQ(pthread_cancel(driving), 0);
  ASSERT_EQ(pthread_join(driving, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
  Waiter waiter;
  channel_->waiter = &waiter;
  channel_->PeerSends();
  EXPECT_EQ(driver_->Progress(&waiter, Patience()), ProgressResult::kSignalled);
}
#endif

TEST_F(DriverTest, DeferredSendsLeaveAtTheNextPoll) {
  driver_->DeferSends(channel_.get());
  driver_->Progress(nullptr, LoopClock::now());
  EXPECT_GE(channel_->flushes, 1);
}

TEST_F(DriverTest, DeferredSendsLeaveWithoutAnyCall) {
  for (int i = 1; i <= 3; ++i) {
    driver_->DeferSends(channel_.get());
    EXPECT_TRUE(Until([&] { return channel_->flushes >= i; }));
  }
}

TEST_F(DriverTest, DeferredSendsGetASleepingWaiterToFlushThem) {
  Waiter waiter;
  std::thread sleeping([&] { driver_->Progress(&waiter, transport::kForever); });
  ASSERT_TRUE(Until([&] { return driver_->counters().blocking_waits.value() > 0; }));
  for (int i = 1; i <= 20; ++i) {
    driver_->DeferSends(channel_.get());
    EXPECT_TRUE(Until([&] { return channel_->flushes >= i; }));
  }
  waiter.Signal();
  sleeping.join();
}

// A thread that waits for something else drives, so the helper sleeps without ticks. The thread
// that owes something makes no further call.
TEST_F(DriverTest, WhatIsOwedIsPaidWhileAWaiterSleeps) {
  Waiter waiter;
  std::thread sleeping([&] { driver_->Progress(&waiter, transport::kForever); });
  ASSERT_TRUE(Until([&] { return driver_->counters().blocking_waits.value() > 0; }));
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(Until([&] { return driver_->HelperRests(); }));
    driver_->Owe(channel_.get());
    EXPECT_TRUE(Until([&] { return channel_->payments >= i; }));
  }
  waiter.Signal();
  sleeping.join();
}

// The helper drives. It leaves each debt, because something was posted since the last one.
TEST_F(DriverTest, WhatTheHelperLeavesToAProgramThatSendsNothingIsPaid) {
  ASSERT_TRUE(HelperDrives());
  for (int i = 1; i <= 3; ++i) {
    ++channel_->posted;
    driver_->Owe(channel_.get());
    EXPECT_TRUE(Until([&] { return channel_->payments >= i; }));
  }
  EXPECT_GE(channel_->left, 1);
}

class LongRideTest : public DriverTest {
 protected:
  LongRideTest() { options_.ride = std::chrono::hours(1); }
  // The helper has left what is owed.
  bool Leaves() {
    if (!HelperDrives()) return false;
    ++channel_->posted;
    driver_->Owe(channel_.get());
    return Until([&] { return channel_->left >= 1; });
  }
};

// What comes meanwhile is not kept waiting.
TEST_F(LongRideTest, TheHelperTakesWhatComesWhileItLeavesADebt) {
  ASSERT_TRUE(Leaves());
  channel_->PeerSends();
  EXPECT_TRUE(Until([&] { return channel_->received == 1; }));
  EXPECT_EQ(channel_->payments, 0);
}

// The helper is not the one who comes back.
TEST_F(LongRideTest, WhoGetsTheTokenFindsItPaid) {
  ASSERT_TRUE(Leaves());
  const TokenHold hold(&driver_->token());
  EXPECT_EQ(channel_->payments, 1);
}

// If the helper waited for it, a thread that polls the channel would not know that it owes. A
// thread that sleeps in the loop keeps the helper from driving.
TEST_F(DriverTest, TheHelperLeavesWhatIsOwedWhileAnotherThreadHasTheChannel) {
  Waiter waiter;
  std::thread sleeping([&] { driver_->Progress(&waiter, transport::kForever); });
  ASSERT_TRUE(Until([&] { return driver_->counters().blocking_waits.value() > 0; }));
  ASSERT_TRUE(Until([&] { return driver_->HelperRests(); }));
  channel_->in_use = true;
  driver_->Owe(channel_.get());
  EXPECT_TRUE(Until([&] { return channel_->left >= 3; }));
  EXPECT_EQ(channel_->payments, 0);
  channel_->in_use = false;
  EXPECT_TRUE(Until([&] { return channel_->payments == 1; }));
  waiter.Signal();
  sleeping.join();
}

// The thread whose channel is deferred and the thread whose posts write what they gathered need not
// be the same.
TEST_F(DriverTest, DeferredSendsLeaveThoughOtherCallersFlushAllTheTime) {
  std::atomic<bool> enough{false};
  std::thread other([&] {
    while (!enough) driver_->NoteFlush();
  });
  for (int i = 1; i <= 3; ++i) {
    driver_->DeferSends(channel_.get());
    EXPECT_TRUE(Until([&] { return channel_->flushes >= i; }));
  }
  ASSERT_TRUE(HelperDrives());  // also when it flushes from the loop
  for (int i = 4; i <= 6; ++i) {
    driver_->DeferSends(channel_.get());
    EXPECT_TRUE(Until([&] { return channel_->flushes >= i; }));
  }
  enough = true;
  other.join();
}

// The descriptor is readable while data wait. It does not stay readable after they were taken,
// whoever took them.
TEST_F(DriverTest, TheProgressDescriptorTellsOfData) {
  const int fd = driver_->ProgressDescriptor();
  ASSERT_GE(fd, 0);
  const auto readable = [fd] {
    pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, 0) == 1;
  };
  // The socket is watched from the first data on.
  channel_->PeerSends();
  ASSERT_TRUE(Until([&] { return channel_->received == 1; }));
  for (int i = 2; i <= 20; ++i) {
    {
      const TokenHold nobody_else(&driver_->token());
      channel_->PeerSends();
      EXPECT_TRUE(Until(readable));
    }
    EXPECT_TRUE(Until([&] {
      driver_->LookAround();
      return channel_->received == i;
    }));
    EXPECT_TRUE(Until([&] {
      driver_->LookAround();
      return !readable();
    }));
  }
}

TEST_F(DriverTest, AttentionIsGivenWithTheToken) {
  ASSERT_TRUE(HelperDrives());
  driver_->RequestAttention(channel_.get());
  EXPECT_TRUE(Until([&] { return channel_->attended == 1; }));
}

// Upcalls of one turn, in which one waits for another. With the token nobody else can help it.
class UpcallTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    other_ = RefPtr<CountingChannel>::Adopt(new CountingChannel(&*driver_));
  }
  void TearDown() override {
    other_->Close();
    DriverTest::TearDown();
  }
  // Runs `upcall` as the first channel's, with `behind` asking for attention in the same turn.
  // Returns whether it came to an end.
  bool Run(std::function<void()> upcall, CountingChannel* behind) {
    std::atomic<bool> left{false};
    channel_->upcall = [&] {
      upcall();
      left = true;
    };
    {
      const TokenHold token(&driver_->token());
      driver_->RequestAttention(channel_.get());
      if (behind != nullptr) driver_->RequestAttention(behind);
    }
    return Until([&] { return left.load(); });
  }
  void PollUntil(const std::function<bool()>& done) {
    const LoopClock::time_point deadline = LoopClock::now() + kPatience / 2;
    while (!done() && LoopClock::now() < deadline) driver_->Progress(nullptr, {});
    EXPECT_TRUE(done());
  }

  RefPtr<CountingChannel> other_;
};

TEST_F(UpcallTest, APollFindsWhatComesOnASilentChannel) {
  EXPECT_TRUE(Run(
      [&] {
        other_->PeerSends();
        PollUntil([&] { return other_->received == 1; });
      },
      nullptr));
}

TEST_F(UpcallTest, APollGivesAttentionToWhatIsBehind) {
  EXPECT_TRUE(Run([&] { PollUntil([&] { return other_->attended == 1; }); }, other_.get()));
}

TEST_F(UpcallTest, AWaitGivesAttentionToWhatIsBehind) {
  Waiter waiter;
  other_->upcall = [&] { waiter.Signal(); };
  EXPECT_TRUE(Run(
      [&] {
        EXPECT_EQ(driver_->Progress(&waiter, LoopClock::now() + kPatience / 2),
                  ProgressResult::kSignalled);
      },
      other_.get()));
}

TEST_F(DriverTest, TasksRunWithTheToken) {
  std::atomic<bool> held{false};
  driver_->Post([&] { held = driver_->token().HeldByMe(); });
  EXPECT_TRUE(Until([&] { return held.load(); }));
}

TEST_F(DriverTest, AnIdleAdapterSleeps) {
  ASSERT_TRUE(HelperDrives());
  ASSERT_TRUE(Until([&] { return driver_->counters().blocking_waits.value() >= 1; }));
  const uint64_t ticks = driver_->counters().helper_ticks.value();
  const uint64_t waits = driver_->counters().blocking_waits.value();
  // Anything that ticks would show within this many of its periods.
  Waiter waiter;
  waiter.Park(LoopClock::now() + std::chrono::milliseconds(30));
  EXPECT_EQ(driver_->counters().helper_ticks.value(), ticks);
  EXPECT_EQ(driver_->counters().blocking_waits.value(), waits);
}

TEST(DriverStart, CostsNothingBefore) {
  const int before = OwnedDescriptorCount();
  Driver driver(DriverOptions{});
  EXPECT_EQ(driver.Progress(nullptr, LoopClock::now()), ProgressResult::kIdle);
  Waiter waiter;
  EXPECT_EQ(driver.Progress(&waiter, LoopClock::now()), ProgressResult::kTimedOut);
  EXPECT_FALSE(driver.started());
  EXPECT_EQ(OwnedDescriptorCount(), before);
}

}  // namespace
}  // namespace softdat::softnet
