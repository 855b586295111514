// SPDX-License-Identifier: BSD-3-Clause
#include "tools/rds/stress_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

std::optional<StressOptions> Parse(const std::vector<std::string>& arguments) {
  int exit_status = 0;
  std::string output;
  auto options = ParseStressOptions(arguments, &exit_status, &output);
  EXPECT_EQ(output, "");
  return options;
}

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& why) {
  int exit_status = 0;
  std::string output;
  EXPECT_FALSE(ParseStressOptions(arguments, &exit_status, &output));
  EXPECT_EQ(exit_status, 2) << testing::PrintToString(arguments);
  EXPECT_THAT(output, HasSubstr(why));
}

TEST(StressOptions, DefaultsAreThoseOfRdsStress) {
  const auto passive = Parse({});
  ASSERT_TRUE(passive);
  EXPECT_FALSE(passive->active());
  EXPECT_EQ(passive->port, 4000);
  const auto active = Parse({"-s", "10.0.0.2"});
  ASSERT_TRUE(active);
  EXPECT_TRUE(active->active());
  EXPECT_EQ(active->job.tasks, 1u);
  EXPECT_EQ(active->job.depth, 1u);
  EXPECT_EQ(active->job.request_bytes, 1024u);
  EXPECT_EQ(active->job.ack_bytes, 256u);
  EXPECT_TRUE(active->job.monitor);
  EXPECT_TRUE(active->job.fence);
  EXPECT_FALSE(active->job.HasRdma());
  EXPECT_EQ(active->wait, RdsWait::kPoll);
}

TEST(StressOptions, Letters) {
  const auto options = Parse({"-s",
                              "peer",
                              "-r",
                              "own",
                              "-p",
                              "5000",
                              "-t",
                              "4",
                              "-d",
                              "8",
                              "-q",
                              "8K",
                              "-a",
                              "64",
                              "-o",
                              "-v",
                              "-Q",
                              "3",
                              "-T",
                              "10",
                              "-c",
                              "-z",
                              "-R",
                              "-V",
                              "--show-params",
                              "--show-histogram",
                              "--show-outliers",
                              "500",
                              "--connect-retries",
                              "7",
                              "--use-cong-monitor",
                              "0",
                              "--wait",
                              "block",
                              "--json",
                              "--kernel"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->receive_address, "own");
  EXPECT_EQ(options->port, 5000);
  EXPECT_EQ(options->job.tasks, 4u);
  EXPECT_EQ(options->job.depth, 8u);
  EXPECT_EQ(options->job.request_bytes, 8192u);
  EXPECT_EQ(options->job.ack_bytes, 64u);
  EXPECT_EQ(options->job.tos, 3u);
  EXPECT_TRUE(options->job.one_way && options->job.verify);
  EXPECT_FALSE(options->job.monitor);
  EXPECT_EQ(options->seconds, 10);
  EXPECT_TRUE(options->report_cpu && options->summary_only && options->realtime);
  EXPECT_TRUE(options->trace && options->show_params && options->histogram);
  EXPECT_TRUE(options->json && options->kernel);
  EXPECT_EQ(options->outliers_usec, 500u);
  EXPECT_EQ(options->connect_retries, 7u);
  EXPECT_EQ(options->wait, RdsWait::kBlock);
}

TEST(StressOptions, LettersOfRdma) {
  const auto options = Parse({"-s", "peer", "-D", "64K", "-I", "4", "-M", "2", "--rdma-use-once",
                              "1", "--rdma-use-get-mr=1", "--rdma-use-fence=0", "--rdma-alignment",
                              "3", "--rdma-key-o-meter", "--rdma-use-notify", "1"});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->job.rdma_bytes, 65536u);
  EXPECT_EQ(options->job.rdma_vectors, 4u);
  EXPECT_EQ(options->job.RdmaTotal(), 262144u);
  EXPECT_EQ(options->job.rdma_mode, RdmaMode::kWrite);
  EXPECT_TRUE(options->job.use_once && options->job.get_mr && options->job.key_meter);
  EXPECT_FALSE(options->job.fence);
  EXPECT_EQ(options->job.rdma_alignment, 3u);
}

TEST(StressOptions, Refusals) {
  ExpectRefused({"-s", "peer", "-q", "31"}, "-q 31: a message has 32 to 1048576 bytes");
  ExpectRefused({"-s", "peer", "-a", "2M"}, "-a 2097152: a message has 1048576 bytes at most");
  ExpectRefused({"-s", "peer", "-q", "4G"}, "-q 4294967296");
  ExpectRefused({"-s", "peer", "-t", "0"}, "-t 0");
  ExpectRefused({"-s", "peer", "-p", "65530", "-t", "4"}, "do not suffice");
  ExpectRefused({"-s", "peer", "--rdma-use-once", "1"}, "say with -D");
  ExpectRefused({"-s", "peer", "-D", "1M", "-I", "2"}, "1048576 bytes at most");
  ExpectRefused({"-s", "peer", "-D", "4K", "--rdma-use-once", "1", "--rdma-cache-mrs", "1"},
                "allows one use");
  ExpectRefused({"-s", "peer", "-D", "4K", "--rdma-use-notify", "0"}, "when memory is free");
  ExpectRefused({"-s", "peer", "-z"}, "-z shows nothing until the end");
  ExpectRefused({"-s", "peer", "--async"}, "not supported");
  ExpectRefused({"--reset", "-s", "peer"}, "needs both addresses");
  ExpectRefused({"-s", "peer", "--wait", "hope"}, "hope");
  ExpectRefused({"-s", "peer", "--bogus"}, "--help");
}

TEST(StressOptions, ThePassiveEndIsTold) {
  ExpectRefused({"-t", "2"}, "-t is for the active end");
  ExpectRefused({"-D", "4K"}, "-D is for the active end");
  EXPECT_TRUE(Parse({"-r", "10.0.0.1", "-p", "4001", "--wait", "spin", "-c", "--json"}));
}

TEST(StressOptions, HelpGoesToStandardOutput) {
  int exit_status = 7;
  std::string output;
  EXPECT_FALSE(ParseStressOptions({"--help"}, &exit_status, &output));
  EXPECT_EQ(exit_status, 0);
  EXPECT_THAT(output, HasSubstr("3 something arrived that must not"));
}

}  // namespace
}  // namespace softdat::tools
