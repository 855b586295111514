// SPDX-License-Identifier: BSD-3-Clause
// Writes that complete when they are in the peer's memory.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

using transport::kConfirm;
using transport::Op;
using transport::WorkStatus;

struct ConfirmTest : ::testing::Test {
  void SetUp() override { Make({}); }
  void Make(const PairOptions& options) {
    pair = std::make_unique<StreamPair>(options);
    source = pair->a().AddBuffer(kBytes);
    target = pair->b().AddBuffer(kBytes);
    for (size_t i = 0; i < kBytes; ++i) pair->a().data(source)[i] = Pattern(1, i);
  }
  Code Write(uint64_t cookie, uint32_t size, uint8_t flags = kConfirm) {
    return pair->a().Write(cookie, {pair->a().Local(source, 0, size)},
                           pair->b().Remote(target, 0, size), flags);
  }
  Code WriteImmediate(uint64_t cookie, uint32_t size, uint32_t immediate) {
    const Segment local = pair->a().Local(source, 0, size);
    transport::SendRequest request;
    request.op = Op::kRdmaWriteImmediate;
    request.flags = kConfirm;
    request.cookie = cookie;
    request.local = {&local, 1};
    request.remote = pair->b().Remote(target, 0, size);
    request.key = immediate;
    return pair->a().stream->PostSend(request);
  }
  bool Arrived(size_t size) {
    return std::memcmp(pair->a().data(source), pair->b().data(target), size) == 0;
  }
  static constexpr size_t kBytes = 100'000;
  std::unique_ptr<StreamPair> pair;
  size_t source = 0, target = 0;
};

// A peer that has not said that it answers reads of nothing gets none (siw of Linux answers them
// with other bytes). A send is then over when TCP has it, also before a graceful end.
TEST_F(ConfirmTest, APeerThatKnowsNoEmptyReadsIsNotAsked) {
  PairOptions options;
  options.confirm = true;
  options.empty_reads = false;
  Make(options);
  EXPECT_EQ(Write(1, 8), Code::kNoResources) << "what is to be confirmed cannot be";
  ASSERT_EQ(Write(2, 8, 0), Code::kOk);
  ASSERT_EQ(pair->b().Receive(3, {pair->b().Local(target, 8, 8)}), Code::kOk);
  ASSERT_EQ(pair->a().Send(4, {pair->a().Local(source, 0, 8)}), Code::kOk);
  pair->a().stream->Disconnect(transport::DisconnectMode::kGraceful);
  while (pair->Transmit(0)) {
  }
  const auto sent = pair->a().Sends();
  ASSERT_EQ(sent.size(), 2u);
  for (const auto& completion : sent) EXPECT_EQ(completion.status, WorkStatus::kSuccess);
  ASSERT_TRUE(pair->Run());
  EXPECT_TRUE(Arrived(8));
  EXPECT_EQ(pair->b().stream->counters().fpdus_received, 3u) << "ready-to-receive, write, send";
}

// Messages that were copied and wait for company are no debt: the request leaves with them.
TEST_F(ConfirmTest, TheRequestWaitsForTheMessagesInFrontOfIt) {
  PairOptions options;
  options.confirm = true;
  Make(options);
  ASSERT_TRUE(pair->Run());
  Stream& stream = *pair->a().stream;
  for (uint64_t cookie = 1; cookie <= 3; ++cookie) {
    ASSERT_EQ(Write(cookie, 8, 0), Code::kOk);
    EXPECT_FALSE(stream.owes());
    EXPECT_TRUE(stream.wants_transmit());
  }
  ASSERT_TRUE(pair->Run());
  EXPECT_EQ(pair->a().Sends().size(), 3u);
}

TEST_F(ConfirmTest, CompletesWhenThePeerHasIt) {
  for (const uint32_t size : {0u, 8u, 4096u, 100'000u}) {
    std::memset(pair->b().data(target), 0, kBytes);
    ASSERT_EQ(Write(size, size), Code::kOk);
    // Everything leaves, and the peer reads nothing.
    while (pair->Transmit(0)) {
    }
    EXPECT_TRUE(pair->a().Sends().empty()) << size;
    ASSERT_TRUE(pair->Run());
    const auto sent = pair->a().Sends();
    ASSERT_EQ(sent.size(), 1u) << size;
    EXPECT_EQ(sent[0].op, Op::kRdmaWrite);
    EXPECT_EQ(sent[0].cookie, size);
    EXPECT_EQ(sent[0].length, size);
    EXPECT_EQ(sent[0].status, WorkStatus::kSuccess);
    EXPECT_TRUE(Arrived(size));
  }
}

TEST_F(ConfirmTest, WithImmediateData) {
  ASSERT_EQ(pair->b().Receive(7, {}), Code::kOk);
  ASSERT_EQ(WriteImmediate(5, 50'000, 0xabcd), Code::kOk);
  while (pair->Transmit(0)) {
  }
  EXPECT_TRUE(pair->a().Sends().empty());
  ASSERT_TRUE(pair->Run());
  const auto received = pair->b().Receives();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].key, 0xabcdu);
  EXPECT_EQ(received[0].length, 50'000u);
  const auto sent = pair->a().Sends();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].op, Op::kRdmaWriteImmediate);
  EXPECT_EQ(sent[0].length, 50'000u);
  EXPECT_TRUE(Arrived(50'000));
}

// More writes than may be outstanding, among other requests. All complete, in the order of the
// posts.
TEST_F(ConfirmTest, ManyKeepTheOrder) {
  PairOptions options;
  options.depth = 2;
  for (options.seed = 1; options.seed <= 20; ++options.seed) {
    Make(options);
    for (uint64_t i = 0; i < 30; ++i) {
      const uint8_t flags = i % 3 == 0 ? 0 : kConfirm;
      ASSERT_EQ(Write(i, static_cast<uint32_t>(i * 300), flags), Code::kOk);
    }
    ASSERT_TRUE(pair->Run());
    const auto sent = pair->a().Sends();
    ASSERT_EQ(sent.size(), 30u) << "seed " << options.seed;
    for (uint64_t i = 0; i < 30; ++i) {
      EXPECT_EQ(sent[i].cookie, i) << "seed " << options.seed;
      EXPECT_EQ(sent[i].status, WorkStatus::kSuccess);
    }
  }
}

// A refusal by the peer is reported as the failure of the write.
TEST_F(ConfirmTest, ARefusedWriteFails) {
  DAT_RMR_TRIPLET remote = pair->b().Remote(target, 0, 64);
  remote.rmr_context ^= 0xff00;
  ASSERT_EQ(pair->a().Write(3, {pair->a().Local(source, 0, 64)}, remote, kConfirm), Code::kOk);
  ASSERT_TRUE(pair->Run());
  const auto sent = pair->a().Sends();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].cookie, 3u);
  EXPECT_EQ(sent[0].status, WorkStatus::kRemoteAccess);
}

TEST_F(ConfirmTest, NotWithoutReads) {
  PairOptions options;
  options.depth = 0;
  Make(options);
  EXPECT_EQ(Write(1, 8), Code::kNoResources);
  EXPECT_EQ(Write(1, 8, 0), Code::kOk);
}

}  // namespace
}  // namespace softdat::softnet::testing
