// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/region_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace softdat::verbs {
namespace {

DAT_LMR_TRIPLET Segment(uint32_t key, uint64_t address, uint32_t length) {
  DAT_LMR_TRIPLET segment{};
  segment.lmr_context = key;
  segment.virtual_address = address;
  segment.segment_length = length;
  return segment;
}

class RegionTableTest : public testing::Test {
 protected:
  Code Check(uint32_t key, uint64_t address, uint32_t length, const void* pd, bool write) {
    bool zero_based = false;
    return table_.Check(Segment(key, address, length), pd, write, &zero_based);
  }
  RegionTable table_;
  const int pd_ = 0, other_ = 0;
};

TEST_F(RegionTableTest, BoundsDomainAndRights) {
  table_.Add(77, {.first = 1000, .length = 64, .pd = &pd_, .writable = false, .zero_based = false});
  EXPECT_EQ(Check(77, 1000, 64, &pd_, false), Code::kOk);
  EXPECT_EQ(Check(77, 1063, 1, &pd_, false), Code::kOk);
  EXPECT_EQ(Check(77, 1064, 0, &pd_, false), Code::kOk);
  EXPECT_EQ(Check(77, 1000, 65, &pd_, false), Code::kOutOfBounds);
  EXPECT_EQ(Check(77, 999, 1, &pd_, false), Code::kOutOfBounds);
  EXPECT_EQ(Check(77, 1064, 1, &pd_, false), Code::kOutOfBounds);
  EXPECT_EQ(Check(77, UINT64_MAX, 2, &pd_, false), Code::kOutOfBounds);
  EXPECT_EQ(Check(77, 1000, 64, &other_, false), Code::kProtection);
  EXPECT_EQ(Check(77, 1000, 64, nullptr, false), Code::kOk);
  EXPECT_EQ(Check(77, 1000, 64, &pd_, true), Code::kPrivileges);
  EXPECT_EQ(Check(78, 1000, 64, &pd_, false), Code::kProtection);
  EXPECT_EQ(Check(0, 1000, 64, &pd_, false), Code::kProtection);
  EXPECT_EQ(Check(UINT32_MAX, 1000, 64, &pd_, false), Code::kProtection);
  table_.Remove(77);
  EXPECT_EQ(Check(77, 1000, 64, &pd_, false), Code::kProtection);
}

TEST_F(RegionTableTest, ZeroBasedRegionsAreTold) {
  table_.Add(5, {.first = 0, .length = 8, .pd = &pd_, .writable = true, .zero_based = true});
  bool zero_based = false;
  EXPECT_EQ(table_.Check(Segment(5, 7, 1), &pd_, true, &zero_based), Code::kOk);
  EXPECT_TRUE(zero_based);
}

TEST_F(RegionTableTest, ACacheSaysWhatTheTableSays) {
  RegionCache cache;
  bool zero_based = false;
  const auto check = [&](uint32_t key, uint64_t address, bool write) {
    return cache.Check(table_, Segment(key, address, 8), &pd_, write, &zero_based);
  };
  EXPECT_EQ(check(0, 0, false), Code::kProtection);
  EXPECT_EQ(check(5, 100, false), Code::kProtection);
  table_.Add(5, {.first = 100, .length = 8, .pd = &pd_, .writable = false, .zero_based = false});
  table_.Add(6, {.first = 200, .length = 8, .pd = &pd_, .writable = true, .zero_based = true});
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(check(5, 100, false), Code::kOk);
    EXPECT_FALSE(zero_based);
    EXPECT_EQ(check(5, 101, false), Code::kOutOfBounds);
    EXPECT_EQ(check(5, 100, true), Code::kPrivileges);
  }
  EXPECT_EQ(check(6, 200, true), Code::kOk);
  EXPECT_TRUE(zero_based);
  // The region is removed, and another one is added under the same key.
  table_.Remove(6);
  EXPECT_EQ(check(6, 200, true), Code::kProtection);
  table_.Add(6, {.first = 300, .length = 8, .pd = &pd_, .writable = true, .zero_based = false});
  EXPECT_EQ(check(6, 200, true), Code::kOutOfBounds);
  EXPECT_EQ(check(6, 300, true), Code::kOk);
  table_.Remove(6);
  table_.Add(6, {.first = 300, .length = 8, .pd = &other_, .writable = true, .zero_based = false});
  EXPECT_EQ(check(6, 300, true), Code::kProtection);
}

TEST_F(RegionTableTest, TheCacheCoversWhatItHasSeenLast) {
  RegionCache cache;
  bool zero_based = false;
  table_.Add(5, {.first = 100, .length = 8, .pd = &pd_, .writable = false, .zero_based = false});
  table_.Add(6, {.first = 200, .length = 8, .pd = &pd_, .writable = true, .zero_based = true});
  EXPECT_FALSE(cache.Covers(table_, Segment(5, 100, 8))) << "nothing was looked up yet";
  EXPECT_FALSE(cache.Covers(table_, Segment(0, 0, 1))) << "no region has the key 0";
  ASSERT_EQ(cache.Check(table_, Segment(5, 100, 8), &pd_, false, &zero_based), Code::kOk);
  EXPECT_TRUE(cache.Covers(table_, Segment(5, 100, 8)));
  EXPECT_TRUE(cache.Covers(table_, Segment(5, 104, 4)));
  EXPECT_FALSE(cache.Covers(table_, Segment(5, 104, 5)));
  EXPECT_FALSE(cache.Covers(table_, Segment(5, 99, 1)));
  EXPECT_FALSE(cache.Covers(table_, Segment(6, 200, 8)));
  ASSERT_EQ(cache.Check(table_, Segment(6, 200, 8), &pd_, false, &zero_based), Code::kOk);
  EXPECT_FALSE(cache.Covers(table_, Segment(6, 200, 8))) << "zero-based";
  ASSERT_EQ(cache.Check(table_, Segment(5, 100, 8), &pd_, false, &zero_based), Code::kOk);
  table_.Remove(5);
  EXPECT_FALSE(cache.Covers(table_, Segment(5, 100, 8))) << "it is gone";
}

TEST_F(RegionTableTest, TheCacheCoversNothingOfAnotherDomain) {
  RegionCache cache;
  bool zero_based = false;
  table_.Add(5, {.first = 100, .length = 8, .pd = &pd_, .writable = false, .zero_based = false});
  ASSERT_EQ(cache.Check(table_, Segment(5, 100, 8), &other_, false, &zero_based),
            Code::kProtection);
  EXPECT_FALSE(cache.Covers(table_, Segment(5, 100, 8)));
  cache.Forget();
  ASSERT_EQ(cache.Check(table_, Segment(5, 100, 8), &pd_, false, &zero_based), Code::kOk);
  EXPECT_TRUE(cache.Covers(table_, Segment(5, 100, 8)));
  cache.Forget();
  EXPECT_FALSE(cache.Covers(table_, Segment(5, 100, 8)));
}

TEST_F(RegionTableTest, ManyKeysAndMuchChurn) {
  for (uint32_t key = 1; key <= 5000; ++key)
    table_.Add(key << 8, {.first = key, .length = 1, .pd = &pd_});
  for (uint32_t key = 1; key <= 5000; ++key) {
    ASSERT_TRUE(table_.Find(key << 8).has_value()) << key;
    EXPECT_EQ(table_.Find(key << 8)->first, key);
  }
  for (uint32_t key = 1; key <= 5000; key += 2) table_.Remove(key << 8);
  for (uint32_t round = 0; round < 100000; ++round) {
    const uint32_t key = 0x40000000u + round * 7;
    table_.Add(key, {.first = round, .length = 1, .pd = &pd_});
    ASSERT_TRUE(table_.Find(key).has_value());
    table_.Remove(key);
    ASSERT_FALSE(table_.Find(key).has_value());
  }
  for (uint32_t key = 1; key <= 5000; ++key)
    EXPECT_EQ(table_.Find(key << 8).has_value(), key % 2 == 0);
}

TEST_F(RegionTableTest, ReadersSeeWholeEntriesWhileTheTableChanges) {
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop) {
      for (uint32_t key = 1; key < 300; ++key) {
        const auto entry = table_.Find(key);
        if (entry.has_value()) {
          EXPECT_EQ(entry->first, entry->length);
        }
      }
    }
  });
  for (uint32_t round = 1; round < 2000; ++round) {
    const uint32_t key = 1 + round % 299;
    table_.Remove(key);
    table_.Add(key, {.first = round, .length = round, .pd = &pd_});
  }
  stop = true;
  reader.join();
}

}  // namespace
}  // namespace softdat::verbs
