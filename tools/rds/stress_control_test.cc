// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_control.h"

#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

void Add(LineBuffer* lines, const std::string& text) { lines->Add(text.data(), text.size()); }

TEST(LineBuffer, LinesComeWholeHoweverTheyWereCut) {
  LineBuffer lines;
  Add(&lines, "rea");
  EXPECT_FALSE(lines.Next());
  Add(&lines, "dy\n\nst");
  EXPECT_EQ(lines.Next(), "ready");
  EXPECT_EQ(lines.Next(), "");
  EXPECT_FALSE(lines.Next());
  Add(&lines, "op\n");
  EXPECT_EQ(lines.Next(), "stop");
}

TEST(LineBuffer, ALineWithoutEndIsTooLongSometime) {
  LineBuffer lines;
  Add(&lines, std::string(LineBuffer::kMost, 'x'));
  EXPECT_FALSE(lines.TooLong());
  Add(&lines, "x");
  EXPECT_TRUE(lines.TooLong());
  Add(&lines, "\n");
  EXPECT_FALSE(lines.TooLong());
}

}  // namespace
}  // namespace softdat::tools
