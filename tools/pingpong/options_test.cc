// SPDX-License-Identifier: BSD-3-Clause
// Tests of dat_pingpong's command line.
#include "tools/pingpong/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

std::optional<PingpongOptions> Parse(const std::vector<std::string>& arguments, std::string* output,
                                     int* status) {
  output->clear();
  *status = -1;
  return ParsePingpongOptions(arguments, status, output);
}

PingpongOptions Good(const std::vector<std::string>& arguments) {
  std::string output;
  int status = 0;
  const auto options = Parse(arguments, &output, &status);
  EXPECT_TRUE(options) << output;
  return options.value_or(PingpongOptions{});
}

std::string Bad(const std::vector<std::string>& arguments) {
  std::string output;
  int status = 0;
  EXPECT_FALSE(Parse(arguments, &output, &status));
  EXPECT_EQ(status, 2);
  EXPECT_THAT(output, HasSubstr("dat_pingpong: "));
  return output;
}

TEST(PingpongOptions, DefaultsAreAServerThatTakesAnything) {
  const auto options = Good({});
  EXPECT_TRUE(options.IsServer());
  EXPECT_EQ(options.ia, "softnet-lo");
  EXPECT_EQ(options.conn_qual, 18515u);
  EXPECT_FALSE(options.size);
  EXPECT_FALSE(options.iterations);
  EXPECT_FALSE(options.operation);
}

TEST(PingpongOptions, ShortLettersOfTheIbvPrograms) {
  const auto options = Good({"-p", "0x1234567890", "-d", "verbs-rxe0", "-s", "64K", "-n", "12",
                             "-r", "8", "-e", "-c", "--op", "write", "-6", "host"});
  EXPECT_EQ(options.host, "host");
  EXPECT_EQ(options.conn_qual, 0x1234567890u);
  EXPECT_EQ(options.ia, "verbs-rxe0");
  EXPECT_EQ(options.receive_depth, 8u);
  EXPECT_TRUE(options.ipv6);
  const Job job = options.ToJob();
  EXPECT_EQ(job.size, 65536u);
  EXPECT_EQ(job.iterations, 12u);
  EXPECT_EQ(job.operation, Operation::kWrite);
  EXPECT_EQ(job.wait, WaitMode::kWait);
  EXPECT_TRUE(job.check);
}

TEST(PingpongOptions, LongForms) {
  const auto options = Good({"--port=7", "--ib-dev=x", "--size=1", "--iters=2", "--rx-depth=3",
                             "--events", "--chk", "--json", "--timeout=5", "host"});
  EXPECT_EQ(options.conn_qual, 7u);
  EXPECT_EQ(options.ia, "x");
  EXPECT_TRUE(options.json);
  EXPECT_EQ(options.timeout_ms, 5u);
}

TEST(PingpongOptions, DemoAndItsParts) {
  EXPECT_TRUE(Good({"--demo", "host"}).demo_transfer);
  EXPECT_TRUE(Good({"--demo", "host"}).demo_table);
  EXPECT_FALSE(Good({"--demo=transfer", "host"}).demo_table);
  EXPECT_FALSE(Good({"--demo=table", "host"}).demo_transfer);
  EXPECT_EQ(Good({"--demo", "host"}).host, "host");
  EXPECT_THAT(Bad({"--demo=all-of-it", "host"}), HasSubstr("none of transfer, table"));
  EXPECT_THAT(Bad({"--demo"}), HasSubstr("for a client"));
  EXPECT_THAT(Bad({"--demo", "-s", "1", "host"}), HasSubstr("chooses"));
}

TEST(PingpongOptions, LettersWithoutMeaningSayWhy) {
  EXPECT_THAT(Bad({"-m", "1024"}), HasSubstr("path MTU"));
  EXPECT_THAT(Bad({"-l", "0"}), HasSubstr("best effort"));
  EXPECT_THAT(Bad({"-i", "1"}), HasSubstr("IA name"));
  EXPECT_THAT(Bad({"-g", "0"}), HasSubstr("-6"));
  EXPECT_THAT(Bad({"-o"}), HasSubstr("on-demand paging"));
  EXPECT_THAT(Bad({"-t"}), HasSubstr("time stamp"));
}

TEST(PingpongOptions, BadValuesAreNamed) {
  EXPECT_THAT(Bad({"-s", "9G", "host"}), HasSubstr("'9G'"));
  EXPECT_THAT(Bad({"-s", "-1", "host"}), HasSubstr("-1"));
  EXPECT_THAT(Bad({"-p", "1x"}), HasSubstr("'1x'"));
  EXPECT_THAT(Bad({"-p", "0", "host"}), HasSubstr("for a server"));
  EXPECT_THAT(Bad({"-n", "0", "host"}), HasSubstr("iterations"));
  EXPECT_THAT(Bad({"-n", "99999999999999999999", "host"}), HasSubstr("iterations"));
  EXPECT_THAT(Bad({"-r", "0", "host"}), HasSubstr("-r"));
  EXPECT_THAT(Bad({"--op", "atomic", "host"}), HasSubstr("atomic"));
  EXPECT_THAT(Bad({"--op", "read", "-s", "0", "host"}), HasSubstr("messages only"));
  EXPECT_THAT(Bad({"-6"}), HasSubstr("for a client"));
  EXPECT_THAT(Bad({"--bogus"}), HasSubstr("--bogus"));
  EXPECT_THAT(Bad({"a", "b"}), HasSubstr("b"));
}

TEST(PingpongOptions, HelpIsForStandardOutput) {
  std::string output;
  int status = -1;
  EXPECT_FALSE(Parse({"--help"}, &output, &status));
  EXPECT_EQ(status, 0);
  EXPECT_THAT(output, HasSubstr("Exit status:"));
  EXPECT_THAT(output, HasSubstr("--rx-depth"));
}

}  // namespace
}  // namespace softdat::tools
