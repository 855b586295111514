// SPDX-License-Identifier: BSD-3-Clause
// Tests of dat_pingpong's results.
#include "tools/pingpong/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace softdat::tools {
namespace {

TEST(Report, LinesOfTheIbvPrograms) {
  Job job;
  job.iterations = 1000;
  EXPECT_EQ(ResultLines(job, {0.01, 8192000}),
            "8192000 bytes in 0.01 seconds = 6553.60 Mbit/sec\n"
            "1000 iters in 0.01 seconds = 10.00 usec/iter\n");
}

TEST(Report, NoTimeIsNoRate) {
  Job job;
  job.iterations = 1;
  EXPECT_EQ(ResultLines(job, {0, 1}),
            "1 bytes in 0.00 seconds = 0.00 Mbit/sec\n1 iters in 0.00 seconds = 0.00 usec/iter\n");
}

TEST(Report, Json) {
  Job job;
  job.operation = Operation::kRead;
  job.size = 64;
  job.iterations = 10;
  job.check = true;
  const auto json = nlohmann::json::parse(ResultJson("softnet-\"lo\xff", true, job, {0.001, 640}));
  EXPECT_EQ(json["role"], "server");
  EXPECT_EQ(json["operation"], "read");
  EXPECT_EQ(json["size_bytes"], 64);
  EXPECT_EQ(json["iterations"], 10);
  EXPECT_EQ(json["checked"], true);
  EXPECT_DOUBLE_EQ(json["usec_per_iteration"], 100.0);
  EXPECT_DOUBLE_EQ(json["mbit_per_second"], 5.12);
}

TEST(Report, ReadyLineIsWhatScriptsWaitFor) {
  EXPECT_EQ(ReadyLine("softnet-lo", 18515),
            "waiting for a client on softnet-lo, connection qualifier 18515");
}

}  // namespace
}  // namespace softdat::tools
