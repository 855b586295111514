// SPDX-License-Identifier: BSD-3-Clause
// Tests of the plain TCP loops: both ends in two threads of this process.
#include "tools/bench/raw_link.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace softdat::tools {
namespace {

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
  void Finish() {
    client_.reset();
    if (thread_.joinable()) thread_.join();
  }

  RawLink server_;
  std::unique_ptr<RawLink> client_;
  std::thread thread_;
  std::string server_message_;
};

TEST_F(RawLinkTest, EachKindOneAfterTheOther) {
  for (const RawKind kind : {RawKind::kPoll, RawKind::kEpoll, RawKind::kStream, RawKind::kPoll}) {
    double seconds = -1;
    const Outcome outcome = client_->Run({kind, -1, 100000, 5}, &seconds);
    EXPECT_TRUE(outcome.ok()) << outcome.message();
    EXPECT_GT(seconds, 0);
  }
  Finish();
  EXPECT_EQ(server_message_, "");
}

TEST_F(RawLinkTest, ACpuThatDoesNotExistIsRefused) {
  double seconds = 0;
  EXPECT_FALSE(client_->Run({RawKind::kPoll, 32000, 1, 1}, &seconds).ok());
  EXPECT_TRUE(client_->Run({RawKind::kEpoll, -1, 1, 1}, &seconds).ok());
}

TEST_F(RawLinkTest, AJobBeyondTheLimitsEndsTheServer) {
  double seconds = 0;
  EXPECT_FALSE(client_->Run({RawKind::kPoll, -1, 1, 0}, &seconds).ok());
  Finish();
  EXPECT_EQ(server_message_, "raw TCP: not a job");
}

}  // namespace
}  // namespace softdat::tools
