// SPDX-License-Identifier: BSD-3-Clause
#include "rds/api/readiness.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <mutex>
#include <thread>

namespace softdat::rds {
namespace {

class ReadinessTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(readiness_.Open(0), 0); }
  void TearDown() override { close(readiness_.program_end()); }

  bool IsReadable(int timeout_ms = 0) {
    pollfd one{readiness_.program_end(), POLLIN, 0};
    return poll(&one, 1, timeout_ms) == 1;
  }

  Readiness readiness_;
};

TEST_F(ReadinessTest, IsReadableWhenItIsShown) {
  EXPECT_TRUE(readiness_.WillBeReadable());
  EXPECT_FALSE(IsReadable());
  readiness_.Show();
  EXPECT_TRUE(IsReadable());
  EXPECT_FALSE(readiness_.WillBeReadable()) << "it is already";
  readiness_.SetReadable(false);
  EXPECT_FALSE(IsReadable());
}

TEST_F(ReadinessTest, WhatWasTakenBackIsNotShown) {
  EXPECT_TRUE(readiness_.WillBeReadable());
  readiness_.SetReadable(false);
  readiness_.Show();
  EXPECT_FALSE(IsReadable());
}

TEST_F(ReadinessTest, WhatWasTakenBackAndShownByACallIsShownOnce) {
  EXPECT_TRUE(readiness_.WillBeReadable());
  readiness_.SetReadable(false);
  readiness_.SetReadable(true);
  readiness_.Show();
  EXPECT_TRUE(IsReadable());
  readiness_.SetReadable(false);
  EXPECT_FALSE(IsReadable());
}

TEST_F(ReadinessTest, NothingIsShownOnceItIsClosed) {
  EXPECT_TRUE(readiness_.WillBeReadable());
  readiness_.Close();
  readiness_.Show();
  char byte = 0;
  EXPECT_EQ(read(readiness_.program_end(), &byte, 1), 0) << "the end";
}

// One thread shows what has come, without the lock. The other one takes it when it sees that.
TEST_F(ReadinessTest, ShowsAndTakesAtTheSameTime) {
  constexpr int kMessages = 20'000;
  std::mutex mutex;
  int waiting = 0;  // under `mutex`
  std::thread shower([&] {
    for (int i = 0; i < kMessages; ++i) {
      {
        const std::lock_guard lock(mutex);
        ++waiting;
        readiness_.WillBeReadable();
      }
      readiness_.Show();
    }
  });
  for (int taken = 0; taken < kMessages;) {
    const bool readable = IsReadable(10'000);
    EXPECT_TRUE(readable);
    const std::lock_guard lock(mutex);
    // Others may have received it before this thread could.
    if (waiting > 1) {
      --waiting;
      ++taken;
      readiness_.SetReadable(true);
      continue;
    }
    taken += waiting;
    waiting = 0;
    readiness_.SetReadable(false);
    EXPECT_FALSE(IsReadable()) << taken;
    if (!readable) break;
  }
  shower.join();
}

}  // namespace
}  // namespace softdat::rds
