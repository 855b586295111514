// SPDX-License-Identifier: BSD-3-Clause
// Tests of the names of floors, and of jobs that they refuse.
#include "tools/raw/job.h"

#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

constexpr RawKind kLastKind = RawKind::kRds;

RawJob Job(RawKind kind, Shape shape = Shape::kStream) {
  RawJob job;
  job.kind = kind;
  job.shape = shape;
  return job;
}

TEST(RawKindNames, EachNameIsFoundAgain) {
  for (int i = 0; i <= static_cast<int>(kLastKind); ++i) {
    const auto kind = static_cast<RawKind>(i);
    EXPECT_EQ(FindRawKind(RawKindName(kind)), kind) << RawKindName(kind);
  }
  EXPECT_EQ(RawKindName(RawKind::kTcpPoll), "tcp-poll");
  EXPECT_EQ(RawKindName(kLastKind), "rds");
}

TEST(RawKindNames, NothingElseIsAName) {
  for (const char* name : {"", "tcp", "TCP-POLL", "udp-gso ", "verbs-"})
    EXPECT_EQ(FindRawKind(name), std::nullopt) << name;
}

TEST(RawJobProblem, AllStreamButWhatGoesThereAndBack) {
  for (int i = 0; i <= static_cast<int>(kLastKind); ++i) {
    const auto kind = static_cast<RawKind>(i);
    const std::string problem = RawJobProblem(Job(kind));
    const bool answers = kind == RawKind::kTcpThread || kind == RawKind::kTcpRendezvous;
    EXPECT_EQ(problem.empty(), !answers) << problem;
    if (answers) {
      EXPECT_NE(problem.find(RawKindName(kind)), std::string::npos) << problem;
    }
  }
}

TEST(RawJobProblem, WhatGathersHasNoLatency) {
  for (int i = 0; i <= static_cast<int>(kLastKind); ++i) {
    const auto kind = static_cast<RawKind>(i);
    const std::string problem = RawJobProblem(Job(kind, Shape::kLatency));
    const bool gathers = kind == RawKind::kTcpGather || kind == RawKind::kTcpConfirm ||
                         kind == RawKind::kUdpGso || kind == RawKind::kUdpGsoCrc;
    EXPECT_EQ(problem.empty(), !gathers) << problem;
    if (gathers) {
      EXPECT_NE(problem.find(RawKindName(kind)), std::string::npos) << problem;
    }
  }
}

TEST(RawJobProblem, SizesAndWindowsHaveLimits) {
  RawJob job;
  for (const uint32_t size : {0u, kMaxRawSize + 1, UINT32_MAX}) {
    job.size = size;
    EXPECT_EQ(RawJobProblem(job), "a raw size must be 1 to 67108864 bytes") << size;
  }
  for (const uint32_t size : {1u, kMaxRawSize}) {
    job.size = size;
    EXPECT_EQ(RawJobProblem(job), "") << size;
  }
  for (const uint32_t window : {0u, kMaxRawWindow + 1, UINT32_MAX}) {
    job.window = window;
    EXPECT_EQ(RawJobProblem(job), "a raw window must be 1 to 1024") << window;
  }
  for (const uint32_t window : {1u, kMaxRawWindow}) {
    job.window = window;
    EXPECT_EQ(RawJobProblem(job), "") << window;
  }
  job.iterations = 0;
  EXPECT_EQ(RawJobProblem(job), "no iterations");
}

TEST(RawJobProblem, AMessageIsNoLongerThanADatagram) {
  for (const RawKind kind : {RawKind::kUdp, RawKind::kUdpGso}) {
    RawJob job = Job(kind);
    job.size = kMaxDatagram;
    EXPECT_EQ(RawJobProblem(job), "");
    ++job.size;
    EXPECT_NE(RawJobProblem(job).find("60000 bytes, a datagram each"), std::string::npos);
  }
}

TEST(RawJobProblem, RdsHasMessagesAndStreamsOfRdma) {
  const auto problem = [](Operation operation, Shape shape, uint32_t size) {
    RawJob job = Job(RawKind::kRds, shape);
    job.operation = operation;
    job.size = size;
    return RawJobProblem(job);
  };
  for (const Shape shape : {Shape::kLatency, Shape::kStream})
    EXPECT_EQ(problem(Operation::kSend, shape, kMaxRds), "");
  for (const Operation rdma : {Operation::kWrite, Operation::kRead}) {
    EXPECT_EQ(problem(rdma, Shape::kStream, kMaxRds), "");
    EXPECT_NE(problem(rdma, Shape::kLatency, 8).find("streams of messages"), std::string::npos);
  }
  EXPECT_NE(problem(Operation::kFetchAndAdd, Shape::kStream, 8), "");
  EXPECT_EQ(problem(Operation::kSend, Shape::kStream, kMaxRds + 1),
            "RDS carries up to 1048576 bytes at once");
}

TEST(FloorOf, AMessageOfAMessageLayerIsOneMessage) {
  tools::Job job;
  job.operation = Operation::kMessageByRead;
  job.size = 100000;
  job.iterations = 7;
  job.wait = WaitMode::kFd;
  RawJob floor = FloorOf(RawKind::kVerbs, job);
  EXPECT_EQ(floor.kind, RawKind::kVerbs);
  EXPECT_EQ(floor.operation, Operation::kSend);
  EXPECT_EQ(floor.shape, Shape::kLatency);
  EXPECT_EQ(floor.size, 100000u);
  EXPECT_EQ(floor.iterations, 7u);
  EXPECT_EQ(floor.wait, WaitMode::kFd);
  job.operation = Operation::kRead;
  EXPECT_EQ(FloorOf(RawKind::kVerbs, job).operation, Operation::kRead);
  floor.operation = Operation::kMessage;
  EXPECT_EQ(RawJobProblem(floor), "a floor has no message layer");
}

TEST(RawJobProblem, AKindThatNobodyKnows) {
  EXPECT_EQ(RawJobProblem(Job(static_cast<RawKind>(static_cast<int>(kLastKind) + 1))),
            "unknown kind of floor");
}

}  // namespace
}  // namespace softdat::tools
