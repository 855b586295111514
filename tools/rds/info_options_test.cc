// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/info_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

std::optional<RdsInfoOptions> Parse(const std::vector<std::string>& arguments) {
  int exit_status = 0;
  std::string output;
  return ParseRdsInfoOptions(arguments, &exit_status, &output);
}

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& why) {
  int exit_status = 0;
  std::string output;
  EXPECT_FALSE(ParseRdsInfoOptions(arguments, &exit_status, &output));
  EXPECT_EQ(exit_status, 2);
  EXPECT_THAT(output, HasSubstr(why));
  EXPECT_THAT(output, HasSubstr("rds-softinfo --help"));
}

TEST(InfoOptionsTest, LettersOfRdsInfoInTheirOwnOrder) {
  EXPECT_EQ(Parse({})->letters, "");
  EXPECT_EQ(Parse({"-kn"})->letters, "kn");
  EXPECT_EQ(Parse({"-t", "-s", "-r", "-n", "-k", "-c", "-T", "-I"})->letters, "ITcknrst");
  EXPECT_TRUE(Parse({"-Iv"})->verbose);
}

TEST(InfoOptionsTest, Watching) {
  EXPECT_EQ(Parse({})->watch_us, 0);
  const auto options = Parse({"--watch", "0.5", "--count", "3", "--json"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->watch_us, 500000);
  EXPECT_EQ(options->count, 3u);
  EXPECT_TRUE(options->json);
}

TEST(InfoOptionsTest, Refusals) {
  ExpectRefused({"-x"}, "-x");
  ExpectRefused({"something"}, "something");
  ExpectRefused({"--watch", "0"}, "no time above 0");
  ExpectRefused({"--watch", "often"}, "no time above 0");
  ExpectRefused({"--count", "3"}, "--watch");
}

TEST(InfoOptionsTest, HelpGoesToStandardOutput) {
  int exit_status = 7;
  std::string output;
  EXPECT_FALSE(ParseRdsInfoOptions({"--help"}, &exit_status, &output));
  EXPECT_EQ(exit_status, 0);
  EXPECT_THAT(output, HasSubstr("Exit status:"));
}

}  // namespace
}  // namespace softdat::tools
