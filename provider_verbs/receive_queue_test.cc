// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/receive_queue.h"

#include <errno.h>

#include "provider_verbs/hardware_pair.h"
#include "provider_verbs/testing/pair_fixture.h"

namespace softdat::verbs {
namespace {

using nulldevice::ArriveNullMessage;
using nulldevice::NullReceives;
using nulldevice::RefuseNullReceive;
using transport::WorkStatus;
using Cookies = std::vector<uint64_t>;

class ReceiveQueueTest : public PairTest {
 protected:
  void SetUp() override {
    Open();
    receives_ = std::make_unique<ReceiveQueue>(*device_, &pair_);
    pair_.receives = &receives_->progress();
    ASSERT_TRUE(receives_->Adopt(Attributes(), CoreOf(recv_cq_)).ok());
    hardware_ = std::make_unique<HardwarePair>(*device_);
    ibv_qp_init_attr init{};
    init.send_cq = CoreOf(send_cq_)->hardware();
    init.recv_cq = CoreOf(recv_cq_)->hardware();
    ASSERT_TRUE(hardware_->Make(static_cast<ProtectionDomain&>(*pd_).hardware(), init).ok());
  }
  void TearDown() override {
    hardware_->Destroy();
    PairTest::TearDown();
  }
  Code Post(uint64_t cookie) {
    const DAT_LMR_TRIPLET segment = Segment(0, 64);
    return receives_->Post({.cookie = cookie, .local = {&segment, 1}});
  }
  bool Activate() { return receives_->Activate(hardware_->get()).ok(); }

  CountingPair pair_;
  std::unique_ptr<HardwarePair> hardware_;
  std::unique_ptr<ReceiveQueue> receives_;
};

TEST_F(ReceiveQueueTest, TheyWaitForTheHardware) {
  EXPECT_EQ(Post(0), Code::kOk);
  EXPECT_EQ(Post(1), Code::kOk);
  EXPECT_EQ(NullReceives(), 0u);
  EXPECT_EQ(receives_->Outstanding(), 2u);
  EXPECT_FALSE(receives_->HardwareOwes());
  ASSERT_TRUE(Activate());
  EXPECT_EQ(NullReceives(), 2u);
  EXPECT_TRUE(receives_->HardwareOwes());
  EXPECT_EQ(Post(2), Code::kOk);
  EXPECT_EQ(NullReceives(), 3u);
  for (int i = 0; i < 3; ++i) ArriveNullMessage(10);
  const auto received = Poll(*recv_cq_);
  EXPECT_EQ(CookiesOf(received), (Cookies{0, 1, 2}));
  EXPECT_EQ(received[0].length, 10u);
  EXPECT_EQ(received[0].context, this);
  EXPECT_FALSE(receives_->HardwareOwes());
}

TEST_F(ReceiveQueueTest, AFullQueueLooksForWhatHasCompleted) {
  ASSERT_TRUE(Activate());
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(Post(i), Code::kOk);
  EXPECT_EQ(Post(4), Code::kQueueFull);
  ArriveNullMessage(1);
  EXPECT_EQ(Post(4), Code::kOk);
  EXPECT_EQ(Post(5), Code::kQueueFull);
}

TEST_F(ReceiveQueueTest, WhatTheDeviceRefusesIsNotPosted) {
  ASSERT_TRUE(Activate());
  RefuseNullReceive(ENOMEM);
  EXPECT_EQ(Post(0), Code::kQueueFull);
  RefuseNullReceive(EINVAL);
  EXPECT_EQ(Post(0), Code::kInvalidArgument);
  EXPECT_EQ(receives_->Outstanding(), 0u);
  EXPECT_EQ(Post(1), Code::kOk);
  ArriveNullMessage(1);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{1});
}

TEST_F(ReceiveQueueTest, WhatTheDeviceRefusesLaterIsStillFlushed) {
  EXPECT_EQ(Post(0), Code::kOk);
  RefuseNullReceive(EINVAL);
  EXPECT_FALSE(Activate());
  EXPECT_FALSE(receives_->HardwareOwes());
  EXPECT_EQ(receives_->Outstanding(), 1u);
  CqCore::Due due;
  receives_->Flush(&due);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{0});
}

TEST_F(ReceiveQueueTest, SegmentsAreJudgedBeforeTheDeviceSeesThem) {
  const DAT_LMR_TRIPLET good = Segment(0, 64);
  DAT_LMR_TRIPLET unknown = good;
  unknown.lmr_context ^= 1;
  const DAT_LMR_TRIPLET beyond = Segment(4000, 97);
  const DAT_LMR_TRIPLET three[] = {good, good, good};
  EXPECT_EQ(receives_->Post({.local = {&unknown, 1}}), Code::kProtection);
  EXPECT_EQ(receives_->Post({.local = {&beyond, 1}}), Code::kOutOfBounds);
  EXPECT_EQ(receives_->Post({.local = three}), Code::kInvalidArgument);
  const DAT_LMR_TRIPLET with_empty[] = {good, Segment(0, 0), good};
  EXPECT_EQ(receives_->Post({.local = with_empty}), Code::kOk);
}

TEST_F(ReceiveQueueTest, APairWithASharedQueueHasNoReceivesOfItsOwn) {
  transport::QueuePairAttributes attributes = Attributes();
  // The code only checks that there is one.
  attributes.srq = reinterpret_cast<transport::SharedReceiveQueue*>(this);
  ASSERT_TRUE(receives_->Adopt(attributes, CoreOf(recv_cq_)).ok());
  EXPECT_EQ(Post(0), Code::kInvalidState);
}

TEST_F(ReceiveQueueTest, PostedOnesSurviveNewAttributes) {
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(Post(i), Code::kOk);
  transport::QueuePairAttributes attributes = Attributes();
  attributes.max_recv = 2;
  EXPECT_EQ(receives_->Adopt(attributes, CoreOf(recv_cq_)).code(), Code::kInvalidState);
  attributes.max_recv = 100;
  attributes.max_recv_iov = 1;
  ASSERT_TRUE(receives_->Adopt(attributes, CoreOf(recv_cq_)).ok());
  EXPECT_EQ(receives_->max_iov(), 2u);  // as in the posted receives
  EXPECT_EQ(Post(3), Code::kOk);
  ASSERT_TRUE(Activate());
  for (int i = 0; i < 4; ++i) ArriveNullMessage(1);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), (Cookies{0, 1, 2, 3}));
}

TEST_F(ReceiveQueueTest, LateOnesAreFlushedBehindTheOthers) {
  ASSERT_TRUE(Activate());
  for (uint64_t i = 0; i < 2; ++i) EXPECT_EQ(Post(i), Code::kOk);
  receives_->SetFate(PostFate::kLate);
  EXPECT_EQ(Post(2), Code::kOk);
  EXPECT_EQ(Post(3), Code::kOk);
  EXPECT_EQ(Post(4), Code::kQueueFull);
  EXPECT_EQ(NullReceives(), 2u);
  receives_->Deactivate();
  CqCore::Due due;
  receives_->Flush(&due);
  EXPECT_EQ(Post(5), Code::kOk);  // there is no connection, so it is flushed at once
  const auto flushed = Poll(*recv_cq_);
  EXPECT_EQ(CookiesOf(flushed), (Cookies{0, 1, 2, 3, 5}));
  for (const transport::Completion& completion : flushed)
    EXPECT_EQ(completion.status, WorkStatus::kFlushed);
  EXPECT_EQ(receives_->Outstanding(), 0u);
}

TEST_F(ReceiveQueueTest, MessagesWaitWhileTheConnectionIsNotReported) {
  ASSERT_TRUE(Activate());
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(Post(i), Code::kOk);
  receives_->progress().holding.store(true);
  ArriveNullMessage(1);
  ArriveNullMessage(1);
  EXPECT_TRUE(Poll(*recv_cq_).empty());
  EXPECT_EQ(receives_->Outstanding(), 1u);
  ArriveNullMessage(1);
  CqCore::Due due;
  CoreOf(recv_cq_)->ReleaseHeld(receives_->progress(), &due);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), (Cookies{0, 1, 2}));
}

TEST_F(ReceiveQueueTest, WhatComesWhileTheHardwareGoesIsDropped) {
  ASSERT_TRUE(Activate());
  EXPECT_EQ(Post(0), Code::kOk);
  receives_->progress().dropping.store(true);
  hardware_->ToError();
  EXPECT_TRUE(Poll(*recv_cq_).empty());
  receives_->progress().dropping.store(false);
  receives_->Deactivate();
  CqCore::Due due;
  receives_->Flush(&due);
  EXPECT_EQ(CookiesOf(Poll(*recv_cq_)), Cookies{0});
}

}  // namespace
}  // namespace softdat::verbs
