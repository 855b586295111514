// SPDX-License-Identifier: BSD-3-Clause
// Tests of the data pattern.
#include "tools/traffic/pattern.h"

#include <gtest/gtest.h>

#include <vector>

namespace softdat::tools {
namespace {

TEST(Pattern, FilledBytesMatchAndOthersAreFoundWhereTheyAre) {
  std::vector<uint8_t> bytes(100000);
  FillPattern(5, bytes);
  EXPECT_FALSE(FindMismatch(5, bytes));
  bytes[99999] ^= 1;
  EXPECT_EQ(FindMismatch(5, bytes), 99999u);
  EXPECT_EQ(FindMismatch(6, bytes), 0u);
  EXPECT_FALSE(FindMismatch(6, {}));
}

TEST(Pattern, ShiftedDataDoNotMatch) {
  std::vector<uint8_t> bytes(4096);
  FillPattern(1, bytes);
  EXPECT_TRUE(FindMismatch(1, std::span(bytes).subspan(1)));
  EXPECT_TRUE(FindMismatch(1, std::span(bytes).subspan(256)));
}

TEST(ArrivalMark, NeverZeroAndNeverTwiceInARow) {
  for (uint64_t i = 0; i < 1000; ++i) {
    EXPECT_NE(ArrivalMark(i), 0);
    EXPECT_NE(ArrivalMark(i), ArrivalMark(i + 1));
  }
}

}  // namespace
}  // namespace softdat::tools
