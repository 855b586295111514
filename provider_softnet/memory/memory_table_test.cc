// SPDX-License-Identifier: BSD-3-Clause
// The validation point: every reason to refuse, from a table; windows; key generations.
#include "provider_softnet/memory/memory_table.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace softdat::softnet {
namespace {

constexpr uint32_t kAll = kPrivLocalRead | kPrivLocalWrite | kPrivRemoteRead | kPrivRemoteWrite;

class MemoryTableTest : public ::testing::Test {
 protected:
  MemoryTable table;
  std::vector<uint8_t> memory = std::vector<uint8_t>(4096);
  uint64_t base = reinterpret_cast<uintptr_t>(memory.data());
  uint32_t pd = table.NewProtectionDomainId();
  uint32_t qp = table.NewQueuePairId();

  uint32_t Register(uint32_t privileges, bool zero_based = false) {
    return table.RegisterRegion(memory.data(), memory.size(), privileges, zero_based, pd);
  }
  AccessError Check(uint32_t key, Access kind, uint64_t offset, uint64_t length) {
    const AccessRequest r{key, pd, qp, kind, offset, length};
    const AccessError error = table.Check(r);
    // Check and Acquire must never disagree.
    Pin pin;
    EXPECT_EQ(table.Acquire(r, &pin), error);
    EXPECT_EQ(pin.held(), error == AccessError::kNone);
    return error;
  }
};

TEST_F(MemoryTableTest, KeysAreNeverZeroOrOneAndIdsDiffer) {
  std::set<uint32_t> keys;
  for (int i = 0; i < 3000; ++i) {
    const uint32_t key = Register(kAll);
    EXPECT_GT(key, 255u);
    EXPECT_TRUE(keys.insert(key).second);
  }
  EXPECT_EQ(table.regions(), 3000u);
  EXPECT_NE(table.NewProtectionDomainId(), table.NewProtectionDomainId());
}

TEST_F(MemoryTableTest, BoundsAndWrap) {
  const uint32_t key = Register(kAll);
  const uint64_t end = base + 4096;
  const struct {
    uint64_t offset, length;
    AccessError expect;
  } cases[] = {
      {base, 4096, AccessError::kNone},
      {base, 4097, AccessError::kBounds},
      {base + 1, 4096, AccessError::kBounds},
      {base - 1, 1, AccessError::kBounds},
      {base - 1, 4096, AccessError::kBounds},
      {end - 1, 1, AccessError::kNone},
      {end, 0, AccessError::kNone},
      {end, 1, AccessError::kBounds},
      {end + 1, 0, AccessError::kBounds},
      {base, ~uint64_t{0}, AccessError::kWrap},
      {base + 8, ~uint64_t{0} - base - 7, AccessError::kBounds},
      {base + 8, ~uint64_t{0} - base - 6, AccessError::kWrap},
      {~uint64_t{0}, 1, AccessError::kBounds},
      {~uint64_t{0}, 2, AccessError::kWrap},
      {0, 1, AccessError::kBounds},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(Check(key, Access::kRemoteWrite, c.offset, c.length), c.expect)
        << c.offset - base << " " << c.length;
  }
}

TEST_F(MemoryTableTest, RightsOfRegions) {
  const Access kinds[] = {Access::kLocalRead,  Access::kLocalWrite,  Access::kWindowSink,
                          Access::kRemoteRead, Access::kRemoteWrite, Access::kRemoteAtomic};
  const struct {
    uint32_t privileges;
    const char* granted;  // one letter per kind, in order
  } cases[] = {
      {0, "y....."},
      {kPrivLocalRead, "y....."},
      {kPrivLocalWrite, "yy...."},
      {kPrivRemoteRead, "y..y.."},
      {kPrivRemoteWrite, "y...y."},
      {kPrivRemoteAtomic, "y....y"},
      {kAll | kPrivRemoteAtomic, "yy.yyy"},
  };
  for (const auto& c : cases) {
    const uint32_t key = Register(c.privileges);
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(Check(key, kinds[i], base, 8),
                c.granted[i] == 'y' ? AccessError::kNone : AccessError::kRights)
          << c.privileges << " kind " << i;
    }
  }
}

TEST_F(MemoryTableTest, KeysOfOthersAndStaleKeys) {
  const uint32_t key = Register(kAll);
  const uint32_t other = table.NewProtectionDomainId();
  EXPECT_EQ(table.Check({key, other, qp, Access::kRemoteRead, base, 1}),
            AccessError::kProtectionDomain);
  EXPECT_EQ(Check(key ^ 1, Access::kRemoteRead, base, 1), AccessError::kInvalidKey);
  for (const uint32_t never : {0u, 1u, 255u, 256u * 4000, 0xffffffffu}) {
    EXPECT_EQ(Check(never, Access::kRemoteRead, base, 1), AccessError::kInvalidKey);
    EXPECT_FALSE(table.DeregisterRegion(never));
    EXPECT_FALSE(table.DestroyWindow(never));
    EXPECT_EQ(table.NextWindowKey(never), 0u);
  }
  EXPECT_TRUE(table.IsLive(key));
  EXPECT_TRUE(table.DeregisterRegion(key));
  EXPECT_FALSE(table.IsLive(key));
  EXPECT_FALSE(table.DeregisterRegion(key));
  EXPECT_EQ(Check(key, Access::kRemoteRead, base, 1), AccessError::kInvalidKey);
  // The index comes back with other key bits.
  int same_index = 0;
  for (int i = 0; i < 200'000; ++i) {
    const uint32_t fresh = Register(kAll);
    ASSERT_NE(fresh, key) << "after " << i;
    same_index += fresh >> 8 == key >> 8 ? 1 : 0;
    table.DeregisterRegion(fresh);
  }
  EXPECT_GE(same_index, 3);
  EXPECT_LE(same_index, 9);
  EXPECT_EQ(table.regions(), 0u);
}

// Whoever knows some keys can predict neither the next one nor those of another table.
TEST_F(MemoryTableTest, KeysCannotBeInferred) {
  constexpr int kCount = 4000;
  uint64_t state = 12345;
  MemoryTable other(false, [&state] { return state = state * 0x5851F42D4C957F2Du + 1; });
  std::set<uint32_t> keys, steps, low_bits;
  uint32_t last = 0;
  for (int i = 0; i < kCount; ++i) {
    const uint32_t key = Register(kAll);
    keys.insert(key);
    low_bits.insert(key & 0xff);
    steps.insert(key - std::exchange(last, key));
  }
  EXPECT_EQ(low_bits.size(), 256u);
  EXPECT_GT(steps.size(), kCount * 9u / 10);
  int common = 0;
  for (int i = 0; i < kCount; ++i) {
    common +=
        keys.contains(other.RegisterRegion(memory.data(), memory.size(), kAll, false, pd)) ? 1 : 0;
  }
  EXPECT_LT(common, 10);
}

TEST_F(MemoryTableTest, ZeroBased) {
  const uint32_t key = Register(kAll, /*zero_based=*/true);
  Pin pin;
  ASSERT_EQ(table.Acquire({key, pd, qp, Access::kRemoteRead, 10, 20}, &pin), AccessError::kNone);
  EXPECT_EQ(pin.address(), memory.data() + 10);
  EXPECT_EQ(Check(key, Access::kRemoteRead, 4095, 1), AccessError::kNone);
  EXPECT_EQ(Check(key, Access::kRemoteRead, 4096, 1), AccessError::kBounds);
  EXPECT_EQ(Check(key, Access::kRemoteRead, base, 1), AccessError::kBounds);
  EXPECT_EQ(table.CheckInside(key, 0, 4096), AccessError::kNone);
  EXPECT_EQ(table.CheckInside(key, 1, 4096), AccessError::kBounds);
}

TEST_F(MemoryTableTest, PinsCoverNeighbours) {
  const uint32_t key = Register(kAll);
  Pin pin;
  AccessRequest r{key, pd, qp, Access::kLocalRead, base, 16};
  ASSERT_EQ(table.Acquire(r, &pin), AccessError::kNone);
  uint8_t* address = nullptr;
  r.offset = base + 4000;
  r.length = 96;
  EXPECT_TRUE(pin.Covers(r, &address));
  EXPECT_EQ(address, memory.data() + 4000);
  r.length = 97;
  EXPECT_FALSE(pin.Covers(r, &address));
  r.length = 1;
  r.kind = Access::kLocalWrite;
  EXPECT_FALSE(pin.Covers(r, &address));
  Pin moved = std::move(pin);
  EXPECT_FALSE(pin.held());
  EXPECT_TRUE(moved.held());
  moved.Release();
  EXPECT_TRUE(table.DeregisterRegion(key));
}

class WindowTest : public MemoryTableTest {
 protected:
  uint32_t region = Register(kAll);

  MemoryTable::BindRequest Request(uint32_t window, uint64_t at, uint64_t length,
                                   uint32_t privileges) {
    MemoryTable::BindRequest b;
    b.key = table.NextWindowKey(window);
    b.region = region;
    b.offset = base + at;
    b.length = length;
    b.privileges = privileges;
    b.pd = pd;
    b.qp = qp;
    return b;
  }
  AccessError Bind(MemoryTable::BindRequest b) {
    const AccessError foreseen = table.CheckBind(&b);
    const AccessError error = table.Bind(b);
    EXPECT_EQ(foreseen, error);
    return error;
  }
};

TEST_F(WindowTest, BoundUnboundRebound) {
  const uint32_t window = table.CreateWindow(pd, false);
  EXPECT_EQ(Check(window, Access::kRemoteRead, base, 1), AccessError::kInvalidKey);
  const auto first = Request(window, 100, 50, kPrivRemoteRead);
  ASSERT_EQ(Bind(first), AccessError::kNone);
  EXPECT_EQ(Check(first.key, Access::kRemoteRead, base + 100, 50), AccessError::kNone);
  EXPECT_EQ(Check(first.key, Access::kRemoteRead, base + 99, 1), AccessError::kBounds);
  EXPECT_EQ(Check(first.key, Access::kRemoteRead, base + 100, 51), AccessError::kBounds);
  EXPECT_EQ(Check(first.key, Access::kRemoteWrite, base + 100, 1), AccessError::kRights);
  EXPECT_EQ(Check(first.key, Access::kLocalRead, base + 100, 1), AccessError::kRights)
      << "a window is no local key";
  const auto second = Request(window, 0, 4096, kPrivRemoteWrite);
  EXPECT_NE(second.key, first.key);
  ASSERT_EQ(Bind(second), AccessError::kNone);
  EXPECT_EQ(Check(first.key, Access::kRemoteRead, base + 100, 1), AccessError::kInvalidKey);
  EXPECT_EQ(Check(second.key, Access::kRemoteWrite, base, 4096), AccessError::kNone);
  EXPECT_EQ(Check(second.key, Access::kWindowSink, base, 4096), AccessError::kNone);
  auto unbind = Request(window, 0, 0, 0);
  unbind.region = 0;
  ASSERT_EQ(Bind(unbind), AccessError::kNone);
  EXPECT_EQ(Check(second.key, Access::kRemoteWrite, base, 1), AccessError::kInvalidKey);
  EXPECT_EQ(Check(unbind.key, Access::kRemoteWrite, base, 1), AccessError::kInvalidKey);
  EXPECT_TRUE(table.DestroyWindow(window));
  EXPECT_EQ(table.windows(), 0u);
}

TEST_F(WindowTest, ABindWhoseWindowIsGoneTouchesNoOther) {
  const uint32_t window = table.CreateWindow(pd, false);
  auto late = Request(window, 0, 100, kPrivRemoteRead);
  ASSERT_EQ(table.CheckBind(&late), AccessError::kNone);
  ASSERT_TRUE(table.DestroyWindow(window));
  EXPECT_EQ(table.Bind(late), AccessError::kNone);
  EXPECT_FALSE(table.IsLive(late.key));
  // Indices are reused, so the slot gets another owner.
  uint32_t other = table.CreateWindow(pd, false);
  while (other >> 8 != window >> 8) {
    ASSERT_TRUE(table.DestroyWindow(other));
    other = table.CreateWindow(pd, false);
    ASSERT_NE(other, 0u);
  }
  auto current = Request(other, 200, 50, kPrivRemoteRead);
  ASSERT_EQ(Bind(current), AccessError::kNone);
  EXPECT_EQ(table.Bind(late), AccessError::kNone);
  EXPECT_FALSE(table.IsLive(late.key));
  EXPECT_EQ(Check(current.key, Access::kRemoteRead, base + 200, 50), AccessError::kNone);
}

TEST_F(WindowTest, ABindThatALaterOneReplacesMayLoseItsRegion) {
  const uint32_t window = table.CreateWindow(pd, false);
  auto first = Request(window, 0, 100, kPrivRemoteRead);
  first.region = table.RegisterRegion(memory.data(), 4096, kAll, false, pd);
  auto other = first;
  ASSERT_EQ(table.CheckBind(&first), AccessError::kNone);
  auto second = Request(window, 0, 50, kPrivRemoteRead);
  ASSERT_EQ(table.CheckBind(&second), AccessError::kNone);
  ASSERT_TRUE(table.DeregisterRegion(first.region));
  EXPECT_EQ(table.Bind(first), AccessError::kNone);
  EXPECT_FALSE(table.IsLive(first.key));
  EXPECT_EQ(table.Bind(second), AccessError::kNone);
  EXPECT_TRUE(table.IsLive(second.key));
  // No bind follows the newest one, so its region must exist.
  other.key = table.NextWindowKey(window);
  other.window = second.window;
  EXPECT_EQ(table.Bind(other), AccessError::kInvalidKey);
  EXPECT_TRUE(table.IsLive(second.key));
}

TEST_F(WindowTest, RefusedBindsLeaveTheOldOne) {
  const uint32_t window = table.CreateWindow(pd, false);
  const auto good = Request(window, 0, 100, kPrivRemoteRead);
  ASSERT_EQ(Bind(good), AccessError::kNone);
  EXPECT_EQ(Bind(Request(window, 4000, 97, kPrivRemoteRead)), AccessError::kBounds);
  auto foreign_qp_pd = Request(window, 0, 10, kPrivRemoteRead);
  foreign_qp_pd.pd = table.NewProtectionDomainId();
  EXPECT_EQ(Bind(foreign_qp_pd), AccessError::kProtectionDomain);
  auto foreign_region = Request(window, 0, 10, kPrivRemoteRead);
  foreign_region.region = table.RegisterRegion(memory.data(), 4096, kAll, false, foreign_qp_pd.pd);
  EXPECT_EQ(Bind(foreign_region), AccessError::kProtectionDomain);
  auto stale = Request(window, 0, 10, kPrivRemoteRead);
  stale.region ^= 1;
  EXPECT_EQ(Bind(stale), AccessError::kInvalidKey);
  auto on_window = Request(window, 0, 10, kPrivRemoteRead);
  on_window.region = good.key;
  EXPECT_EQ(Bind(on_window), AccessError::kInvalidKey);
  auto not_a_window = Request(window, 0, 10, kPrivRemoteRead);
  not_a_window.key = region;
  EXPECT_EQ(Bind(not_a_window), AccessError::kInvalidKey);
  const uint32_t read_only = Register(kPrivLocalRead | kPrivRemoteRead);
  auto unwritable = Request(window, 0, 10, kPrivRemoteWrite);
  unwritable.region = read_only;
  EXPECT_EQ(Bind(unwritable), AccessError::kRights);
  EXPECT_EQ(Check(good.key, Access::kRemoteRead, base, 100), AccessError::kNone);
}

TEST_F(WindowTest, ScopeOfOneQueuePair) {
  const uint32_t window = table.CreateWindow(pd, /*exclusive_to_qp=*/true);
  const auto bind = Request(window, 0, 100, kPrivRemoteRead);
  ASSERT_EQ(Bind(bind), AccessError::kNone);
  const uint32_t other = table.NewQueuePairId();
  EXPECT_EQ(Check(bind.key, Access::kRemoteRead, base, 1), AccessError::kNone);
  EXPECT_EQ(table.Check({bind.key, pd, other, Access::kRemoteRead, base, 1}),
            AccessError::kQueuePair);
  EXPECT_EQ(table.Invalidate(bind.key, pd, other), AccessError::kQueuePair);
  EXPECT_EQ(table.Invalidate(bind.key, pd, qp), AccessError::kNone);
  EXPECT_EQ(table.Invalidate(bind.key, pd, qp), AccessError::kInvalidKey);
}

TEST_F(WindowTest, RegionsCannotBeInvalidatedAndTakeTheirWindowsAlong) {
  EXPECT_EQ(table.Invalidate(region, pd, qp), AccessError::kRights);
  const uint32_t window = table.CreateWindow(pd, false);
  const auto bind = Request(window, 0, 100, kPrivRemoteRead);
  ASSERT_EQ(Bind(bind), AccessError::kNone);
  EXPECT_EQ(table.Invalidate(bind.key, pd + 1000, qp), AccessError::kProtectionDomain);
  ASSERT_TRUE(table.DeregisterRegion(region));
  EXPECT_EQ(Check(bind.key, Access::kRemoteRead, base, 1), AccessError::kInvalidKey);
  EXPECT_TRUE(table.DestroyWindow(bind.key));
}

TEST_F(WindowTest, ZeroBasedWindow) {
  const uint32_t window = table.CreateWindow(pd, false);
  auto bind = Request(window, 1000, 100, kPrivRemoteRead);
  bind.zero_based = true;
  ASSERT_EQ(Bind(bind), AccessError::kNone);
  Pin pin;
  ASSERT_EQ(table.Acquire({bind.key, pd, qp, Access::kRemoteRead, 5, 95}, &pin),
            AccessError::kNone);
  EXPECT_EQ(pin.address(), memory.data() + 1005);
  pin.Release();
  EXPECT_EQ(Check(bind.key, Access::kRemoteRead, 100, 1), AccessError::kBounds);
}

TEST_F(WindowTest, EveryAnnouncedKeyIsFresh) {
  const uint32_t window = table.CreateWindow(pd, false);
  const auto bind = Request(window, 0, 100, kPrivRemoteRead);
  ASSERT_EQ(Bind(bind), AccessError::kNone);
  std::set<uint32_t> keys;
  for (int i = 0; i < 255; ++i) keys.insert(table.NextWindowKey(window));
  EXPECT_EQ(keys.size(), 255u);
  EXPECT_EQ(keys.count(bind.key), 0u) << "never the live one";
}

}  // namespace
}  // namespace softdat::softnet
