// SPDX-License-Identifier: BSD-3-Clause
// Tests of the lines between a measurement and its processes.
#include "tools/bench/worker.h"

#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

TEST(WorkerOrders, ComeBackFromTheCommandLine) {
  WorkerOrders orders;
  orders.role = WorkerRole::kDrive;
  orders.task = WorkerTask::kConnectionBursts;
  orders.unit = "softnet-lo,A=b c";
  orders.cpu = -1;
  orders.connections = 1000;
  orders.window = 64;
  orders.ports = {18515, 1ull << 40};
  const auto parsed = ParseWorkerArguments(WorkerArguments(orders));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->role, orders.role);
  EXPECT_EQ(parsed->task, orders.task);
  EXPECT_EQ(parsed->unit, orders.unit);
  EXPECT_EQ(parsed->cpu, -1);
  EXPECT_EQ(parsed->connections, 1000u);
  EXPECT_EQ(parsed->window, 64u);
  EXPECT_EQ(parsed->ports, orders.ports);
}

TEST(WorkerOrders, OtherCommandLinesAreNone) {
  EXPECT_FALSE(ParseWorkerArguments({}));
  EXPECT_FALSE(ParseWorkerArguments({"compare", "a", "b", "c", "d", "e", "f", "g"}));
  auto arguments = WorkerArguments({});
  arguments[1] = "9";
  EXPECT_FALSE(ParseWorkerArguments(arguments));
  arguments = WorkerArguments({});
  arguments[2] = "4";
  EXPECT_FALSE(ParseWorkerArguments(arguments));
  for (const char* ports : {"x", "1,x", ",1", "1;2"}) {
    arguments = WorkerArguments({});
    arguments[7] = ports;
    EXPECT_FALSE(ParseWorkerArguments(arguments)) << ports;
  }
}

TEST(JobLine, ComesBackAndNothingElseIsOne) {
  Job job;
  job.operation = Operation::kFetchAndAdd;
  job.size = kAtomicBytes;
  job.iterations = 1ull << 33;
  const std::string line = JobLine(job);
  const auto parsed = ParseJobLine(line);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->operation, job.operation);
  EXPECT_EQ(parsed->iterations, job.iterations);
  EXPECT_FALSE(ParseJobLine(""));
  EXPECT_FALSE(ParseJobLine(std::string(line.size(), 'x')));
  EXPECT_FALSE(ParseJobLine(std::string(line.size(), '0')));
}

}  // namespace
}  // namespace softdat::tools
