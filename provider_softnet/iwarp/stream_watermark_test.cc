// SPDX-License-Identifier: BSD-3-Clause
// How many buffers of its SRQ a stream holds, and what happens when it exceeds the watermarks
// (semantics 11).
#include <gtest/gtest.h>

#include "provider_softnet/iwarp/stream_pair.h"

namespace softdat::softnet::testing {
namespace {

using transport::EndReason;
using transport::kNoWatermark;
using transport::WorkStatus;

constexpr uint32_t kMessage = 5000;  // several segments

class StreamWatermarkTest : public ::testing::Test {
 protected:
  StreamWatermarkTest() : pair_(Options()) {
    StreamConfig c;
    c.work.context = &b();
    c.work.memory = b().memory;
    c.work.send_queue = &b().send_queue;
    c.work.shared_receives = b().shared.get();
    c.work.watermarks = &marks_;
    c.work.send_completions = &b().send_ring;
    c.work.receive_completions = &b().receive_ring;
    c.blocks = &b().blocks;
    c.work.pd = b().pd;
    c.work.qp = b().qp;
    c.agreement.rtr = Rtr::kNone;
    b().stream = std::make_unique<Stream>(c);
    source_ = a().AddBuffer(kMessage);
    sink_ = b().AddBuffer(kMessage);
  }

  static PairOptions Options() {
    PairOptions o;
    o.rtr = Rtr::kNone;
    o.share_receives = true;
    o.whole_steps = true;
    return o;
  }
  Side& a() { return pair_.a(); }
  Side& b() { return pair_.b(); }
  void Post() { ASSERT_EQ(b().Receive(1, {b().Local(sink_, 0, kMessage)}), Code::kOk); }
  void Send() { ASSERT_EQ(a().Send(2, {a().Local(source_, 0, kMessage)}), Code::kOk); }
  // Delivers only the first bytes that side a sends.
  void DeliverFirst(size_t size) {
    iovec iov[16];
    const Stream::Batch batch = a().stream->TransmitVector(iov, 16, size);
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < batch.count && bytes.size() < size; ++i) {
      const uint8_t* from = static_cast<const uint8_t*>(iov[i].iov_base);
      bytes.insert(bytes.end(), from, from + std::min(iov[i].iov_len, size - bytes.size()));
    }
    a().stream->OnTransmitted(bytes.size());
    pair_.Inject(1, bytes);
    while (pair_.Receive(1)) {
    }
  }

  ReceiveWatermarks marks_;
  StreamPair pair_;
  size_t source_ = 0, sink_ = 0;
};

TEST_F(StreamWatermarkTest, AMessageHoldsItsBufferUntilItIsWhole) {
  Post();
  Post();
  EXPECT_EQ(b().stream->held_receives(), 0u);
  Send();
  DeliverFirst(2000);
  EXPECT_EQ(b().stream->held_receives(), 1u);
  EXPECT_EQ(b().shared->Available(), 1u);
  ASSERT_TRUE(pair_.Run());
  EXPECT_EQ(b().stream->held_receives(), 0u);
  EXPECT_EQ(b().Receives().size(), 1u);
}

TEST_F(StreamWatermarkTest, WhatIsHeldAlreadyCountsWhenTheyAreSet) {
  Post();
  Send();
  DeliverFirst(2000);
  b().stream->TakeActions();
  marks_ = {1, 1};
  b().stream->OnWatermarksSet();
  EXPECT_FALSE(b().stream->TakeActions().notices.watermark) << "one held is not above one";
  marks_ = {0, 1};
  b().stream->OnWatermarksSet();
  EXPECT_TRUE(b().stream->TakeActions().notices.watermark);
  EXPECT_EQ(marks_.soft, kNoWatermark) << "told once";
  EXPECT_FALSE(b().stream->ended());
  marks_ = {kNoWatermark, 0};
  b().stream->OnWatermarksSet();
  EXPECT_TRUE(b().stream->ended());
  EXPECT_EQ(b().stream->end().reason, EndReason::kBroken);
  const auto flushed = b().Receives();
  ASSERT_EQ(flushed.size(), 1u);
  EXPECT_EQ(flushed[0].status, WorkStatus::kFlushed);
  b().stream->OnWatermarksSet();  // harmless after the end
}

TEST_F(StreamWatermarkTest, TheNextMessageExceedsThem) {
  Post();
  Post();
  marks_ = {0, kNoWatermark};
  Send();
  ASSERT_TRUE(pair_.Run());
  EXPECT_TRUE(b().saw(kActWatermark));
  EXPECT_EQ(b().Receives().size(), 1u);
  marks_.hard = 0;
  Send();
  ASSERT_TRUE(pair_.Run());
  EXPECT_EQ(b().stream->end().reason, EndReason::kBroken) << b().stream->end().why;
  EXPECT_EQ(a().stream->end().terminate, iwarp::kTermDdpLocalCatastrophic);
  const auto sends = a().Sends();
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(sends[0].status, WorkStatus::kSuccess);
}

}  // namespace
}  // namespace softdat::softnet::testing
