// SPDX-License-Identifier: BSD-3-Clause
// Deregistration against accesses in flight: after Deregister, Bind or Invalidate returned, nothing
// touches the memory through the old key. Meant for ThreadSanitizer as well.
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
    key.store(k, std::memory_order_relaxed);
    if (i % 8 == 0) std::this_thread::yield();
    ASSERT_TRUE(table.DeregisterRegion(k));
    const uint64_t before = word;  // a plain read: safe only if all writers are out
    word = before + 1;
    ASSERT_EQ(word, before + 1);
  }
  stop = true;
  one.join();
  two.join();
  EXPECT_EQ(table.regions(), 0u);
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
  std::thread user([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const uint32_t k = key.load(std::memory_order_relaxed);
      Pin pin;
      if (table.Acquire({k, pd, 0, Access::kRemoteWrite, base + 8, 8}, &pin) ==
          AccessError::kNone) {
        __atomic_fetch_add(pin.address(), 1, __ATOMIC_RELAXED);
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::thread invalidator([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      table.Invalidate(key.load(std::memory_order_relaxed), pd, 0);
      std::this_thread::yield();
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    MemoryTable::BindRequest b;
    b.key = table.NextWindowKey(window);
    b.region = region;
    b.offset = base;
    b.length = 64;
    b.privileges = kPrivRemoteWrite;
    b.pd = pd;
    ASSERT_EQ(table.Bind(b), AccessError::kNone);
    key.store(b.key, std::memory_order_relaxed);
    if (i % 4 == 0) std::this_thread::yield();
  }
  stop = true;
  user.join();
  invalidator.join();
  EXPECT_TRUE(table.DestroyWindow(window));
  EXPECT_TRUE(table.DeregisterRegion(region));
  memory[8] = 0;  // plain: everybody is out
}

}  // namespace
}  // namespace softdat::softnet
