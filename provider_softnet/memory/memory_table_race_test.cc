// SPDX-License-Identifier: BSD-3-Clause
// Deregistration against accesses in flight. After Deregister, Bind or Invalidate has returned,
// nothing touches the memory through the old key. Meant for ThreadSanitizer as well.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr int kRounds = 500;
#else
constexpr int kRounds = 5000;
#endif

TEST(MemoryTableRace, NothingIsWrittenAfterDeregistration) {
  MemoryTable table;
  const uint32_t pd = table.NewProtectionDomainId();
  uint64_t word = 0;  // plain memory: a write after deregistration is a data race and a wrong value
  std::atomic<uint32_t> key{0};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> writes{0};
  auto writer = [&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const AccessRequest r{
          key.load(std::memory_order_relaxed), pd,         0, Access::kRemoteWrite,
          reinterpret_cast<uintptr_t>(&word),  sizeof word};
      if (table.Check(r) != AccessError::kNone) std::this_thread::yield();
      Pin pin;
      if (table.Acquire(r, &pin) != AccessError::kNone) continue;
      __atomic_fetch_add(reinterpret_cast<uint64_t*>(pin.address()), 1, __ATOMIC_RELAXED);
      writes.fetch_add(1, std::memory_order_relaxed);
    }
  };
  std::thread one(writer), two(writer);
  for (int i = 0; i < kRounds; ++i) {
    const uint32_t k = table.RegisterRegion(&word, sizeof word, kPrivRemoteWrite, false, pd);
    const uint64_t writes_before = writes.load(std::memory_order_relaxed);
    key.store(k, std::memory_order_relaxed);
    // In some rounds the memory is deregistered while it certainly is in use.
    while (i % 8 == 0 && writes.load(std::memory_order_relaxed) == writes_before) {
      std::this_thread::yield();
    }
    ASSERT_TRUE(table.DeregisterRegion(k));
    const uint64_t before = word;  // a plain read: safe only if all writers are out
    word = before + 1;
    ASSERT_EQ(word, before + 1);
  }
  stop = true;
  one.join();
  two.join();
  EXPECT_EQ(table.regions(), 0u);
  EXPECT_GE(writes, uint64_t{kRounds} / 8);
}

TEST(MemoryTableRace, RebindAndInvalidate) {
  MemoryTable table;
  const uint32_t pd = table.NewProtectionDomainId();
  std::vector<uint8_t> memory(64);
  const uint64_t base = reinterpret_cast<uintptr_t>(memory.data());
  const uint32_t region =
      table.RegisterRegion(memory.data(), 64, kPrivLocalWrite | kPrivRemoteWrite, false, pd);
  const uint32_t window = table.CreateWindow(pd, false);
  std::atomic<uint32_t> key{0};
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> writes{0};
  std::atomic<uint64_t> invalidated{0};
  std::thread user([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const uint32_t k = key.load(std::memory_order_relaxed);
      Pin pin;
      if (table.Acquire({k, pd, 0, Access::kRemoteWrite, base + 8, 8}, &pin) ==
          AccessError::kNone) {
        __atomic_fetch_add(pin.address(), 1, __ATOMIC_RELAXED);
        writes.fetch_add(1, std::memory_order_relaxed);
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::thread invalidator([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      if (table.Invalidate(key.load(std::memory_order_relaxed), pd, 0) == AccessError::kNone) {
        invalidated.fetch_add(1, std::memory_order_relaxed);
      }
      std::this_thread::yield();
    }
  });
  const auto rebind = [&] {
    MemoryTable::BindRequest b;
    b.key = table.NextWindowKey(window);
    b.region = region;
    b.offset = base;
    b.length = 64;
    b.privileges = kPrivRemoteWrite;
    b.pd = pd;
    EXPECT_EQ(table.Bind(b), AccessError::kNone);
    key.store(b.key, std::memory_order_relaxed);
  };
  for (int i = 0; i < kRounds; ++i) {
    const uint64_t changes = writes + invalidated;
    rebind();
    // In some rounds a window is replaced that one of the threads has certainly used.
    while (i % 4 == 0 && writes + invalidated == changes) std::this_thread::yield();
  }
  // Either thread may have left nothing to the other so far. This gives each its turn.
  while (writes == 0 || invalidated == 0) {
    rebind();
    std::this_thread::yield();
  }
  stop = true;
  user.join();
  invalidator.join();
  EXPECT_TRUE(table.DestroyWindow(window));
  EXPECT_TRUE(table.DeregisterRegion(region));
  memory[8] = 0;  // a plain store, safe because both threads have ended
  EXPECT_GT(writes, 0u);
  EXPECT_GT(invalidated, 0u);
}

}  // namespace
}  // namespace softdat::softnet
