// SPDX-License-Identifier: BSD-3-Clause
// A driver that watches one descriptor, for its tests.
#ifndef SOFTDAT_PROVIDER_VERBS_DRIVER_FIXTURE_H_
#define SOFTDAT_PROVIDER_VERBS_DRIVER_FIXTURE_H_

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "provider_verbs/driver.h"

namespace softdat::verbs {

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    driver_.Watch(fd_, [this] {
      uint64_t count = 0;
      EXPECT_EQ(read(fd_, &count, sizeof count), static_cast<ssize_t>(sizeof count));
      EXPECT_EQ(inside_.fetch_add(1), 0) << "two leaders at once";
      events_.fetch_add(1);  // counted before any waiter hears of it
      if (on_event_) on_event_();
      inside_.fetch_sub(1);
      return true;
    });
    ASSERT_TRUE(driver_.Start().ok());
  }
  void TearDown() override {
    driver_.Stop();
    close(fd_);
  }
  void Raise() {
    const uint64_t one = 1;
    ASSERT_EQ(write(fd_, &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  // Waits without any call into the driver.
  static bool Spin(const std::function<bool()>& done) {
    const transport::Clock::time_point deadline =
        transport::Clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (transport::Clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  int fd_ = -1;
  std::atomic<int> inside_{0};
  std::atomic<int> events_{0};
  std::function<void()> on_event_;
  Driver driver_;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_DRIVER_FIXTURE_H_
