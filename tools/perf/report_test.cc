// SPDX-License-Identifier: BSD-3-Clause
// Tests of the columns, which other programs' parsers read.
#include "tools/perf/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace softdat::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Splits a line as awk does.
std::vector<std::string> Fields(const std::string& line) {
  std::istringstream in(line);
  std::vector<std::string> fields;
  for (std::string field; in >> field;) fields.push_back(field);
  return fields;
}

PerfResult Bandwidth() {
  PerfResult result;
  result.job.operation = Operation::kWrite;
  result.job.shape = Shape::kStream;
  result.job.size = 1 << 20;
  result.job.iterations = 1000;
  result.total.seconds = 0.5;
  result.total.client_cpu = 0.25;
  result.total.server_cpu = 0.5;
  result.peak_seconds = 0.25e-3;
  return result;
}

TEST(PerfReport, BandwidthColumns) {
  const PerfTest test = *FindPerfTest("write_bw");
  EXPECT_EQ(Heads(test, {}),
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n");
  EXPECT_THAT(Fields(Row(test, {}, Bandwidth())),
              ElementsAre("1048576", "1000", "4000.00", "2000.00", "0.002000"));
  PerfStyle gigabits;
  gigabits.gigabits = true;
  gigabits.cpu = true;
  EXPECT_THAT(Heads(test, gigabits),
              HasSubstr("BW average[Gb/sec]   MsgRate[Mpps]    CPU_Util[%]\n"));
  EXPECT_THAT(Fields(Row(test, gigabits, Bandwidth())),
              ElementsAre("1048576", "1000", "33.55", "16.78", "0.002000", "150.00"));
}

TEST(PerfReport, BothWaysCountTwice) {
  PerfResult result = Bandwidth();
  result.job.both_ways = true;
  EXPECT_EQ(Fields(Row(*FindPerfTest("write_bw"), {}, result))[3], "4000.00");
}

TEST(PerfReport, LatencyColumns) {
  const PerfTest test = *FindPerfTest("send_lat");
  PerfResult result;
  result.job.size = 2;
  result.latency = {1.5, 9.25, 2, 2.5, 0.75, 8, 9};
  EXPECT_THAT(Fields(Row(test, {}, result)),
              ElementsAre("2", "1000", "1.50", "9.25", "2.00", "2.50", "0.75", "8.00", "9.00"));
  result.total.seconds = 0.01;  // 10 us for a round trip
  PerfStyle duration;
  duration.by_duration = true;
  EXPECT_EQ(Heads(test, duration), " #bytes        #iterations       t_avg[usec]    tps average\n");
  EXPECT_THAT(Fields(Row(test, duration, result)), ElementsAre("2", "1000", "5.00", "200000.00"));
}

TEST(PerfReport, JsonHasPerftestsNames) {
  const auto one = PerfJson(*FindPerfTest("write_bw"), {}, {Bandwidth()});
  EXPECT_EQ(one["test_info"]["test"], "write_bw");
  EXPECT_EQ(one["results"]["MsgSize"], 1 << 20);
  EXPECT_DOUBLE_EQ(one["results"]["BW_average"], 2000);
  EXPECT_DOUBLE_EQ(one["results"]["BW_peak"], 4000);
  EXPECT_DOUBLE_EQ(one["results"]["client_cpu_us_per_iteration"], 250);
  const auto sweep = PerfJson(*FindPerfTest("write_bw"), {}, {Bandwidth(), Bandwidth()});
  EXPECT_EQ(sweep["results"].size(), 2u);
  PerfResult latency;
  latency.latency.percent_99_9 = 7;
  EXPECT_DOUBLE_EQ(PerfJson(*FindPerfTest("send_lat"), {}, {latency})["results"]["percentile_99.9"],
                   7);
}

}  // namespace
}  // namespace softdat::tools
