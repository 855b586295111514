// SPDX-License-Identifier: BSD-3-Clause
// Tests of lines, tables and sizes.
#include "tools/common/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(WrapText, BreaksAtBlanksOnly) {
  EXPECT_THAT(WrapText("", 10), IsEmpty());
  EXPECT_THAT(WrapText("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapText("a verylongword b", 4), ElementsAre("a", "verylongword", "b"));
  EXPECT_THAT(WrapText("  a   b ", 10), ElementsAre("a b"));
}

TEST(FormatSize, UsesTheLargestUnitWithoutRest) {
  EXPECT_EQ(FormatSize(0), "0 B");
  EXPECT_EQ(FormatSize(64), "64 B");
  EXPECT_EQ(FormatSize(1024), "1 KiB");
  EXPECT_EQ(FormatSize(1025), "1025 B");
  EXPECT_EQ(FormatSize(1536), "1536 B");
  EXPECT_EQ(FormatSize(1 << 20), "1 MiB");
  EXPECT_EQ(FormatSize(uint64_t{4} << 40), "4096 GiB");
}

TEST(Table, ColumnsAreAlignedAndLinesEndWithoutBlanks) {
  Table table({"name", "n", "note"}, {Table::Align::kLeft, Table::Align::kRight});
  table.AddRow({"a", "10", "x"});
  table.AddRow({"longer", "7"});
  EXPECT_EQ(table.Render(),
            "name     n  note\n"
            "a       10  x\n"
            "longer   7\n");
}

TEST(Table, RowsMayBeLongerThanTheHeader) {
  Table table({"a"});
  table.AddRow({"b", "c"});
  EXPECT_EQ(table.Render(), "a\nb  c\n");
}

}  // namespace
}  // namespace softdat::tools
