// SPDX-License-Identifier: BSD-3-Clause
// Tests of links that work at the same time: both ends in this process, over softnet.
#include "tools/bench/dat_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace softdat::tools {
namespace {

using testing::HasSubstr;

#define ASSERT_DONE(call)                     \
  do {                                        \
    const Outcome made = (call);              \
    ASSERT_TRUE(made.ok()) << made.message(); \
  } while (0)

DatShape ShapeOf(uint32_t threads, bool ia_for_each, uint32_t connections = 1) {
  return {.ia = "softnet-lo",
          .threads = threads,
          .ia_for_each = ia_for_each,
          .connections = connections,
          .depths = {.receives = 64, .requests = 16}};
}

Job Waiting(Operation operation, uint64_t iterations) {
  Job job;
  job.operation = operation;
  job.size = 64;
  job.wait = WaitMode::kWait;
  job.server_decides_wait = false;
  job.iterations = iterations;
  return job;
}

// A server with its client.
class Pair {
 public:
  void Start(const DatShape& shape) {
    std::vector<uint64_t> ports;
    ASSERT_DONE(server_.Open(shape));
    ASSERT_DONE(server_.Listen(&ports));
    EXPECT_EQ(ports.size(), shape.threads);
    serving_ = std::jthread([this] { served_ = server_.Serve(); });
    ASSERT_DONE(client_.Open(shape));
    ASSERT_DONE(client_.Connect(ports));
  }
  // Waits until the server has seen that the client has disconnected.
  void ExpectServed() {
    serving_.join();
    EXPECT_TRUE(served_.ok()) << served_.message();
  }
  DatEnds& client() { return client_; }

 private:
  DatEnds server_;
  Outcome served_;
  std::jthread serving_;
  DatEnds client_;  // is destroyed first, which ends what is served
};

class DatEndsTest : public testing::TestWithParam<DatShape> {};

TEST_P(DatEndsTest, JobsAreDividedAmongTheLinks) {
  Pair pair;
  ASSERT_NO_FATAL_FAILURE(pair.Start(GetParam()));
  Job stream = Waiting(Operation::kSend, 1000);
  stream.shape = Shape::kStream;
  stream.window = 16;
  // With three iterations, a fourth link has nothing to do.
  for (const Job& job : {Waiting(Operation::kSend, 101), stream, Waiting(Operation::kSend, 3),
                         Waiting(Operation::kRead, 102), Waiting(Operation::kWrite, 1)}) {
    JobResult result;
    ASSERT_DONE(pair.client().Run(job, &result));
    EXPECT_EQ(result.bytes, BytesPerIteration(job) * job.iterations);
    EXPECT_GT(result.seconds, 0);
    EXPECT_GT(result.client_cpu, 0);
    EXPECT_GE(result.server_cpu, 0);
  }
  ASSERT_DONE(pair.client().Disconnect());
  pair.ExpectServed();
}

INSTANTIATE_TEST_SUITE_P(Shapes, DatEndsTest,
                         testing::Values(ShapeOf(1, false), ShapeOf(4, false), ShapeOf(4, true),
                                         ShapeOf(2, false, 3)));

TEST(DatEnds, AJobThatNobodyCanRun) {
  Pair pair;
  ASSERT_NO_FATAL_FAILURE(pair.Start(ShapeOf(2, false)));
  JobResult result;
  EXPECT_FALSE(pair.client().Run(Waiting(Operation::kSend, 0), &result).ok());
}

TEST(DatEnds, ALinkThatFailsHoldsUpNoOther) {
  DatEnds server;
  std::vector<uint64_t> ports;
  ASSERT_DONE(server.Open(ShapeOf(1, false)));
  ASSERT_DONE(server.Listen(&ports));
  std::jthread serving([&] { EXPECT_TRUE(server.Serve().ok()); });
  std::optional<Link> silent(std::in_place);
  ASSERT_DONE(silent->Open("softnet-lo", {.receives = 8, .requests = 8}));
  ASSERT_DONE(silent->Listen(0));
  ports.push_back(silent->conn_qual());
  std::jthread accepting([&] { EXPECT_TRUE(silent->Accept().ok()); });

  DatEnds client;
  ASSERT_DONE(client.Open(ShapeOf(2, false)));
  ASSERT_DONE(client.Connect(ports));
  accepting.join();
  silent.reset();
  JobResult result;
  const Outcome outcome = client.Run(Waiting(Operation::kSend, 10), &result);
  EXPECT_FALSE(outcome.ok());
}

TEST(DatEnds, AServerOfAnotherShape) {
  DatEnds client;
  ASSERT_DONE(client.Open(ShapeOf(2, false)));
  EXPECT_THAT(client.Connect({18515}).message(), HasSubstr("1 ports for 2 links"));
}

}  // namespace
}  // namespace softdat::tools
