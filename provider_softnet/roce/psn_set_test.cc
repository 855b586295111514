// SPDX-License-Identifier: BSD-3-Clause
// Sets of PSNs that lie near one another.
#include "provider_softnet/roce/psn_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace softdat::softnet {
namespace {

TEST(PsnSetTest, IsTheSetThatItIsToldToBe) {
  std::mt19937_64 random(7);
  PsnSet set;
  std::set<Psn> model;
  Psn base = FirstPsn(roce::kMask24 - 300);
  for (int i = 0; i < 100000; ++i) {
    const Psn psn = base + random() % PsnSet::kSpan;
    switch (random() % 4) {
      case 0:
      case 1:
        EXPECT_EQ(set.Add(psn), model.insert(psn).second);
        break;
      case 2:
        EXPECT_EQ(set.Remove(psn), model.erase(psn) == 1);
        break;
      case 3: {
        const Psn next = base + random() % 20;  // what is in front of it is over
        set.RemoveAll(base, next);
        model.erase(model.begin(), model.lower_bound(next));
        base = next;
        break;
      }
    }
    EXPECT_EQ(set.Has(psn), model.contains(psn));
    ASSERT_EQ(set.empty(), model.empty());
    EXPECT_TRUE(model.empty() || set.First(base) == *model.begin());
  }
  set.Clear();
  EXPECT_TRUE(set.empty());
  for (const Psn psn : model) EXPECT_FALSE(set.Has(psn));
}

}  // namespace
}  // namespace softdat::softnet
