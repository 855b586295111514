// SPDX-License-Identifier: BSD-3-Clause
#include "dat/registry/provider_key.h"

#include <gtest/gtest.h>

namespace softdat::registry {
namespace {

ProviderKey Key(const std::string& name, uint32_t major, uint32_t minor, bool thread_safe = false) {
  return {name, major, minor, thread_safe};
}

size_t Found(const std::vector<ProviderKey>& entries, const ProviderKey& request) {
  const KeyMatch match = FindKey(entries, request);
  EXPECT_EQ(match.mismatch, KeyMismatch::kNone) << DescribeKey(request);
  return match.index;
}

KeyMismatch Missing(const std::vector<ProviderKey>& entries, const ProviderKey& request) {
  return FindKey(entries, request).mismatch;
}

// covers: semantics 2.1
TEST(FindKey, ExactEntryGoesBeforeLargerMinor) {
  EXPECT_EQ(Found({Key("a", 2, 1), Key("a", 2, 0)}, Key("a", 2, 0)), 1u);
  EXPECT_EQ(Found({Key("a", 2, 3), Key("a", 2, 1)}, Key("a", 2, 0)), 1u);
  EXPECT_EQ(Found({Key("a", 2, 3)}, Key("a", 2, 0)), 0u);
}

// covers: semantics 2.1
TEST(FindKey, ThreadSafeEntryServesThoseWhoDoNotAsk) {
  EXPECT_EQ(Found({Key("a", 2, 0, true)}, Key("a", 2, 0, false)), 0u);
  EXPECT_EQ(Found({Key("a", 2, 0, true), Key("a", 2, 0, false)}, Key("a", 2, 0, false)), 1u);
  EXPECT_EQ(Found({Key("a", 2, 1, false), Key("a", 2, 0, true)}, Key("a", 2, 0, false)), 1u);
}

// covers: semantics 2.1
TEST(FindKey, FirstOfEqualsWins) {
  EXPECT_EQ(Found({Key("b", 2, 0), Key("a", 2, 0), Key("a", 2, 0)}, Key("a", 2, 0)), 1u);
}

// covers: semantics 2.1
TEST(FindKey, SaysWhatIsMissing) {
  EXPECT_EQ(Missing({}, Key("a", 2, 0)), KeyMismatch::kName);
  EXPECT_EQ(Missing({Key("A", 2, 0)}, Key("a", 2, 0)), KeyMismatch::kName);
  EXPECT_EQ(Missing({Key("a", 1, 2)}, Key("a", 2, 0)), KeyMismatch::kMajor);
  EXPECT_EQ(Missing({Key("a", 3, 0)}, Key("a", 2, 0)), KeyMismatch::kMajor);
  EXPECT_EQ(Missing({Key("a", 2, 0)}, Key("a", 2, 1)), KeyMismatch::kMinor);
  EXPECT_EQ(Missing({Key("a", 2, 0)}, Key("a", 2, 0, true)), KeyMismatch::kThreadSafety);
  // The entry that came closest decides, wherever it stands.
  EXPECT_EQ(Missing({Key("a", 2, 0), Key("a", 1, 0)}, Key("a", 2, 1)), KeyMismatch::kMinor);
  EXPECT_EQ(Missing({Key("b", 2, 0), Key("a", 1, 0)}, Key("a", 2, 1)), KeyMismatch::kMajor);
}

TEST(DescribeKey, NamesAllParts) {
  EXPECT_EQ(DescribeKey(Key("a\n", 2, 0, true)), "a\\x0a 2.0 threadsafe");
}

}  // namespace
}  // namespace softdat::registry
