// SPDX-License-Identifier: BSD-3-Clause
// Memory runs out in the middle of a stream's life. The stream must end. It must neither stop
// moving nor lose requests.
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "provider_softnet/iwarp/stream_pair.h"

// Only blocks are allocated in this way; see block_pool.cc.
static bool memory_is_gone = false;

void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return memory_is_gone ? nullptr : ::operator new[](size);
}

namespace softdat::softnet::testing {
namespace {

using transport::EndReason;
using transport::WorkStatus;

// Takes every block of a pool, and the memory for more, until the end of the scope.
class NoBlocks {
 public:
  explicit NoBlocks(BlockPool* pool) : pool_(pool) {
    memory_is_gone = true;
    while (uint8_t* block = pool->Take(this)) taken_.push_back(block);
  }
  ~NoBlocks() {
    memory_is_gone = false;
    for (uint8_t* block : taken_) pool_->Give(this, block);
  }

 private:
  BlockPool* const pool_;
  std::vector<uint8_t*> taken_;
};

class StreamMemory : public ::testing::Test {
 protected:
  StreamMemory() : pair_(PairOptions{}) { EXPECT_TRUE(pair_.Run()); }
  static void ExpectEnded(Side* side) {
    ASSERT_TRUE(side->stream->ended());
    EXPECT_EQ(side->stream->end().reason, EndReason::kBroken);
    EXPECT_NE(side->stream->end().why.find("no memory"), std::string::npos);
    EXPECT_TRUE(side->stream->TakeActions().abort);
  }
  StreamPair pair_;
};

TEST_F(StreamMemory, APostSaysSo) {
  Side& a = pair_.a();
  {
    const NoBlocks none(&a.blocks.sending);
    EXPECT_EQ(a.Send(1, {}), Code::kNoMemory);
  }
  EXPECT_EQ(a.Send(2, {}), Code::kOk);
  pair_.b().Receive(3, {});
  ASSERT_TRUE(pair_.Run());
  const auto sends = a.Sends();
  ASSERT_EQ(sends.size(), 1u);
  EXPECT_EQ(sends[0].cookie, 2u);
}

// No post of the consumer is behind the answer to a read.
TEST_F(StreamMemory, AResponseThatCannotBeSentEndsTheStream) {
  Side &a = pair_.a(), &b = pair_.b();
  const size_t near = a.AddBuffer(64), far = b.AddBuffer(64);
  ASSERT_EQ(a.Read(1, {a.Local(near, 0, 64)}, b.Remote(far, 0, 64)), Code::kOk);
  while (pair_.Transmit(0)) {
  }
  while (pair_.Receive(1)) {
  }
  ASSERT_TRUE(b.stream->wants_transmit());
  const NoBlocks none(&b.blocks.sending);
  iovec iov[8];
  EXPECT_EQ(b.stream->TransmitVector(iov, 8, 1 << 20).count, 0u);
  ExpectEnded(&b);
}

TEST_F(StreamMemory, WhatCannotBeReceivedEndsTheStream) {
  Side& b = pair_.b();
  b.Receive(7, {});
  const NoBlocks none(&b.blocks.receiving);
  iovec iov[8];
  EXPECT_EQ(b.stream->ReceiveVector(iov, 8), 0u);
  ExpectEnded(&b);
  const auto receives = b.Receives();
  ASSERT_EQ(receives.size(), 1u);
  EXPECT_EQ(receives[0].status, WorkStatus::kFlushed);
}

}  // namespace
}  // namespace softdat::softnet::testing
