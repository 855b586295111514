// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/send_request.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace softdat::verbs {
namespace {

using transport::Op;
using transport::SendRequest;

class SendRequestTest : public testing::Test {
 protected:
  // Makes a slot whose segments have these lengths.
  void Lengths(const std::vector<uint32_t>& lengths) {
    slot_.sge = sge_.data();
    slot_.sge_count = static_cast<uint8_t>(lengths.size());
    slot_.done.length = 0;
    for (size_t i = 0; i < lengths.size(); ++i) {
      sge_[i] = {.addr = 0x1000 * (i + 1), .length = lengths[i], .lkey = 7};
      slot_.done.length += lengths[i];
    }
  }
  SendRequest Of(Op op, uint64_t remote_length, uint8_t flags = 0) {
    SendRequest request;
    request.op = op;
    request.flags = flags;
    request.remote.virtual_address = 0x9000;
    request.remote.segment_length = remote_length;
    request.remote.rmr_context = 5;
    slot_.reads = ReadsRemote(op);
    return request;
  }
  Code Fill(const SendRequest& request, bool zero_based = false) {
    return FillRequest(traits_, request, zero_based, &slot_, &wr_);
  }

  DeviceTraits traits_;
  SendSlot slot_;
  std::array<ibv_sge, 80> sge_{};
  ibv_send_wr wr_{};
};

TEST_F(SendRequestTest, AWriteFitsIntoItsTarget) {
  Lengths({64, 32});
  EXPECT_EQ(Fill(Of(Op::kRdmaWrite, 95)), Code::kLength);
  ASSERT_EQ(Fill(Of(Op::kRdmaWrite, 96)), Code::kOk);
  EXPECT_EQ(wr_.opcode, IBV_WR_RDMA_WRITE);
  EXPECT_EQ(wr_.num_sge, 2);
  EXPECT_EQ(wr_.wr.rdma.remote_addr, 0x9000u);
  EXPECT_EQ(wr_.wr.rdma.rkey, 5u);
  EXPECT_EQ(SlotOf<SendSlot>(wr_.wr_id), &slot_);
}

// covers: semantics 10.1
TEST_F(SendRequestTest, AReadMovesWhatTheRemoteSideNames) {
  Lengths({64, 32});
  ASSERT_EQ(Fill(Of(Op::kRdmaRead, 70)), Code::kOk);
  EXPECT_EQ(slot_.done.length, 70u);
  EXPECT_EQ(wr_.num_sge, 2);
  EXPECT_EQ(sge_[1].length, 6u);
  Lengths({64, 32});
  ASSERT_EQ(Fill(Of(Op::kRdmaRead, 64)), Code::kOk);
  EXPECT_EQ(wr_.num_sge, 1);
}

TEST_F(SendRequestTest, AReadOfMoreThanItsSink) {
  Lengths({64});
  EXPECT_EQ(Fill(Of(Op::kRdmaRead, 65)), Code::kLength);
  traits_.short_reads = true;
  ASSERT_EQ(Fill(Of(Op::kRdmaRead, 65)), Code::kOk);
  EXPECT_EQ(slot_.done.length, 64u);
}

TEST_F(SendRequestTest, AtomicsMoveEightBytesInOnePiece) {
  Lengths({4, 4});
  EXPECT_EQ(Fill(Of(Op::kFetchAdd, 8)), Code::kLength);
  Lengths({8});
  SendRequest request = Of(Op::kCompareSwap, 8);
  request.atomic = {.compare = 1, .swap_or_add = 2};
  ASSERT_EQ(Fill(request), Code::kOk);
  EXPECT_EQ(wr_.wr.atomic.compare_add, 1u);
  EXPECT_EQ(wr_.wr.atomic.swap, 2u);
  request.op = Op::kFetchAdd;
  ASSERT_EQ(Fill(request), Code::kOk);
  EXPECT_EQ(wr_.wr.atomic.compare_add, 2u);
}

TEST_F(SendRequestTest, ShortOnesTravelInline) {
  traits_.max_inline = 64;
  Lengths({64});
  ASSERT_EQ(Fill(Of(Op::kSend, 0, transport::kFence | transport::kSolicited)), Code::kOk);
  EXPECT_EQ(wr_.send_flags,
            unsigned{IBV_SEND_INLINE} | unsigned{IBV_SEND_FENCE} | unsigned{IBV_SEND_SOLICITED});
  ASSERT_EQ(Fill(Of(Op::kSend, 0), /*zero_based=*/true), Code::kOk);
  EXPECT_EQ(wr_.send_flags, 0u);
  Lengths({65});
  ASSERT_EQ(Fill(Of(Op::kSend, 0)), Code::kOk);
  EXPECT_EQ(wr_.send_flags, 0u);
  Lengths({8});
  ASSERT_EQ(Fill(Of(Op::kRdmaRead, 8)), Code::kOk);
  EXPECT_EQ(wr_.send_flags, 0u);
}

TEST_F(SendRequestTest, ASplitReadContinuesWhereThePartBeforeItEnded) {
  Lengths({64, 32, 8});
  ASSERT_EQ(Fill(Of(Op::kRdmaRead, 104, transport::kFence)), Code::kOk);
  wr_.send_flags |= IBV_SEND_SIGNALED;
  SplitRead parts;
  ASSERT_EQ(Split(wr_, &parts), Code::kOk);
  EXPECT_EQ(parts[0].next, &parts[1]);
  EXPECT_EQ(parts[2].next, nullptr);
  EXPECT_EQ(parts[1].wr.rdma.remote_addr, 0x9000u + 64);
  EXPECT_EQ(parts[2].wr.rdma.remote_addr, 0x9000u + 96);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(parts[i].num_sge, 1);
    EXPECT_EQ(parts[i].sg_list, &sge_[i]);
    EXPECT_EQ((parts[i].send_flags & IBV_SEND_SIGNALED) != 0, i == 2) << i;
    EXPECT_NE(parts[i].send_flags & IBV_SEND_FENCE, 0u) << i;
  }
}

TEST_F(SendRequestTest, NoReadIsSplitIntoMoreThan64) {
  Lengths(std::vector<uint32_t>(65, 1));
  ASSERT_EQ(Fill(Of(Op::kRdmaRead, 65)), Code::kOk);
  SplitRead parts;
  EXPECT_EQ(Split(wr_, &parts), Code::kInvalidArgument);
}

TEST_F(SendRequestTest, AFlushSaysWhoseItWas) {
  int pair = 0, window = 0;
  SendRequest request = Of(Op::kRdmaWrite, 8, transport::kQuiet | transport::kFence);
  request.cookie = 9;
  transport::Completion flush = FlushOf(request, &pair);
  EXPECT_EQ(flush.context, &pair);
  EXPECT_EQ(flush.cookie, 9u);
  EXPECT_EQ(flush.status, transport::WorkStatus::kFlushed);
  EXPECT_EQ(flush.flags, transport::kQuiet);
  request.op = Op::kBind;
  request.bind = {};
  request.bind.context = &window;
  EXPECT_EQ(FlushOf(request, &pair).context, &window);
}

}  // namespace
}  // namespace softdat::verbs
