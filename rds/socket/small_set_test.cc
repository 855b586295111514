// SPDX-License-Identifier: BSD-3-Clause
#include "rds/socket/small_set.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace softdat::rds {
namespace {

template <typename Set>
std::vector<int> Values(const Set& set) {
  return {set.begin(), set.end()};
}

TEST(SmallSetTest, HasEachValueOnceAndInOrder) {
  SmallSet<int> set;
  EXPECT_TRUE(set.empty());
  for (const int value : {3, 1, 2, 3, 1}) set.insert(value);
  EXPECT_EQ(Values(set), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(set.size(), 3u);
  EXPECT_TRUE(set.contains(2));
  EXPECT_FALSE(set.contains(4));
}

TEST(SmallSetTest, LosesWhatIsErasedAndNothingElse) {
  SmallSet<int> set;
  for (const int value : {1, 2, 3}) set.insert(value);
  set.erase(2);
  set.erase(4);
  set.erase(0);
  EXPECT_EQ(Values(set), (std::vector<int>{1, 3}));
  EXPECT_EQ(set.TakeFirst(), 1);
  EXPECT_EQ(set.TakeFirst(), 3);
  EXPECT_TRUE(set.empty());
}

TEST(SmallSetTest, TheOrderIsTheGivenOne) {
  SmallSet<int, std::greater<int>> set;
  for (const int value : {1, 3, 2}) set.insert(value);
  EXPECT_EQ(Values(set), (std::vector<int>{3, 2, 1}));
  SmallSet<int, std::greater<int>> other;
  other.swap(set);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(other.TakeFirst(), 3);
  other.clear();
  EXPECT_TRUE(other.empty());
}

}  // namespace
}  // namespace softdat::rds
