// SPDX-License-Identifier: BSD-3-Clause
// An EVD is freed while another thread takes events from it, which it does without a pin.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "dat/engine/object/handle.h"
#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kRounds = 300;
#else
constexpr int kRounds = 5000;
#endif

class EvdFreeTest : public EngineTest {};

// The call has seen the handle live and waits for the mutex. When it has the mutex, it must look
// again, because there may be no object any more.
TEST_F(EvdFreeTest, TheHandleDiesWhileACallWaitsForTheMutex) {
  Cell* const cell = CellOf(recv_evd_);
  ASSERT_NE(cell, nullptr);
  std::unique_lock<FastMutex> lock(cell->mutex);
  std::thread caller([&] {
    DAT_EVENT event;
    EXPECT_EQ(DAT_GET_TYPE(slots::EvdDequeue(recv_evd_, &event)), DAT_INVALID_HANDLE);
  });
  std::this_thread::sleep_for(
      std::chrono::milliseconds(50));  // if it comes later, it passes as well
  const uint64_t alive = cell->state.fetch_and(~kLiveBit);
  Object* const object = std::exchange(cell->object, nullptr);
  lock.unlock();
  caller.join();
  cell->object = object;
  cell->state = alive;
}

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
