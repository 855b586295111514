// SPDX-License-Identifier: BSD-3-Clause
// An EVD is freed while another thread takes events from it, which it does without a pin.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kRounds = 300;
#else
constexpr int kRounds = 5000;
#endif

class EvdFreeTest : public EngineTest {};

// covers: semantics 3.2
TEST_F(EvdFreeTest, EvdsAreFreedWhileTheyArePolled) {
  std::atomic<DAT_EVD_HANDLE> evd{MakeEvd(DAT_EVD_DTO_FLAG)};
  std::atomic<bool> stop{false};
  std::atomic<int> polls{0};
  std::thread poller([&] {
    DAT_EVENT event;
    while (!stop) {
      const DAT_RETURN result = slots::EvdDequeue(evd.load(std::memory_order_acquire), &event);
      // A call that is inside when the EVD is freed is aborted.
      const DAT_RETURN type = DAT_GET_TYPE(result);
      EXPECT_TRUE(result == DAT_QUEUE_EMPTY || type == DAT_INVALID_HANDLE || type == DAT_ABORT)
          << std::hex << result;
      ++polls;
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    const int before = polls;
    while (polls == before) std::this_thread::yield();
    const DAT_EVD_HANDLE old = evd;
    // Either the poller goes on with the dead handle, or it has the next one already.
    if (i % 2 == 1) evd.store(MakeEvd(DAT_EVD_DTO_FLAG), std::memory_order_release);
    ASSERT_EQ(slots::EvdFree(old), DAT_SUCCESS);
    if (i % 2 == 0) evd.store(MakeEvd(DAT_EVD_DTO_FLAG), std::memory_order_release);
  }
  stop = true;
  poller.join();
  EXPECT_EQ(slots::EvdFree(evd), DAT_SUCCESS);
}

}  // namespace
}  // namespace softdat::engine::testing
