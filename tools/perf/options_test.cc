// SPDX-License-Identifier: BSD-3-Clause
// Tests of the command line.
#include "tools/perf/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

struct Parsed {
  std::optional<PerfOptions> options;
  int exit_status = 0;
  std::string output;
};

Parsed Parse(const std::vector<std::string>& arguments) {
  Parsed parsed;
  parsed.options = ParsePerfOptions(arguments, &parsed.exit_status, &parsed.output);
  return parsed;
}

void ExpectRefused(const std::vector<std::string>& arguments, const std::string& why) {
  const Parsed parsed = Parse(arguments);
  EXPECT_FALSE(parsed.options) << testing::PrintToString(arguments);
  EXPECT_EQ(parsed.exit_status, 2);
  EXPECT_THAT(parsed.output, HasSubstr(why));
}

TEST(PerfOptions, DefaultsArePerftests) {
  const auto latency = Parse({"send_lat", "host"}).options;
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->command, PerfCommand::kTest);
  EXPECT_FALSE(latency->IsServer());
  Job job = latency->ToJob(latency->Sizes().front());
  EXPECT_EQ(job.size, 2u);
  EXPECT_EQ(job.iterations, 1000u);
  EXPECT_EQ(job.window, 1u);
  EXPECT_EQ(job.wait, WaitMode::kPoll);
  EXPECT_FALSE(job.server_decides_wait);

  const auto bandwidth = Parse({"write_bw"}).options;
  ASSERT_TRUE(bandwidth);
  EXPECT_TRUE(bandwidth->IsServer());
  job = bandwidth->ToJob(bandwidth->Sizes().front());
  EXPECT_EQ(job.operation, Operation::kWrite);
  EXPECT_EQ(job.shape, Shape::kStream);
  EXPECT_EQ(job.size, 65536u);
  EXPECT_EQ(job.iterations, 5000u);
  EXPECT_EQ(job.window, 128u);
  EXPECT_EQ(job.signal_every, 100u);
}

TEST(PerfOptions, LettersOfPerftest) {
  const auto options = Parse({"send_bw",
                              "-d",
                              "softnet-eth0",
                              "-p",
                              "4711",
                              "-s",
                              "4K",
                              "-n",
                              "77",
                              "-t",
                              "64",
                              "-Q",
                              "16",
                              "-q",
                              "3",
                              "-b",
                              "-e",
                              "-r",
                              "100",
                              "-F",
                              "-R",
                              "--report_gbits",
                              "--cpu_util",
                              "server"})
                           .options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->ia, "softnet-eth0");
  EXPECT_EQ(options->conn_qual, 4711u);
  EXPECT_EQ(options->connections, 3u);
  EXPECT_TRUE(options->gigabits);
  EXPECT_TRUE(options->cpu);
  EXPECT_EQ(options->rx_depth, 100u);
  const Job job = options->ToJob(options->Sizes().front());
  EXPECT_EQ(job.size, 4096u);
  EXPECT_EQ(job.iterations, 77u);
  EXPECT_EQ(job.window, 64u);
  EXPECT_EQ(job.signal_every, 16u);
  EXPECT_TRUE(job.both_ways);
  EXPECT_EQ(job.wait, WaitMode::kWait);
}

TEST(PerfOptions, AllSizes) {
  const auto options = Parse({"write_lat", "-a", "h"}).options;
  ASSERT_TRUE(options);
  EXPECT_THAT(options->Sizes(), SizeIs(23));
  EXPECT_EQ(options->Sizes().back(), 1u << 23);
}

TEST(PerfOptions, Compare) {
  const auto options = Parse({"compare", "--test", "write_bw", "-s", "64", "--cpus", "0,0",
                              "--quick", "raw:tcp-gather", "softnet-lo,SOFTDAT_CRC=on"})
                           .options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->command, PerfCommand::kCompare);
  EXPECT_EQ(options->test.name, "write_bw");
  ASSERT_THAT(options->units, SizeIs(2));
  EXPECT_TRUE(options->units[0].IsRaw());
  EXPECT_EQ(options->units[1].ia, "softnet-lo");
  EXPECT_EQ(options->slices.slices, 5);
}

TEST(PerfOptions, WhatACompletionMeans) {
  EXPECT_EQ(Parse({"send_lat"}).options->completion, "");
  EXPECT_EQ(Parse({"send_lat", "--completion", "taken"}).options->completion, "taken");
  EXPECT_EQ(Parse({"targets", "--completion", "confirmed"}).options->completion, "confirmed");
}

TEST(PerfOptions, SeveralMessagesInARow) {
  const auto options = Parse({"send_lat", "--messages", "2"}).options;
  ASSERT_TRUE(options);
  EXPECT_EQ(options->ToJob(64).messages, 2u);
  EXPECT_TRUE(Parse({"write_lat", "--messages", "2", "--wait", "fd"}).options);
}

TEST(PerfOptions, AMessageLayersTests) {
  const auto options = Parse({"msg_lat", "-s", "64K", "-q", "2", "host"}).options;
  ASSERT_TRUE(options);
  Job job = options->ToJob(options->Sizes().front());
  EXPECT_EQ(job.operation, Operation::kMessage);
  EXPECT_EQ(job.shape, Shape::kLatency);
  EXPECT_EQ(options->connections, 2u);
  const auto by_read =
      Parse({"compare", "--test", "msg_read_lat", "-s", "1M", "raw:tcp-poll", "softnet-lo@2"})
          .options;
  ASSERT_TRUE(by_read);
  EXPECT_EQ(by_read->ToJob(1).operation, Operation::kMessageByRead);
}

TEST(PerfOptions, WhatMakesNoSenseIsSaid) {
  ExpectRefused({}, "subcommand");
  ExpectRefused({"send_latency"}, "subcommand");
  ExpectRefused({"compare"}, "UNIT");
  ExpectRefused({"compare", "raw:rdma"}, "no floor");
  ExpectRefused({"send_lat", "-s", "64", "-a", "h"}, "-a chooses");
  ExpectRefused({"send_lat", "-n", "5", "-D", "2", "h"}, "exclude each other");
  ExpectRefused({"send_lat", "-q", "5000", "h"}, "4096");
  ExpectRefused({"scale", "-q", "4096"}, "4095");
  ExpectRefused({"send_lat", "-b", "h"}, "only streams");
  ExpectRefused({"fetch_add_lat", "-s", "16", "h"}, "atomics have 8 bytes");
  ExpectRefused({"send_lat", "--wait", "memory", "h"}, "look at memory");
  ExpectRefused({"send_lat", "-e", "--wait", "cno", "h"}, "exclude each other");
  ExpectRefused({"send_lat", "-p", "0", "h"}, "is for a server");
  ExpectRefused({"send_lat", "-6"}, "is for a client");
  ExpectRefused({"send_lat", "-m", "4096"}, "no path MTU");
  ExpectRefused({"write_bw", "-s", "0"}, "for messages only");
  ExpectRefused({"read_lat", "--messages", "2"}, "several in a row");
  ExpectRefused({"msg_lat", "--messages", "2"}, "several in a row");
  ExpectRefused({"msg_lat", "-s", "0"}, "for messages only");
  ExpectRefused({"write_lat", "--messages", "3"}, "has one notice");
  ExpectRefused({"write_lat", "--messages", "2", "--wait", "memory"}, "does not see");
  ExpectRefused({"send_bw", "--messages", "2"}, "several in a row");
  ExpectRefused({"send_lat", "--messages", "5"}, "1 to 4");
  ExpectRefused({"send_lat", "--completion", "done"}, "taken");
}

TEST(PerfOptions, HelpIsNoFailure) {
  const Parsed parsed = Parse({"--help"});
  EXPECT_FALSE(parsed.options);
  EXPECT_EQ(parsed.exit_status, 0);
  EXPECT_THAT(parsed.output, HasSubstr("raw:tcp-gather"));
  EXPECT_THAT(Parse({"send_bw", "--help"}).output, HasSubstr("--tx-depth"));
}

}  // namespace
}  // namespace softdat::tools
