// SPDX-License-Identifier: BSD-3-Clause
// Tests of the control messages: both directions, and bytes that a peer might send instead.
#include "tools/traffic/job.h"

#include <gtest/gtest.h>

#include <random>

namespace softdat::tools {
namespace {

Request SomeRequest() {
  Request request;
  request.job.operation = Operation::kWrite;
  request.job.shape = Shape::kStream;
  request.job.check = true;
  request.job.wait = WaitMode::kWait;
  request.job.server_decides_wait = false;
  request.job.size = 1 << 20;
  request.job.window = 16;
  request.job.iterations = 123456789012;
  request.memory = {0x123456789abcdef0, 77, 0xdeadbeef};
  request.receives = 4711;
  return request;
}

TEST(JobMessages, RequestComesBackAsItWas) {
  const Request in = SomeRequest();
  const auto out = DecodeRequest(EncodeRequest(in));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->job.operation, in.job.operation);
  EXPECT_EQ(out->job.shape, in.job.shape);
  EXPECT_EQ(out->job.both_ways, in.job.both_ways);
  EXPECT_EQ(out->job.check, in.job.check);
  EXPECT_EQ(out->job.wait, in.job.wait);
  EXPECT_EQ(out->job.server_decides_wait, in.job.server_decides_wait);
  EXPECT_EQ(out->job.size, in.job.size);
  EXPECT_EQ(out->job.window, in.job.window);
  EXPECT_EQ(out->job.iterations, in.job.iterations);
  EXPECT_EQ(out->memory.address, in.memory.address);
  EXPECT_EQ(out->memory.bytes, in.memory.bytes);
  EXPECT_EQ(out->memory.context, in.memory.context);
  EXPECT_EQ(out->receives, in.receives);
}

TEST(JobMessages, SeveralInARowComeBackAsTheyWere) {
  Request in;
  in.job.messages = 3;
  const auto out = DecodeRequest(EncodeRequest(in));
  ASSERT_TRUE(out);
  EXPECT_EQ(out->job.messages, 3u);
}

TEST(JobMessages, ReplyComesBackAndLongTextIsCut) {
  Reply in;
  in.ok = false;
  in.text = std::string(1000, 'x');
  in.memory = {1, 2, 3};
  in.receives = 4;
  in.cpu_us = 1'000'000'000'000;
  const auto out = DecodeReply(EncodeReply(in));
  ASSERT_TRUE(out);
  EXPECT_FALSE(out->ok);
  EXPECT_EQ(out->text, std::string(kMaxReplyText, 'x'));
  EXPECT_EQ(out->memory.context, 3u);
  EXPECT_EQ(out->receives, 4u);
  EXPECT_EQ(out->cpu_us, 1'000'000'000'000u);
}

TEST(JobMessages, EachDecoderTakesItsOwnKindOnly) {
  const auto request = EncodeRequest(SomeRequest());
  const auto reply = EncodeReply({});
  const auto done = EncodeDone();
  EXPECT_FALSE(DecodeRequest(reply));
  EXPECT_FALSE(DecodeRequest(done));
  EXPECT_FALSE(DecodeReply(request));
  EXPECT_FALSE(DecodeReply(done));
  EXPECT_TRUE(IsDone(done));
  EXPECT_FALSE(IsDone(request));
}

TEST(JobMessages, WrongLengthOrMagicIsRefused) {
  auto message = EncodeRequest(SomeRequest());
  EXPECT_FALSE(DecodeRequest(std::span(message).first(kControlBytes - 1)));
  EXPECT_FALSE(DecodeRequest({}));
  message[3] ^= 1;
  EXPECT_FALSE(DecodeRequest(message));
}

TEST(JobMessages, JobsBeyondTheLimitsAreRefused) {
  for (const auto& spoil : std::initializer_list<void (*)(Job*)>{
           [](Job* job) { job->size = kMaxJobSize + 1; }, [](Job* job) { job->size = 0; },
           [](Job* job) { job->iterations = 0; },
           [](Job* job) { job->iterations = kMaxIterations + 1; },
           [](Job* job) { job->window = 0; }, [](Job* job) { job->window = kMaxWindow + 1; }}) {
    Request request = SomeRequest();
    spoil(&request.job);
    EXPECT_NE(JobProblem(request.job), "");
    EXPECT_FALSE(DecodeRequest(EncodeRequest(request)));
  }
}

TEST(JobMessages, RandomBytesNeverDecodeToABadJob) {
  std::mt19937 random(7);
  int decoded = 0;
  for (int i = 0; i < 20000; ++i) {
    auto message = EncodeRequest(SomeRequest());
    for (int n = 0; n < 3; ++n) message[5 + random() % 40] = static_cast<uint8_t>(random());
    const auto request = DecodeRequest(message);
    if (!request) continue;
    ++decoded;
    EXPECT_EQ(JobProblem(request->job), "");
  }
  EXPECT_GT(decoded, 0);
}

TEST(JobNames, BothWays) {
  for (const auto operation :
       {Operation::kSend, Operation::kWrite, Operation::kRead, Operation::kWriteImmediate,
        Operation::kFetchAndAdd, Operation::kCompareAndSwap, Operation::kMessage,
        Operation::kMessageByRead})
    EXPECT_EQ(FindOperation(OperationName(operation)), operation);
  EXPECT_FALSE(FindOperation("bind"));
  for (size_t i = 0; i < kWaitModes; ++i)
    EXPECT_EQ(FindWaitMode(WaitModeName(static_cast<WaitMode>(i))), static_cast<WaitMode>(i));
}

TEST(Jobs, AWriteHasANoticeIfItsEndWaitsOrTwoInARowAreAskedFor) {
  Job job;
  job.operation = Operation::kWrite;
  job.size = 64;
  for (const WaitMode wait : {WaitMode::kPoll, WaitMode::kMemory})
    EXPECT_FALSE(job.HasNotices(wait));
  for (const WaitMode wait : {WaitMode::kWait, WaitMode::kCno, WaitMode::kFd})
    EXPECT_TRUE(job.HasNotices(wait));
  job.messages = 2;
  EXPECT_TRUE(job.HasNotices(WaitMode::kPoll));
  EXPECT_EQ(JobProblem(job), "");
  // The notice is empty.
  EXPECT_EQ(BytesPerIteration(job), 128u);
  job.operation = Operation::kSend;
  EXPECT_FALSE(job.HasNotices(WaitMode::kWait));
  EXPECT_EQ(BytesPerIteration(job), 256u);
}

TEST(Jobs, AMessageLayersMessagesGoThereAndBack) {
  for (const auto operation : {Operation::kMessage, Operation::kMessageByRead}) {
    Job job;
    job.operation = operation;
    EXPECT_TRUE(IsLayered(operation));
    EXPECT_TRUE(job.IsPingPong());
    EXPECT_EQ(JobProblem(job), "");
    EXPECT_EQ(BytesPerIteration(job), 2u * job.size);
    job.messages = 2;
    EXPECT_NE(JobProblem(job), "");
    job.messages = 1;
    job.wait = WaitMode::kMemory;
    EXPECT_NE(JobProblem(job), "");
  }
  EXPECT_FALSE(IsLayered(Operation::kSend));
}

TEST(Jobs, WhatCannotBeIsSaid) {
  for (const auto& spoil : std::initializer_list<void (*)(Job*)>{
           [](Job* job) { job->operation = Operation::kFetchAndAdd; },  // not of 64 bytes
           [](Job* job) { job->wait = WaitMode::kMemory; },             // of a stream
           [](Job* job) { job->operation = Operation::kMessage; },      // as a stream
           [](Job* job) { job->operation = Operation::kMessageByRead; },
           [](Job* job) { job->both_ways = true; },  // with data to be checked
           [](Job* job) { job->messages = 0; }, [](Job* job) { job->messages = 2; },  // of a stream
           [](Job* job) { job->signal_every = job->window + 1; }}) {
    Job job = SomeRequest().job;
    spoil(&job);
    EXPECT_NE(JobProblem(job), "");
  }
}

}  // namespace
}  // namespace softdat::tools
