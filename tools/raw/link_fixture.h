// SPDX-License-Identifier: BSD-3-Clause
// Both ends of a floor in two threads of one process.
#ifndef SOFTDAT_TOOLS_RAW_LINK_FIXTURE_H_
#define SOFTDAT_TOOLS_RAW_LINK_FIXTURE_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/raw/link.h"

namespace softdat::tools {

inline RawJob RawJobOf(RawKind kind, Shape shape, uint32_t size, uint32_t window,
                       uint64_t iterations) {
  RawJob job;
  job.kind = kind;
  job.shape = shape;
  job.size = size;
  job.window = window;
  job.iterations = iterations;
  return job;
}

inline std::string Text(const RawJob& job) {
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
    // The backlog takes the connection before Accept() does.
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

  // The sizes lie at the limits of what the kinds treat alike. The windows do not divide the
  // iterations.
  void ExpectStreamsToRun(RawKind kind, const std::vector<uint32_t>& sizes) {
    for (const uint32_t window : {1u, 2u, 3u, 64u, kMaxRawWindow}) {
      for (const uint32_t size : sizes) {
        const uint64_t iterations = size < 32768 ? 1001 : 101;
        ASSERT_NO_FATAL_FAILURE(
            ExpectToRun(RawJobOf(kind, Shape::kStream, size, window, iterations)));
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

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RAW_LINK_FIXTURE_H_
