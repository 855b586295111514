// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/ping_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

std::optional<PingOptions> Parse(const std::vector<std::string>& arguments) {
  int exit_status = 0;
  std::string output;
  return ParsePingOptions(arguments, &exit_status, &output);
}

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& why) {
  int exit_status = 0;
  std::string output;
  EXPECT_FALSE(ParsePingOptions(arguments, &exit_status, &output));
  EXPECT_EQ(exit_status, 2);
  EXPECT_THAT(output, HasSubstr(why));
  EXPECT_THAT(output, HasSubstr("rds-softping --help"));
}

TEST(PingOptions, LettersOfRdsPing) {
  const auto options = Parse({"-c", "5", "-i", "200msec", "-I", "10.0.0.1", "-Q", "7", "10.0.0.2"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->host, "10.0.0.2");
  EXPECT_EQ(options->count, 5u);
  EXPECT_EQ(options->interval_us, 200000);
  EXPECT_EQ(options->source, "10.0.0.1");
  EXPECT_EQ(options->tos, 7u);
  EXPECT_FALSE(options->kernel);
}

TEST(PingOptions, Defaults) {
  const auto options = Parse({"host"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->count, 0u);
  EXPECT_EQ(options->interval_us, 1000000);
  EXPECT_EQ(options->LingerUs(), 1000000);
}

TEST(PingOptions, WaitsAsLongAsTheIntervalAndASecondAtLeast) {
  EXPECT_EQ(Parse({"-i", "3", "host"})->LingerUs(), 3000000);
  EXPECT_EQ(Parse({"-i", "0.1", "host"})->LingerUs(), 1000000);
  EXPECT_EQ(Parse({"-w", "0.1", "host"})->LingerUs(), 100000);
}

TEST(PingOptions, Refusals) {
  ExpectRefused({}, "HOST is required");
  ExpectRefused({"-c", "0", "host"}, "0");
  ExpectRefused({"-i", "soon", "host"}, "'soon' is no time");
  ExpectRefused({"-Q", "256", "host"}, "256");
  ExpectRefused({"host", "other"}, "other");
}

TEST(PingOptions, HelpGoesToStandardOutput) {
  int exit_status = 7;
  std::string output;
  EXPECT_FALSE(ParsePingOptions({"--help"}, &exit_status, &output));
  EXPECT_EQ(exit_status, 0);
  EXPECT_THAT(output, HasSubstr("Exit status: 0 there was an answer"));
}

TEST(ParseInterval, Units) {
  EXPECT_EQ(ParseInterval("1"), 1000000);
  EXPECT_EQ(ParseInterval("0.25"), 250000);
  EXPECT_EQ(ParseInterval("2s"), 2000000);
  EXPECT_EQ(ParseInterval("200msec"), 200000);
  EXPECT_EQ(ParseInterval("1.5ms"), 1500);
  EXPECT_EQ(ParseInterval("500usec"), 500);
  EXPECT_EQ(ParseInterval("500us"), 500);
  EXPECT_EQ(ParseInterval("0"), 0);
}

TEST(ParseInterval, Nonsense) {
  for (const char* text : {"", "s", "-1", "1.2.3", "1e9", "nan", "1 s", "100000", "1m"})
    EXPECT_FALSE(ParseInterval(text)) << text;
}

}  // namespace
}  // namespace softdat::tools
