// SPDX-License-Identifier: BSD-3-Clause
// Tests of the view of settings.
#include "tools/info/settings_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dat/base/settings.h"

namespace softdat::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

std::string TableOf(const char* const* environment) {
  return SettingsJson(ParseSettings(environment).rows);
}

TEST(Settings, EqualTablesAreOne) {
  const char* const changed[] = {"SOFTDAT_SPIN_US=7", nullptr};
  std::vector<SettingsTable> tables;
  EXPECT_TRUE(AddSettings("a", TableOf(nullptr), &tables));
  EXPECT_TRUE(AddSettings("b", TableOf(nullptr), &tables));
  EXPECT_TRUE(AddSettings("c", TableOf(changed), &tables));
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_THAT(tables[0].libraries, ElementsAre("a", "b"));
  EXPECT_THAT(tables[1].libraries, ElementsAre("c"));
}

TEST(Settings, WhatIsNoTableIsRefused) {
  std::vector<SettingsTable> tables;
  for (const char* text : {"", "{}", "[", "[1]", "[{}]", "[{\"name\":1}]"})
    EXPECT_FALSE(AddSettings("x", text, &tables)) << text;
  EXPECT_THAT(tables, SizeIs(0));
}

TEST(Settings, RenderedWithValueSourceDefaultAndHelp) {
  const char* const changed[] = {"SOFTDAT_SPIN_US=7", nullptr};
  std::vector<SettingsTable> tables;
  ASSERT_TRUE(AddSettings("libx.so", TableOf(changed), &tables));
  const std::string text = RenderSettings(tables[0]);
  EXPECT_THAT(text, HasSubstr("  libx.so\n"));
  EXPECT_THAT(text, HasSubstr("SOFTDAT_SPIN_US = 7   [environment; default 20; "));
  EXPECT_THAT(text, HasSubstr("how long a wait polls"));
  EXPECT_THAT(text, HasSubstr("SOFTDAT_LOG = off   [default; default off; string]"));
}

}  // namespace
}  // namespace softdat::tools
