// SPDX-License-Identifier: BSD-3-Clause
// The completion ring: order, arming, overflow episodes, resizing under traffic, and races.
#include "provider_softnet/queue/completion_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace softdat::softnet {
namespace {

using transport::Completion;
using transport::WorkStatus;

struct Sink : transport::CompletionSink {
  void OnCompletion() override { completions.fetch_add(1); }
  void OnOverflow() override { overflows.fetch_add(1); }
  std::atomic<int> completions{0}, overflows{0};
};

Completion Make(uint64_t cookie) {
  Completion c;
  c.cookie = cookie;
  return c;
}

// Pushes, and makes the upcalls that are due, as the driver does.
void Push(CompletionRing& ring, const Completion& c) {
  if (ring.Push(c)) ring.Notify();
}

std::vector<uint64_t> Cookies(CompletionRing& ring, size_t at_a_time = 3) {
  std::vector<uint64_t> all;
  std::vector<Completion> some(at_a_time);
  while (const size_t n = ring.Poll(some)) {
    for (size_t i = 0; i < n; ++i) all.push_back(some[i].cookie);
  }
  return all;
}

TEST(CompletionRing, KeepsOrderAroundTheEnd) {
  Sink sink;
  CompletionRing ring(5, &sink);
  uint64_t next = 0, expect = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 1 + round % 5; ++i) Push(ring, Make(next++));
    EXPECT_EQ(ring.size(), next - expect);
    for (const uint64_t c : Cookies(ring)) EXPECT_EQ(c, expect++);
    EXPECT_EQ(expect, next);
  }
  EXPECT_EQ(sink.completions, 0);
  EXPECT_EQ(sink.overflows, 0);
}

TEST(CompletionRing, ArmIsOneShotAndBusyWhenNotEmpty) {
  Sink sink;
  CompletionRing ring(8, &sink);
  EXPECT_TRUE(ring.Arm(false));
  Push(ring, Make(1));
  EXPECT_EQ(sink.completions, 1);
  Push(ring, Make(2));
  EXPECT_EQ(sink.completions, 1);
  EXPECT_FALSE(ring.Arm(false));
  Push(ring, Make(3));
  EXPECT_EQ(sink.completions, 1) << "a refused Arm arms nothing";
  EXPECT_EQ(Cookies(ring).size(), 3u);
  EXPECT_TRUE(ring.Arm(false));
  EXPECT_TRUE(ring.Arm(false)) << "arming twice is one wait";
  Push(ring, Make(4));
  EXPECT_EQ(sink.completions, 2);
}

TEST(CompletionRing, WhichCompletionsNotify) {
  const struct {
    bool solicited_only, quiet, solicited, failed, notifies;
  } cases[] = {
      {false, false, false, false, true}, {false, true, false, false, false},
      {false, true, true, false, false},  {false, true, false, true, true},
      {false, false, true, false, true},  {true, false, false, false, false},
      {true, false, true, false, true},   {true, true, true, false, true},
      {true, false, false, true, true},   {true, true, false, true, true},
  };
  for (const auto& c : cases) {
    Sink sink;
    CompletionRing ring(8, &sink);
    ASSERT_TRUE(ring.Arm(c.solicited_only));
    Completion done = Make(1);
    done.flags = c.quiet ? transport::kQuiet : 0;
    done.solicited = c.solicited;
    if (c.failed) done.status = WorkStatus::kFlushed;
    Push(ring, done);
    EXPECT_EQ(sink.completions, c.notifies ? 1 : 0);
    // A completion that did not match leaves the wait armed.
    Completion failed = Make(2);
    failed.status = WorkStatus::kTransport;
    Push(ring, failed);
    EXPECT_EQ(sink.completions, 1);
  }
}

TEST(CompletionRing, OverflowOncePerEpisode) {
  Sink sink;
  CompletionRing ring(3, &sink);
  for (uint64_t i = 0; i < 10; ++i) Push(ring, Make(i));
  EXPECT_EQ(sink.overflows, 1);
  EXPECT_EQ(Cookies(ring), (std::vector<uint64_t>{0, 1, 2}));
  for (uint64_t i = 10; i < 20; ++i) Push(ring, Make(i));
  EXPECT_EQ(sink.overflows, 2);
  EXPECT_EQ(Cookies(ring), (std::vector<uint64_t>{10, 11, 12}));
}

TEST(CompletionRing, ResizeKeepsWhatIsQueued) {
  Sink sink;
  CompletionRing ring(4, &sink);
  for (uint64_t i = 0; i < 3; ++i) Push(ring, Make(i));
  EXPECT_EQ(Cookies(ring).size(), 3u);
  for (uint64_t i = 0; i < 4; ++i) Push(ring, Make(i));
  EXPECT_EQ(ring.Resize(3).code(), Code::kInvalidState);
  EXPECT_EQ(ring.Resize(0).code(), Code::kInvalidArgument);
  ASSERT_TRUE(ring.Resize(100).ok());
  for (uint64_t i = 4; i < 100; ++i) Push(ring, Make(i));
  EXPECT_EQ(sink.overflows, 0);
  std::vector<Completion> some(90);
  ASSERT_EQ(ring.Poll(some), 90u);
  EXPECT_EQ(some[89].cookie, 89u);
  ASSERT_TRUE(ring.Resize(10).ok());
  const auto rest = Cookies(ring);
  ASSERT_EQ(rest.size(), 10u);
  EXPECT_EQ(rest.front(), 90u);
  EXPECT_EQ(rest.back(), 99u);
}

TEST(CompletionRing, WithoutSink) {
  CompletionRing ring(1, nullptr);
  EXPECT_TRUE(ring.Arm(false));
  EXPECT_FALSE(ring.Push(Make(1)));
  EXPECT_FALSE(ring.Push(Make(2)));
  ring.Notify();
}

#if defined(__SANITIZE_THREAD__)
constexpr uint64_t kEach = 20000;
#else
constexpr uint64_t kEach = 200000;
#endif

// A consumer that sleeps only after a successful Arm must never sleep for ever. A lost wake-up
// hangs this test.
TEST(CompletionRing, ArmAgainstPushLosesNoWakeUp) {
  struct Waking : transport::CompletionSink {
    void OnCompletion() override {
      wakes.fetch_add(1, std::memory_order_release);
      wakes.notify_one();
    }
    void OnOverflow() override { FAIL(); }
    std::atomic<uint32_t> wakes{0};
  } sink;
  CompletionRing ring(4 * kEach, &sink);
  std::vector<std::thread> producers;
  for (uint64_t p = 0; p < 3; ++p) {
    producers.emplace_back([&ring, p] {
      for (uint64_t i = 0; i < kEach; ++i) {
        if (ring.Push(Make(p << 32 | i))) ring.Notify();
      }
    });
  }
  uint64_t got = 0, next[3] = {};
  uint32_t resizes = 0;
  std::vector<Completion> some(16);
  while (got < 3 * kEach) {
    const uint32_t seen = sink.wakes.load(std::memory_order_acquire);
    const size_t n = ring.Poll(some);
    for (size_t i = 0; i < n; ++i) {
      const uint64_t p = some[i].cookie >> 32;
      ASSERT_EQ(some[i].cookie & 0xffffffff, next[p]++);
    }
    got += n;
    if (got >= resizes * kEach / 16) {  // while others push
      ASSERT_TRUE(ring.Resize(4 * kEach + (resizes % 3) * 1000).ok());
      ++resizes;
    }
    if (n == 0 && got < 3 * kEach && ring.Arm(false)) sink.wakes.wait(seen);
  }
  for (auto& t : producers) t.join();
  EXPECT_GE(resizes, 16u);
  EXPECT_EQ(ring.size(), 0u);
}

// The consumer takes no lock. A cell that it has not copied yet must not be filled anew.
TEST(CompletionRing, ACellIsFilledAgainOnlyWhenItWasTaken) {
  constexpr uint32_t kCapacity = 3;
  CompletionRing ring(kCapacity, nullptr);
  std::thread producer([&ring] {
    for (uint64_t i = 0; i < kEach;) {
      if (ring.size() == kCapacity) continue;
      EXPECT_FALSE(ring.Push(Make(i++)));
    }
  });
  uint64_t next = 0;
  std::vector<Completion> some(2);
  while (next < kEach) {
    const size_t n = ring.Poll(some);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(some[i].cookie, next++);
  }
  producer.join();
  EXPECT_EQ(ring.size(), 0u);
}

}  // namespace
}  // namespace softdat::softnet
