// SPDX-License-Identifier: BSD-3-Clause
// Tests of dat_info's command line.
#include "tools/info/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

InfoOptions Good(const std::vector<std::string>& arguments) {
  int status = -1;
  std::string output;
  const auto options = ParseInfoOptions(arguments, &status, &output);
  EXPECT_TRUE(options) << output;
  return options.value_or(InfoOptions{});
}

std::string Bad(const std::vector<std::string>& arguments) {
  int status = -1;
  std::string output;
  EXPECT_FALSE(ParseInfoOptions(arguments, &status, &output));
  EXPECT_EQ(status, 2);
  EXPECT_THAT(output, HasSubstr("dat_info: "));
  return output;
}

TEST(InfoOptions, EachMode) {
  EXPECT_EQ(Good({}).mode, InfoMode::kTable);
  EXPECT_EQ(Good({"-l"}).mode, InfoMode::kNames);
  EXPECT_EQ(Good({"-e", "--json"}).mode, InfoMode::kSettings);
  EXPECT_TRUE(Good({"-e", "--json"}).json);
  EXPECT_EQ(Good({"--check", "f"}).mode, InfoMode::kCheck);
  EXPECT_EQ(Good({"--check", "f"}).file, "f");
  EXPECT_EQ(Good({"--why", "x"}).mode, InfoMode::kWhy);
  EXPECT_EQ(Good({"--why", "x"}).ia, "x");
  EXPECT_EQ(Good({"-v", "x"}).ia, "x");
  EXPECT_TRUE(Good({"-v", "x"}).verbose);
}

TEST(InfoOptions, ModesExcludeEachOther) {
  EXPECT_THAT(Bad({"-l", "-e"}), HasSubstr("xclude"));
  EXPECT_THAT(Bad({"-l", "x"}), HasSubstr("xclude"));
  EXPECT_THAT(Bad({"--check", "f", "-v"}), HasSubstr("xclude"));
  EXPECT_THAT(Bad({"--why", "a", "--check", "f"}), HasSubstr("xclude"));
}

TEST(InfoOptions, WrongOnesAreNamed) {
  EXPECT_THAT(Bad({"--bogus"}), HasSubstr("--bogus"));
  EXPECT_THAT(Bad({"a", "b"}), HasSubstr("b"));
  EXPECT_THAT(Bad({"--why"}), HasSubstr("--why"));
  EXPECT_THAT(Bad({"--why", ""}), HasSubstr("empty"));
  EXPECT_THAT(Bad({""}), HasSubstr("empty"));
}

TEST(InfoOptions, HelpListsExitStatuses) {
  int status = -1;
  std::string output;
  EXPECT_FALSE(ParseInfoOptions({"--help"}, &status, &output));
  EXPECT_EQ(status, 0);
  EXPECT_THAT(output, HasSubstr("Exit status: 0"));
}

}  // namespace
}  // namespace softdat::tools
