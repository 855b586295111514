// SPDX-License-Identifier: BSD-3-Clause
// A channel for tests of the driver: one end of a socket pair whose bytes are counted.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_COUNTING_CHANNEL_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_COUNTING_CHANNEL_H_

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "provider_softnet/driver/driver.h"
#include "provider_softnet/driver/ride_hope.h"

namespace softdat::softnet {

inline constexpr auto kPatience = std::chrono::seconds(10);

inline LoopClock::time_point Patience() { return LoopClock::now() + kPatience; }

inline bool Until(const std::function<bool()>& done) {
  const auto deadline = Patience();
  while (!done()) {
    if (LoopClock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class CountingChannel final : public Channel {
 public:
  explicit CountingChannel(Driver* driver) : driver_(driver) {
    int fds[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    mine_ = UniqueFd(fds[0]);
    peer_ = UniqueFd(fds[1]);
    const TokenHold token(&driver_->token());
    watch_.emplace(&driver_->loop(), [this](int) {
      if (driver_->LooksInPassing()) found_in_passing.fetch_add(1);
      if (TryReceive()) driver_->FoundByTurn(this, own.get());
    });
    EXPECT_TRUE(watch_->Start(mine_.get(), kReadable).ok());
  }
  void Close() {
    const TokenHold token(&driver_->token());
    watch_->Stop();
    driver_->DropHot(this, own.get());
  }
  void PeerSends() { EXPECT_EQ(::write(peer_.get(), "x", 1), 1); }

  bool TryReceive() override {
    SetRests(rests_now);
    if (rests_now) return false;
    char buffer[64];
    const ssize_t n = ::recv(mine_.get(), buffer, sizeof(buffer), MSG_DONTWAIT);
    if (n <= 0) return false;
    last_reader = pthread_self();
    received.fetch_add(static_cast<int>(n));
    if (transport::Waiter* w = waiter.load()) w->Signal();
    return true;
  }
  bool FlushSends(Flusher by) override {
    if (in_use && PatienceOf(by) == Patience::kLeave) {
      driver_->DeferSends(this, Driver::Wake::kNobody);
      return false;
    }
    flushes.fetch_add(1);
    return true;
  }
  bool PayOwed(Patience patience) override {
    if (in_use && patience == Patience::kLeave) {
      left.fetch_add(1);
      if (before_leaving) before_leaving();
      driver_->Owe(this);
      return false;
    }
    if (patience == Patience::kRide &&
        hope_.Leave(true, posted, LoopClock::now(), driver_->ride())) {
      left.fetch_add(1);
      driver_->Owe(this);
      return false;
    }
    hope_.Forget(posted);
    payments.fetch_add(1);
    return true;
  }
  void SetHot(bool now) override { hot.fetch_add(now ? 1 : -1); }
  uint32_t OwnPolls() const override { return own ? own->polls() : 0; }
  void Attend() override {
    EXPECT_TRUE(driver_->token().HeldByMe());
    attended.fetch_add(1);
    if (upcall) upcall();
  }

  std::function<void()> upcall;  // of Attend(). To be set before attention is requested.
  RefPtr<HotSet> own;            // of the queue that it feeds. To be set before data come.
  std::atomic<int> hot{0};       // sets that contain it
  std::atomic<int> received{0};
  std::atomic<int> found_in_passing{0};  // by looks at all sockets
  std::atomic<int> flushes{0};
  std::atomic<bool> in_use{false};  // another thread has it
  std::atomic<bool> rests_now{false};
  std::atomic<int> payments{0};
  std::atomic<uint64_t> posted{0};       // by the program
  std::atomic<int> left{0};              // payments that were left to that thread, or to a ride
  std::function<void()> before_leaving;  // in the midst of that. To be set before it is owed.
  std::atomic<int> attended{0};
  std::atomic<transport::Waiter*> waiter{nullptr};
  std::atomic<pthread_t> last_reader{};

 private:
  Driver* const driver_;
  UniqueFd mine_, peer_;
  std::optional<SocketWatch> watch_;
  RideHope hope_;  // of one payment after the other
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_COUNTING_CHANNEL_H_
