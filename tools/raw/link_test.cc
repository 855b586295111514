// SPDX-License-Identifier: BSD-3-Clause
// Tests of the floors, each over a link: both ends in two threads of this process.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tools/raw/link_fixture.h"

namespace softdat::tools {
namespace {

constexpr char kDeviceVariable[] = "SOFTDAT_BENCH_VERBS_ADDRESS";

TEST_F(RawLinkTest, EachKindOneAfterTheOther) {
  for (const RawKind kind :
       {RawKind::kTcpPoll, RawKind::kTcpEpoll, RawKind::kTcpBlock, RawKind::kTcpGather,
        RawKind::kTcpConfirm, RawKind::kTcpThread, RawKind::kTcpRendezvous, RawKind::kTcpHandshake,
        RawKind::kUdp, RawKind::kUdpGso, RawKind::kUdpGsoCrc, RawKind::kShm, RawKind::kMemcpy,
        RawKind::kProcessVm, RawKind::kTcpPoll}) {
    for (const Shape shape : {Shape::kLatency, Shape::kStream}) {
      const RawJob job = RawJobOf(kind, shape, 50000, 4, 5);
      if (!RawJobProblem(job).empty()) continue;
      ASSERT_NO_FATAL_FAILURE(ExpectToRun(job));
    }
  }
  Finish();
  EXPECT_EQ(server_message_, "");
}

// A system call may take a part of a message.
TEST_F(RawLinkTest, GatheredMessagesAreAllThere) {
  ExpectStreamsToRun(RawKind::kTcpGather, {1, 63, 70001});
}

TEST_F(RawLinkTest, ConfirmedMessagesAreAllThere) {
  ExpectStreamsToRun(RawKind::kTcpConfirm, {1, 63, 70001});
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
  for (const RawKind kind : {RawKind::kTcpPoll, RawKind::kTcpThread, RawKind::kTcpRendezvous,
                             RawKind::kUdp, RawKind::kShm, RawKind::kMemcpy, RawKind::kProcessVm}) {
    for (const uint32_t size : {1u, 56u, 57u, 4097u, kMaxDatagram})
      ASSERT_NO_FATAL_FAILURE(ExpectToRun(RawJobOf(kind, Shape::kLatency, size, 1, 101)));
  }
  Finish();
  EXPECT_EQ(server_message_, "");
}

// Two slots of the first size fill the largest possible ring. For the other sizes there is only one
// slot.
TEST_F(RawLinkTest, LargeMessagesInSharedMemory) {
  ExpectToRun(RawJobOf(RawKind::kShm, Shape::kStream, kMaxRawSize / 3, 16, 3));
  ExpectToRun(RawJobOf(RawKind::kShm, Shape::kStream, kMaxRawSize, 16, 1));
  ExpectToRun(RawJobOf(RawKind::kShm, Shape::kLatency, kMaxRawSize / 2 + 1, 1, 1));
}

TEST_F(RawLinkTest, AJobBeyondTheLimitsEndsTheServer) {
  EXPECT_NE(FailureOf(RawJobOf(RawKind::kTcpPoll, Shape::kLatency, 1, 1, 0)), "");
  Finish();
  EXPECT_EQ(server_message_, "raw: not a job: no iterations");
}

TEST_F(RawLinkTest, AShapeThatTheKindDoesNotHaveEndsTheServer) {
  EXPECT_NE(FailureOf(RawJobOf(RawKind::kUdpGso, Shape::kLatency, 1, 1, 1)), "");
  Finish();
  EXPECT_EQ(server_message_,
            "raw: not a job: raw:udp-gso gathers messages: it is for bandwidth and rates, not for "
            "latency");
}

class RawVerbsTest : public RawLinkTest {
 protected:
  void TearDown() override {
    RawLinkTest::TearDown();
    unsetenv(kDeviceVariable);
  }

  const RawJob job_ = RawJobOf(RawKind::kVerbs, Shape::kLatency, 8, 1, 10);
};

TEST_F(RawVerbsTest, WithoutAnAddressItSaysWhichVariableIsMissing) {
  unsetenv(kDeviceVariable);
  const std::string why = FailureOf(job_);
  EXPECT_NE(why.find("SOFTDAT_BENCH_VERBS_ADDRESS is not set"), std::string::npos) << why;
  // The link can still be used for another job.
  ExpectToRun(RawJobOf(RawKind::kTcpBlock, Shape::kLatency, 1, 1, 1));
}

TEST_F(RawVerbsTest, WhatIsNoAddressIsRefused) {
  setenv(kDeviceVariable, "rxe0", 1);
  const std::string why = FailureOf(job_);
  EXPECT_NE(why.find("SOFTDAT_BENCH_VERBS_ADDRESS=rxe0 is neither"), std::string::npos) << why;
}

// An address of TEST-NET-1 (RFC 5737), which no host has.
TEST_F(RawVerbsTest, AnAddressWithoutADeviceIsRefused) {
  setenv(kDeviceVariable, "192.0.2.1", 1);
  const std::string why = FailureOf(job_);
  EXPECT_NE(why.find("no RDMA device"), std::string::npos) << why;
  EXPECT_NE(why.find("rdma link"), std::string::npos) << why;
}

}  // namespace
}  // namespace softdat::tools
