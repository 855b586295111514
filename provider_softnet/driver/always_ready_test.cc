// SPDX-License-Identifier: BSD-3-Clause
// The driver with work that never ends. It must starve neither a wait's deadline nor a timer.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "provider_softnet/driver/driver.h"

// Stands in front of the C library's. On a busy machine a yield takes long, and ends the spin.
extern "C" [[gnu::visibility("default")]] int sched_yield() noexcept { return 0; }

namespace softdat::softnet {
namespace {

using std::chrono::milliseconds;
using transport::ProgressResult;
using transport::Waiter;

// Only a test in which something starved reaches this limit.
constexpr auto kPatience = std::chrono::seconds(10);
constexpr milliseconds kShort{10};

// A socket with a byte that nobody reads.
class ReadyChannel final : public Channel {
 public:
  ReadyChannel(Driver* driver, std::function<void(ReadyChannel*)> when_ready)
      : driver_(driver), when_ready_(std::move(when_ready)) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    mine_ = UniqueFd(fds[0]);
    peer_ = UniqueFd(fds[1]);
    EXPECT_EQ(::write(peer_.get(), "x", 1), 1);
    const TokenHold token(&driver_->token());
    watch.emplace(&driver_->loop(), [this](int) { when_ready_(this); });
    EXPECT_TRUE(watch->Start(mine_.get(), kReadable).ok());
  }
  void Close() {
    defers_for_ever = false;
    const TokenHold token(&driver_->token());
    watch->Stop();
    driver_->hot().Drop(this);
  }

  bool TryReceive() override {
    last_look = LoopClock::now();
    found_ = !finds_every_other || !found_;
    return found_;
  }
  bool FlushSends(Flusher) override {
    if (defers_for_ever) driver_->DeferSends(this);
    return true;
  }
  bool PayOwed(Patience) override { return false; }
  void Attend() override {}

  std::optional<SocketWatch> watch;
  std::atomic<bool> defers_for_ever{false};
  // Of the waiting thread.
  bool finds_every_other = false;
  LoopClock::time_point last_look;

 private:
  Driver* const driver_;
  const std::function<void(ReadyChannel*)> when_ready_;
  UniqueFd mine_, peer_;
  bool found_ = false;  // by the last look
};

class AlwaysReadyTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(driver_.Start().ok()); }
  void TearDown() override {
    {
      const TokenHold token(&driver_.token());
      timer_.reset();
    }
    if (channel_) channel_->Close();
    driver_.Stop();
  }
  void MakeChannel(std::function<void(ReadyChannel*)> when_ready) {
    channel_ = RefPtr<ReadyChannel>::Adopt(new ReadyChannel(&driver_, std::move(when_ready)));
  }
  void StartTimer(std::function<void()> handler) {
    const TokenHold token(&driver_.token());
    timer_.emplace(&driver_.loop(), std::move(handler));
    timer_->Start(kShort);
  }
  // Waits. A signal ends the wait if nothing else does.
  ProgressResult Wait(Waiter* waiter, LoopClock::time_point deadline) {
    std::promise<void> over;
    std::thread rescue([&] {
      if (over.get_future().wait_for(kPatience) == std::future_status::ready) return;
      ADD_FAILURE() << "the wait did not end by itself";
      waiter->Signal();
    });
    const ProgressResult result = driver_.Progress(waiter, deadline);
    over.set_value();
    rescue.join();
    return result;
  }
  void ExpectTimeout(Waiter* waiter) {
    const auto deadline = LoopClock::now() + kShort;
    EXPECT_EQ(Wait(waiter, deadline), ProgressResult::kTimedOut);
    EXPECT_GE(LoopClock::now(), deadline);
  }
  // The helper must run the timer alone.
  void ExpectTimerWithoutACall() {
    std::promise<void> fired;
    StartTimer([&] { fired.set_value(); });
    EXPECT_EQ(fired.get_future().wait_for(kPatience), std::future_status::ready);
    const TokenHold token(&driver_.token());
    timer_.reset();
  }

  Driver driver_{DriverOptions{}};
  RefPtr<ReadyChannel> channel_;
  std::optional<LoopTimer> timer_;
};

TEST_F(AlwaysReadyTest, AHotStreamDoesNotKeepAWaitFromItsDeadline) {
  MakeChannel([this](ReadyChannel* channel) { driver_.FoundByTurn(channel); });
  driver_.hot().OnFoundByTurn(channel_.get());
  Waiter waiter;
  ExpectTimeout(&waiter);
}

// A wait sleeps when nothing has come for a while, not when nothing came once. Otherwise a program
// that waits for the end of a stream of writes would be woken for each part of it.
TEST(LongSpinTest, AWaitSpinsAsLongAsDataCome) {
  constexpr milliseconds kSpin{250};
  Driver driver{DriverOptions{.spin = kSpin}};
  ASSERT_TRUE(driver.Start().ok());
  const auto channel = RefPtr<ReadyChannel>::Adopt(new ReadyChannel(&driver, [](ReadyChannel*) {}));
  channel->finds_every_other = true;
  driver.hot().OnFoundByTurn(channel.get());
  Waiter waiter;
  const auto deadline = LoopClock::now() + 4 * kSpin;
  EXPECT_EQ(driver.Progress(&waiter, deadline), ProgressResult::kTimedOut);
  EXPECT_GT(channel->last_look, deadline - kSpin);
  channel->Close();
  driver.Stop();
}

TEST_F(AlwaysReadyTest, AReadySocketDoesNotKeepABlockingWaitFromItsDeadline) {
  MakeChannel([](ReadyChannel*) {});
  Waiter waiter;
  waiter.spun = true;
  ExpectTimeout(&waiter);
}

TEST_F(AlwaysReadyTest, AWatchThatChangesAllTheTimeDoesNotEither) {
  MakeChannel(
      [](ReadyChannel* channel) { channel->watch->Update(channel->watch->events() ^ kHangup); });
  Waiter waiter;
  waiter.spun = true;
  ExpectTimeout(&waiter);
}

TEST_F(AlwaysReadyTest, SendsThatAreDeferredAllTheTimeDoNotEither) {
  MakeChannel([](ReadyChannel*) {});
  channel_->defers_for_ever = true;
  driver_.DeferSends(channel_.get());
  for (const bool spun : {false, true}) {
    Waiter waiter;
    waiter.spun = spun;
    ExpectTimeout(&waiter);
  }
}

TEST_F(AlwaysReadyTest, ATimerFiresInABlockingWait) {
  MakeChannel([](ReadyChannel*) {});
  Waiter waiter;
  waiter.spun = true;
  StartTimer([&] { waiter.Signal(); });
  EXPECT_EQ(Wait(&waiter, transport::kForever), ProgressResult::kSignalled);
}

TEST_F(AlwaysReadyTest, ATimerFiresInASpinningWait) {
  MakeChannel([this](ReadyChannel* channel) { driver_.FoundByTurn(channel); });
  driver_.hot().OnFoundByTurn(channel_.get());
  Waiter waiter;
  StartTimer([&] { waiter.Signal(); });
  EXPECT_EQ(Wait(&waiter, transport::kForever), ProgressResult::kSignalled);
}

TEST_F(AlwaysReadyTest, ATimerFiresInTheHelper) {
  MakeChannel([](ReadyChannel*) {});
  ExpectTimerWithoutACall();
}

TEST_F(AlwaysReadyTest, ATimerFiresInTheHelperBehindSendsThatAreDeferredAllTheTime) {
  MakeChannel([](ReadyChannel*) {});
  channel_->defers_for_ever = true;
  driver_.DeferSends(channel_.get());
  ExpectTimerWithoutACall();
}

}  // namespace
}  // namespace softdat::softnet
