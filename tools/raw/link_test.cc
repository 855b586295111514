// SPDX-License-Identifier: BSD-3-Clause
// Tests of the floors, each over a link: both ends in two threads of this process.
#include "tools/raw/link.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace softdat::tools {
namespace {

constexpr char kDeviceVariable[] = "SOFTDAT_BENCH_VERBS_ADDRESS";

RawJob Job(RawKind kind, Shape shape, uint32_t size, uint32_t window, uint64_t iterations) {
  RawJob job;
  job.kind = kind;
  job.shape = shape;
  job.size = size;
  job.window = window;
  job.iterations = iterations;
  return job;
}

std::string Text(const RawJob& job) {
  return fmt::format(
      "{} {} {}: {} times {} bytes, window {}", RawKindName(job.kind), OperationName(job.operation),
      job.shape == Shape::kLatency ? "latency" : "stream", job.iterations, job.size, job.window);
}

class RawLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    uint16_t port = 0;
    ASSERT_TRUE(server_.Listen(&port).ok());
    client_ = std::make_unique<RawLink>();
    // The backlog takes the connection before Accept().
    ASSERT_TRUE(client_->Connect(port).ok());
    thread_ = std::thread([this] {
      Outcome outcome = server_.Accept();
      if (outcome.ok()) outcome = server_.Serve();
      server_message_ = outcome.message();
    });
  }
  void TearDown() override { Finish(); }
  // The client closes, and the server ends.
  void Finish() {
    client_.reset();
    if (thread_.joinable()) thread_.join();
  }

  void ExpectToRun(const RawJob& job) {
    JobResult result;
    result.seconds = result.client_cpu = result.server_cpu = -1;
    const Outcome outcome = client_->Run(job, &result);
    ASSERT_TRUE(outcome.ok()) << Text(job) << ": " << outcome.message();
    EXPECT_GT(result.seconds, 0) << Text(job);
    EXPECT_GE(result.client_cpu, 0) << Text(job);
    EXPECT_GE(result.server_cpu, 0) << Text(job);
    EXPECT_EQ(result.bytes, job.iterations * job.size * (job.shape == Shape::kLatency ? 2 : 1));
  }

  // Sizes at the edges of what the kinds treat alike, windows that do not divide the iterations.
  void ExpectStreamsToRun(RawKind kind, const std::vector<uint32_t>& sizes) {
    for (const uint32_t window : {1u, 2u, 3u, 64u, kMaxRawWindow}) {
      for (const uint32_t size : sizes) {
        const uint64_t iterations = size < 32768 ? 1001 : 101;
        ASSERT_NO_FATAL_FAILURE(ExpectToRun(Job(kind, Shape::kStream, size, window, iterations)));
      }
    }
    Finish();
    EXPECT_EQ(server_message_, "");
  }

  std::string FailureOf(const RawJob& job) {
    JobResult result;
    return client_->Run(job, &result).message();
  }

  RawLink server_;
  std::unique_ptr<RawLink> client_;
  std::thread thread_;
  std::string server_message_;
};

TEST_F(RawLinkTest, EachKindOneAfterTheOther) {
  for (const RawKind kind :
       {RawKind::kTcpPoll, RawKind::kTcpEpoll, RawKind::kTcpBlock, RawKind::kTcpGather,
        RawKind::kUdp, RawKind::kUdpGso, RawKind::kShm, RawKind::kMemcpy, RawKind::kTcpPoll}) {
    for (const Shape shape : {Shape::kLatency, Shape::kStream}) {
      const RawJob job = Job(kind, shape, 50000, 4, 5);
      if (!RawJobProblem(job).empty()) continue;
      ASSERT_NO_FATAL_FAILURE(ExpectToRun(job));
    }
  }
  Finish();
  EXPECT_EQ(server_message_, "");
}

// System calls take parts of messages.
TEST_F(RawLinkTest, GatheredMessagesAreAllThere) {
  ExpectStreamsToRun(RawKind::kTcpGather, {1, 63, 70001});
}

TEST_F(RawLinkTest, DatagramsAreAllThere) {
  ExpectStreamsToRun(RawKind::kUdp, {1, 63, 1472, 32769, kMaxDatagram});
}

TEST_F(RawLinkTest, DatagramsCutByTheKernelAreAllThere) {
  ExpectStreamsToRun(RawKind::kUdpGso, {1, 63, 1472, 32769, kMaxDatagram});
}

TEST_F(RawLinkTest, MessagesInSharedMemoryAreAllThere) {
  ExpectStreamsToRun(RawKind::kShm, {1, 56, 57, 4097, 70001});
}

TEST_F(RawLinkTest, LatenciesOfOddSizes) {
  for (const RawKind kind : {RawKind::kTcpPoll, RawKind::kUdp, RawKind::kShm, RawKind::kMemcpy}) {
    for (const uint32_t size : {1u, 56u, 57u, 4097u, kMaxDatagram})
      ASSERT_NO_FATAL_FAILURE(ExpectToRun(Job(kind, Shape::kLatency, size, 1, 101)));
  }
  Finish();
  EXPECT_EQ(server_message_, "");
}

// Two slots of the first size take all that a ring may have; of the others there is one.
TEST_F(RawLinkTest, LargeMessagesInSharedMemory) {
  ExpectToRun(Job(RawKind::kShm, Shape::kStream, kMaxRawSize / 3, 16, 3));
  ExpectToRun(Job(RawKind::kShm, Shape::kStream, kMaxRawSize, 16, 1));
  ExpectToRun(Job(RawKind::kShm, Shape::kLatency, kMaxRawSize / 2 + 1, 1, 1));
}

TEST_F(RawLinkTest, AJobBeyondTheLimitsEndsTheServer) {
  EXPECT_NE(FailureOf(Job(RawKind::kTcpPoll, Shape::kLatency, 1, 1, 0)), "");
  Finish();
  EXPECT_EQ(server_message_, "raw: not a job: no iterations");
}

TEST_F(RawLinkTest, AShapeThatTheKindDoesNotHaveEndsTheServer) {
  EXPECT_NE(FailureOf(Job(RawKind::kUdpGso, Shape::kLatency, 1, 1, 1)), "");
  Finish();
  EXPECT_EQ(server_message_,
            "raw: not a job: raw:udp-gso gathers messages: it is for bandwidth and rates, not for "
            "latency");
}

// The address of a device is what the variable was when the program began: the tests change it.
class RawVerbsTest : public RawLinkTest {
 protected:
  static std::string Device() {
    static const std::string* const device = [] {
      const char* const text = getenv(kDeviceVariable);
      return new std::string(text == nullptr ? "" : text);
    }();
    return *device;
  }

  RawVerbsTest() { Device(); }
  void TearDown() override {
    RawLinkTest::TearDown();
    unsetenv(kDeviceVariable);
    if (!Device().empty()) setenv(kDeviceVariable, Device().c_str(), 1);
  }

  const RawJob job_ = Job(RawKind::kVerbs, Shape::kLatency, 8, 1, 10);
};

TEST_F(RawVerbsTest, WithoutAnAddressItSaysWhichVariableIsMissing) {
  unsetenv(kDeviceVariable);
  const std::string why = FailureOf(job_);
  EXPECT_NE(why.find("SOFTDAT_BENCH_VERBS_ADDRESS is not set"), std::string::npos) << why;
  // The link can be used for something else.
  ExpectToRun(Job(RawKind::kTcpBlock, Shape::kLatency, 1, 1, 1));
}

TEST_F(RawVerbsTest, WhatIsNoAddressIsRefused) {
  setenv(kDeviceVariable, "rxe0", 1);
  const std::string why = FailureOf(job_);
  EXPECT_NE(why.find("SOFTDAT_BENCH_VERBS_ADDRESS=rxe0 is neither"), std::string::npos) << why;
}

// Of TEST-NET-1 (RFC 5737): no host has it.
TEST_F(RawVerbsTest, AnAddressWithoutADeviceIsRefused) {
  setenv(kDeviceVariable, "192.0.2.1", 1);
  const std::string why = FailureOf(job_);
  EXPECT_NE(why.find("no RDMA device"), std::string::npos) << why;
  EXPECT_NE(why.find("rdma link"), std::string::npos) << why;
}

// tests/vm/run 'soft_dummy rxe; SOFTDAT_BENCH_VERBS_ADDRESS=10.7.0.1 bazel-bin/tools/raw/link_test'
TEST_F(RawVerbsTest, EachOperationThatTheDeviceHas) {
  if (Device().empty()) GTEST_SKIP() << kDeviceVariable << " is not set";
  for (const Operation operation :
       {Operation::kSend, Operation::kWrite, Operation::kRead, Operation::kWriteImmediate,
        Operation::kFetchAndAdd, Operation::kCompareAndSwap}) {
    for (const uint32_t size : {1u, 8u, 64u, 257u, 70001u, 1u << 20}) {
      if (IsAtomic(operation) && size != kAtomicBytes) continue;
      for (const uint32_t window : {0u, 1u, 5u, 64u}) {
        RawJob job = Job(RawKind::kVerbs, window == 0 ? Shape::kLatency : Shape::kStream, size,
                         std::max(1u, window), size < 65536 ? 1001 : 21);
        job.operation = operation;
        JobResult result;
        const std::string why = client_->Run(job, &result).message();
        // What iWARP does not have is refused, and no more than that.
        if (why.find(fmt::format("has no {}", OperationName(operation))) != std::string::npos)
          continue;
        ASSERT_EQ(why, "") << Text(job);
      }
    }
  }
  Finish();
  EXPECT_EQ(server_message_, "");
}

}  // namespace
}  // namespace softdat::tools
