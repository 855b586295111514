// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/window_work.h"

#include <dat2/dat_ib_extensions.h>
#include <errno.h>

#include "provider_verbs/hardware_pair.h"
#include "provider_verbs/send_queue.h"
#include "provider_verbs/testing/pair_fixture.h"

namespace softdat::verbs {
namespace {

using nulldevice::RefuseNullSend;
using transport::Op;
using transport::SendRequest;

class WindowWorkTest : public PairTest {
 protected:
  void SetUp() override {
    Open({.windows = true}, [](DeviceTraits* traits) { traits->windows_type2 = true; });
    window_ = MemoryWindow::Create(*device_, static_cast<ProtectionDomain&>(*pd_)).Take();
    slot_.sge = &sge_;
  }
  void TearDown() override {
    window_.reset();
    PairTest::TearDown();
  }
  WindowCore& core() { return static_cast<MemoryWindow&>(*window_).core(); }
  // A bind of bytes of the region. No bytes: an unbind. The request points to segment_.
  SendRequest Bind(uint64_t offset, uint64_t length,
                   uint32_t privileges = DAT_MEM_PRIV_REMOTE_WRITE_FLAG) {
    segment_ = Segment(offset, length);
    SendRequest request;
    request.op = Op::kBind;
    request.local = {&segment_, 1};
    request.key = length > 0 ? window_->NextKey() : 0;
    request.bind = {.window = window_.get(),
                    .region = length > 0 ? region_.get() : nullptr,
                    .privileges = privileges,
                    .zero_based = false,
                    .context = this};
    return request;
  }
  // Does what the send queue does when the device takes the bind.
  uint32_t BindNow(uint64_t offset, uint64_t length) {
    const SendRequest request = Bind(offset, length);
    WindowBind bind(*device_, request, &slot_);
    bind.Enter(nullptr);
    bind.Posted();
    device_->WindowBound(request.key);
    return request.key;
  }
  SendRequest ReadInto(uint32_t key, uint64_t offset, uint64_t length) {
    segment_ = Segment(offset, length);
    segment_.lmr_context = key;
    SendRequest request;
    request.op = Op::kRdmaRead;
    request.local = {&segment_, 1};
    request.sink_is_window = true;
    request.remote.segment_length = length;
    return request;
  }

  std::unique_ptr<transport::MemoryWindow> window_;
  DAT_LMR_TRIPLET segment_{};
  SendSlot slot_;
  ibv_sge sge_{};
};

// covers: semantics 7.3
TEST_F(WindowWorkTest, WhatTheRulesRefuse) {
  EXPECT_EQ(WindowBind::Check(Bind(0, 64), pd_.get()), Code::kOk);
  EXPECT_EQ(WindowBind::Check(Bind(0, 0), pd_.get()), Code::kOk);
  EXPECT_EQ(WindowBind::Check(Bind(0, 64), this), Code::kProtection);
  EXPECT_EQ(WindowBind::Check(Bind(4000, 97), pd_.get()), Code::kOutOfBounds);
  SendRequest request = Bind(0, 64);
  request.bind.region = nullptr;
  EXPECT_EQ(WindowBind::Check(request, pd_.get()), Code::kInvalidArgument);
  request = Bind(0, 64);
  segment_.lmr_context ^= 1;
  EXPECT_EQ(WindowBind::Check(request, pd_.get()), Code::kProtection);
}

TEST_F(WindowWorkTest, ARegionThatCannotBeWrittenGivesNoRightToWrite) {
  region_ = MemoryRegion::Create(*device_, static_cast<ProtectionDomain&>(*pd_),
                                 {.address = memory_.data(),
                                  .length = memory_.size(),
                                  .privileges = DAT_MEM_PRIV_LOCAL_READ_FLAG})
                .Take();
  EXPECT_EQ(WindowBind::Check(Bind(0, 64), pd_.get()), Code::kPrivileges);
  EXPECT_EQ(WindowBind::Check(Bind(0, 64, DAT_IB_MEM_PRIV_REMOTE_ATOMIC), pd_.get()),
            Code::kPrivileges);
  EXPECT_EQ(WindowBind::Check(Bind(0, 64, DAT_MEM_PRIV_REMOTE_READ_FLAG), pd_.get()), Code::kOk);
}

TEST_F(WindowWorkTest, ABoundWindowIsInvalidatedBeforeItIsBoundAgain) {
  const SendRequest first = Bind(0, 64);
  {
    WindowBind bind(*device_, first, &slot_);
    EXPECT_EQ(bind.first(), bind.last());
    EXPECT_EQ(bind.first()->opcode, IBV_WR_BIND_MW);
    EXPECT_EQ(bind.first()->bind_mw.rkey, first.key);
    bind.Enter(nullptr);
    bind.Posted();
  }
  EXPECT_FALSE(window_->IsBound(first.key)) << "it has not completed";
  device_->WindowBound(first.key);
  EXPECT_TRUE(window_->IsBound(first.key));
  const SendRequest second = Bind(64, 64);
  WindowBind bind(*device_, second, &slot_);
  EXPECT_EQ(bind.first()->opcode, IBV_WR_LOCAL_INV);
  EXPECT_EQ(bind.first()->invalidate_rkey, first.key);
  EXPECT_EQ(bind.first()->next, bind.last());
  EXPECT_EQ(bind.last()->opcode, IBV_WR_BIND_MW);
  bind.Enter(nullptr);
  EXPECT_FALSE(window_->IsBound(first.key));
}

TEST_F(WindowWorkTest, AnUnbindInvalidatesWhatIsBound) {
  const SendRequest nothing = Bind(0, 0);
  {
    WindowBind bind(*device_, nothing, &slot_);
    EXPECT_EQ(bind.first(), bind.last());
    EXPECT_EQ(bind.first()->opcode, IBV_WR_RDMA_WRITE) << "only the completion is wanted";
  }
  const uint32_t key = BindNow(0, 64);
  const SendRequest unbind = Bind(0, 0);
  WindowBind bind(*device_, unbind, &slot_);
  EXPECT_EQ(bind.first(), bind.last());
  EXPECT_EQ(bind.first()->opcode, IBV_WR_LOCAL_INV);
  bind.Enter(nullptr);
  EXPECT_FALSE(window_->IsBound(key));
}

TEST_F(WindowWorkTest, ARefusedBindLeavesTheWindowAsItWas) {
  const uint32_t key = BindNow(0, 64);
  const SendRequest second = Bind(64, 64);
  WindowBind bind(*device_, second, &slot_);
  bind.Enter(nullptr);
  bind.Undo();
  EXPECT_TRUE(window_->IsBound(key));
  EXPECT_FALSE(window_->IsBound(second.key));
}

TEST_F(WindowWorkTest, AReadIntoAWindowGoesToItsPartOfTheRegion) {
  const uint32_t key = BindNow(100, 64);
  WindowRead read;
  const SendRequest request = ReadInto(key, 110, 20);
  ASSERT_EQ(read.Fill(*device_, request, pd_.get(), &slot_), Code::kOk);
  EXPECT_EQ(read.first(), read.last());
  EXPECT_EQ(sge_.addr, Segment(110, 20).virtual_address);
  EXPECT_EQ(sge_.lkey, region_->local_key());
  EXPECT_EQ(sge_.length, 20u);
  EXPECT_EQ(WindowRead().Fill(*device_, ReadInto(key, 90, 20), pd_.get(), &slot_),
            Code::kOutOfBounds);
  EXPECT_EQ(WindowRead().Fill(*device_, ReadInto(key, 150, 15), pd_.get(), &slot_),
            Code::kOutOfBounds);
  EXPECT_EQ(WindowRead().Fill(*device_, ReadInto(key, 110, 20), this, &slot_), Code::kProtection);
  EXPECT_EQ(WindowRead().Fill(*device_, ReadInto(key ^ 1, 110, 20), pd_.get(), &slot_),
            Code::kProtection);
}

TEST_F(WindowWorkTest, AReadMayUnbindItsSink) {
  const uint32_t key = BindNow(0, 64);
  SendRequest request = ReadInto(key, 0, 64);
  request.invalidate_sink = true;
  WindowRead read;
  ASSERT_EQ(read.Fill(*device_, request, pd_.get(), &slot_), Code::kOk);
  EXPECT_EQ(read.last()->opcode, IBV_WR_LOCAL_INV);
  EXPECT_EQ(read.last()->invalidate_rkey, key);
  EXPECT_NE(read.last()->send_flags & IBV_SEND_FENCE, 0u);
  EXPECT_FALSE(window_->IsBound(key));
}

// The hardware refuses.
TEST_F(WindowWorkTest, ABindThatTheDeviceRefusesIsUndone) {
  CountingPair pair;
  SendQueue sends(*device_, &pair);
  sends.Adopt(Attributes(), CoreOf(send_cq_));
  HardwarePair hardware(*device_);
  ibv_qp_init_attr init{};
  init.send_cq = CoreOf(send_cq_)->hardware();
  init.recv_cq = CoreOf(recv_cq_)->hardware();
  ASSERT_TRUE(hardware.Make(static_cast<ProtectionDomain&>(*pd_).hardware(), init).ok());
  sends.SetHardware(hardware.get());
  sends.SetFate(PostFate::kTaken);
  const SendRequest first = Bind(0, 64);
  EXPECT_EQ(sends.Post(first), Code::kOk);
  nulldevice::CompleteNullSends(1);
  ASSERT_EQ(Poll(*send_cq_).size(), 1u);
  EXPECT_TRUE(window_->IsBound(first.key));
  const SendRequest second = Bind(64, 64);
  RefuseNullSend(0, ENOMEM);
  EXPECT_EQ(sends.Post(second), Code::kQueueFull);
  EXPECT_TRUE(window_->IsBound(first.key));
  // A pair cannot be destroyed while a window is bound over it, so the window gets new hardware.
  const ibv_mw* const before = core().mw;
  hardware.Destroy();
  EXPECT_FALSE(window_->IsBound(first.key));
  EXPECT_NE(core().mw, before);
}

}  // namespace
}  // namespace softdat::verbs
