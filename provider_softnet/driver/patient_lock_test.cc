// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/driver/patient_lock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <mutex>
#include <thread>

namespace softdat::softnet {
namespace {

using std::chrono::milliseconds;

// Holds a mutex for so long, in a thread of its own.
class Holder {
 public:
  Holder(std::mutex* mutex, milliseconds time)
      : thread_([this, mutex, time] {
          const std::lock_guard<std::mutex> lock(*mutex);
          held_.count_down();
          std::this_thread::sleep_for(time);
        }) {
    held_.wait();
  }
  ~Holder() { thread_.join(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

 private:
  std::latch held_{1};
  std::thread thread_;
};

// On a busy machine a thread may be kept from its processor for so long in the middle of a send.
TEST(PatientLockTest, AnExitWaitsForAThreadThatGoesOn) {
  std::mutex mutex;
  const Holder holder(&mutex, milliseconds(60));
  std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
  EXPECT_TRUE(LockPatiently(&lock, Channel::Patience::kTry));
  EXPECT_TRUE(lock.owns_lock());
}

TEST(PatientLockTest, AnExitGivesUpAThreadThatStays) {
  std::mutex mutex;
  const std::lock_guard<std::mutex> stays(mutex);
  std::thread([&mutex] {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(LockPatiently(&lock, Channel::Patience::kTry));
    EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(200));
    EXPECT_FALSE(LockPatiently(&lock, Channel::Patience::kLeave));
  }).join();
}

}  // namespace
}  // namespace softdat::softnet
