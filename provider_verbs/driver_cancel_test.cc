// SPDX-License-Identifier: BSD-3-Clause
// The driver after a thread was cancelled in a wait.
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>

#include "provider_verbs/driver_fixture.h"

namespace softdat::verbs {
namespace {

using transport::ProgressResult;
using transport::Waiter;

TEST_F(DriverTest, ACancelledWaiterLeavesTheDriverUsable) {
  for (int parked = 0; parked < 2; ++parked) {
    // If a second waiter is in front, the cancelled one is parked. Otherwise it leads.
    Waiter first, second;
    std::atomic<bool> in{false};
    std::thread leader;
    if (parked == 1) {
      leader = std::thread([&] {
        while (driver_.Progress(&first, transport::kForever) != ProgressResult::kSignalled) {
        }
      });
    }
    struct Argument {
      Driver* driver;
      Waiter* waiter;
      std::atomic<bool>* in;
    } argument{&driver_, &second, &in};
    pthread_t thread{};
    ASSERT_EQ(pthread_create(
                  &thread, nullptr,
                  [](void* p) -> void* {
                    auto* const a = static_cast<Argument*>(p);
                    a->in->store(true);
                    for (;;) a->driver->Progress(a->waiter, transport::kForever);
                    return nullptr;
                  },
                  &argument),
              0);
    ASSERT_TRUE(Spin([&] { return in.load(); }));
    ASSERT_EQ(pthread_cancel(thread), 0);
    ASSERT_EQ(pthread_join(thread, nullptr), 0);
    if (parked == 1) {
      first.Signal();
      leader.join();
    }
    const int before = events_;
    Raise();
    EXPECT_TRUE(Spin([&] { return events_ > before; }));
  }
}

}  // namespace
}  // namespace softdat::verbs
