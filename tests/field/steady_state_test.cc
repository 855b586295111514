// SPDX-License-Identifier: BSD-3-Clause
// Transfers in their steady state take no memory from the heap, on any thread. This program's
// malloc counts.
#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <chrono>

#include "tests/field/field.h"

namespace {

// The number of calls that gave out memory.
std::atomic<uint64_t> allocations{0};

void Count() { allocations.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

// glibc's own functions, under the names by which a malloc in front of them calls them.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

[[gnu::visibility("default")]] void* malloc(size_t size) {
  Count();
  return __libc_malloc(size);
}
[[gnu::visibility("default")]] void* calloc(size_t count, size_t size) {
  Count();
  return __libc_calloc(count, size);
}
[[gnu::visibility("default")]] void* realloc(void* block, size_t size) {
  Count();
  return __libc_realloc(block, size);
}
[[gnu::visibility("default")]] void* memalign(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
[[gnu::visibility("default")]] void* aligned_alloc(size_t alignment, size_t size) {
  Count();
  return __libc_memalign(alignment, size);
}
[[gnu::visibility("default")]] int posix_memalign(void** block, size_t alignment, size_t size) {
  Count();
  *block = __libc_memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
}

namespace softdat::field {
namespace {

constexpr uint64_t kWarmUp = 200;
constexpr uint64_t kCounted = 2000;
constexpr DAT_COUNT kWindow = 16;  // the room of a default endpoint

class SteadyStateTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Join(a_, b_)); }

  // Takes the next completion of `evd` by polling. Counts nothing of its own.
  static void Poll(DAT_EVD_HANDLE evd) {
    DAT_EVENT event;
    DAT_RETURN ret = DAT_SUCCESS;
    do {
      ret = dat_evd_dequeue(evd, &event);
    } while (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY);
    Check(ret, event);
  }
  static void Wait(DAT_EVD_HANDLE evd) {
    DAT_EVENT event;
    Check(client::WaitEvent(evd, kPatienceUs, &event), event);
  }
  static void Check(DAT_RETURN ret, const DAT_EVENT& event) {
    ASSERT_EQ(ret, DAT_SUCCESS);
    ASSERT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
  }

  // Expects that `round` takes nothing from the heap after it has run for a while.
  template <typename Round>
  static void ExpectNone(Round round) {
    for (uint64_t i = 0; i < kWarmUp && !HasFatalFailure(); ++i) round();
    const uint64_t before = allocations.load();
    for (uint64_t i = 0; i < kCounted && !HasFatalFailure(); ++i) round();
    EXPECT_EQ(allocations.load() - before, 0u);
  }

  // Sends a message there and one back.
  template <typename Take>
  void PingPong(size_t size, Take take) {
    ExpectNone([&] {
      ASSERT_DAT_OK(PostReceive(b_.ep, memory_.Local(0, size), 1));
      ASSERT_DAT_OK(PostReceive(a_.ep, memory_.Local(size, size), 2));
      ASSERT_DAT_OK(PostSend(a_.ep, memory_.Local(2 * size, size), 3));
      take(b_.recv_evd);
      take(a_.request_evd);
      ASSERT_DAT_OK(PostSend(b_.ep, memory_.Local(3 * size, size), 4));
      take(a_.recv_evd);
      take(b_.request_evd);
    });
  }

  Ia ia_;
  Memory memory_{ia_, 1 << 20};
  End a_{ia_};
  End b_{ia_};
};

TEST(CountingMalloc, SeesTheProvidersAllocations) {
  Ia ia;
  const uint64_t before = allocations.load();
  const DAT_EVD_HANDLE evd = ia.NewEvd(DAT_EVD_SOFTWARE_FLAG);
  EXPECT_GT(allocations.load(), before);
  EXPECT_DAT_OK(dat_evd_free(evd));
}

TEST_F(SteadyStateTest, PolledMessages) { PingPong(64, Poll); }

TEST_F(SteadyStateTest, AwaitedMessages) { PingPong(64, Wait); }

TEST_F(SteadyStateTest, LongMessages) { PingPong(64 << 10, Poll); }

// Timers of the provider end meanwhile, among them that of the look for peers that have gone.
TEST_F(SteadyStateTest, MessagesForLongerThanTimersRun) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  do {
    PingPong(64, Poll);
  } while (std::chrono::steady_clock::now() < until && !HasFailure());
}

TEST_F(SteadyStateTest, AWindowOfWrites) {
  ExpectNone([&] {
    for (DAT_COUNT i = 0; i < kWindow; ++i)
      ASSERT_DAT_OK(PostWrite(a_.ep, memory_.Local(0, 64), memory_.Remote(4096, 64), 1));
    for (DAT_COUNT i = 0; i < kWindow; ++i) Poll(a_.request_evd);
  });
}

TEST_F(SteadyStateTest, Reads) {
  ExpectNone([&] {
    ASSERT_DAT_OK(PostRead(a_.ep, memory_.Local(0, 5000), memory_.Remote(8192, 5000), 1));
    Poll(a_.request_evd);
  });
}

}  // namespace
}  // namespace softdat::field
