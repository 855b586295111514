// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/send_queue.h"

#include <errno.h>

#include "provider_verbs/hardware_pair.h"
#include "provider_verbs/testing/pair_fixture.h"

namespace softdat::verbs {
namespace {

using nulldevice::CompleteNullSendEarly;
using nulldevice::CompleteNullSends;
using nulldevice::NullPost;
using nulldevice::RefuseNullSend;
using nulldevice::TakeNullPosts;
using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;
using Cookies = std::vector<uint64_t>;

class SendQueueTest : public PairTest {
 protected:
  void SetUp() override { Start({}); }
  void Start(
      const nulldevice::NullDevice& null,
      const std::function<void(DeviceTraits*)>& traits = [](DeviceTraits*) {}) {
    Open(null, traits);
    sends_ = std::make_unique<SendQueue>(*device_, &pair_);
    sends_->Adopt(Attributes(), CoreOf(send_cq_));
    hardware_ = std::make_unique<HardwarePair>(*device_);
    ibv_qp_init_attr init{};
    init.send_cq = CoreOf(send_cq_)->hardware();
    init.recv_cq = CoreOf(recv_cq_)->hardware();
    ASSERT_TRUE(hardware_->Make(static_cast<ProtectionDomain&>(*pd_).hardware(), init).ok());
    sends_->SetHardware(hardware_->get());
    sends_->SetFate(PostFate::kTaken);
    pair_.failure.Watch(true);
  }
  void TearDown() override {
    hardware_->Destroy();
    PairTest::TearDown();
  }
  Code Post(uint64_t cookie, uint8_t flags = 0) {
    const DAT_LMR_TRIPLET segment = Segment(0, 64);
    SendRequest request;
    request.cookie = cookie;
    request.flags = flags;
    request.local = {&segment, 1};
    return sends_->Post(request);
  }
  Code PostRead(uint64_t cookie, size_t segments) {
    std::vector<DAT_LMR_TRIPLET> local;
    for (size_t i = 0; i < segments; ++i) local.push_back(Segment(i * 100, 64));
    SendRequest request;
    request.op = Op::kRdmaRead;
    request.cookie = cookie;
    request.local = local;
    request.remote.segment_length = 64 * segments;
    request.remote.virtual_address = 0x1000;
    return sends_->Post(request);
  }
  // The connection is over and the hardware is gone.
  void Flush() {
    CqCore::Due due;
    CoreOf(send_cq_)->Drain(&due);
    sends_->SetHardware(nullptr);
    sends_->Flush(&due);
  }

  CountingPair pair_;
  std::unique_ptr<HardwarePair> hardware_;
  std::unique_ptr<SendQueue> sends_;
};

TEST_F(SendQueueTest, PostsCompleteInOrder) {
  EXPECT_EQ(Post(0), Code::kOk);  // goes through PostPlain once the region is known
  EXPECT_EQ(Post(1), Code::kOk);
  EXPECT_EQ(Post(2, transport::kQuiet), Code::kOk);
  EXPECT_EQ(sends_->InFlight(), 3u);
  CompleteNullSends(3);
  const auto sent = Poll(*send_cq_);
  EXPECT_EQ(CookiesOf(sent), (Cookies{0, 1, 2}));
  EXPECT_EQ(sent[1].length, 64u);
  EXPECT_EQ(sent[1].context, this);
  EXPECT_TRUE(sent[2].quiet());
  EXPECT_EQ(sends_->InFlight(), 0u);
}

TEST_F(SendQueueTest, WithoutAConnectionNothingIsTaken) {
  sends_->SetFate(PostFate::kRefused);
  EXPECT_EQ(Post(0), Code::kInvalidState);
  EXPECT_TRUE(TakeNullPosts().empty());
}

TEST_F(SendQueueTest, AFullQueueLooksForWhatHasCompleted) {
  for (uint64_t i = 0; i < 8; ++i) EXPECT_EQ(Post(i), Code::kOk);
  EXPECT_EQ(Post(8), Code::kQueueFull);
  CompleteNullSends(1);
  EXPECT_EQ(Post(8), Code::kOk);
  EXPECT_EQ(Post(9), Code::kQueueFull);
}

TEST_F(SendQueueTest, WhatTheDeviceRefusesIsNotPosted) {
  const std::pair<int, Code> errors[] = {{ENOMEM, Code::kQueueFull},
                                         {EAGAIN, Code::kQueueFull},
                                         {-ENOMEM, Code::kQueueFull},
                                         {EOPNOTSUPP, Code::kNotSupported},
                                         {EINVAL, Code::kInvalidArgument}};
  for (const auto& [error, code] : errors) {
    RefuseNullSend(0, error);
    EXPECT_EQ(Post(0, transport::kQuiet), code) << error;
    EXPECT_EQ(sends_->InFlight(), 0u);
  }
  EXPECT_EQ(pair_.failures, 0);
  EXPECT_EQ(Post(1), Code::kOk);
  CompleteNullSends(1);
  EXPECT_EQ(CookiesOf(Poll(*send_cq_)), Cookies{1});
}

// The quick way does not say why it failed. The general way does.
TEST_F(SendQueueTest, APlainPostThatIsRefusedIsTriedTheGeneralWay) {
  EXPECT_EQ(Post(0), Code::kOk);
  RefuseNullSend(0, EAGAIN);
  EXPECT_EQ(Post(1), Code::kOk);
  EXPECT_EQ(sends_->InFlight(), 2u);
}

// The connection is ending, and the thread that posts does not know this yet.
TEST_F(SendQueueTest, APostThatMeetsTheEndIsFlushed) {
  RefuseNullSend(0, ENOTCONN);
  EXPECT_EQ(Post(0, transport::kQuiet), Code::kOk);
  EXPECT_EQ(sends_->InFlight(), 1u);
  Flush();
  EXPECT_EQ(CookiesOf(Poll(*send_cq_)), Cookies{0});
}

TEST_F(SendQueueTest, AnErrorIsReportedOnceToThePair) {
  EXPECT_EQ(Post(0), Code::kOk);
  EXPECT_EQ(Post(1), Code::kOk);
  EXPECT_EQ(Post(2), Code::kOk);
  CompleteNullSends(2, IBV_WC_REM_ACCESS_ERR);
  hardware_->ToError();
  const auto done = Poll(*send_cq_);
  ASSERT_EQ(CookiesOf(done), (Cookies{0, 1, 2}));
  EXPECT_EQ(done[0].status, WorkStatus::kSuccess);
  EXPECT_EQ(done[1].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(done[2].status, WorkStatus::kFlushed);
  EXPECT_EQ(pair_.failures, 1);
}

TEST_F(SendQueueTest, SuppressedOnesCompleteWithoutAWord) {
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(Post(i, transport::kSuppress), Code::kOk);
  const std::vector<NullPost> posts = TakeNullPosts();
  ASSERT_EQ(posts.size(), 4u);
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ((posts[i].send_flags & IBV_SEND_SIGNALED) != 0, i == 3) << i;
  CompleteNullSends(4);
  EXPECT_TRUE(Poll(*send_cq_).empty());
  EXPECT_EQ(sends_->InFlight(), 0u);
}

// Nothing else shows that the last requests are over.
TEST_F(SendQueueTest, AMarkerFollowsSuppressedOnes) {
  EXPECT_EQ(Post(0, transport::kSuppress), Code::kOk);
  EXPECT_EQ(Post(1, transport::kSuppress), Code::kOk);
  TakeNullPosts();
  EXPECT_EQ(sends_->Outstanding(), 2u);
  std::vector<NullPost> posts = TakeNullPosts();
  ASSERT_EQ(posts.size(), 1u);
  EXPECT_EQ(posts[0].opcode, IBV_WR_RDMA_WRITE);
  EXPECT_EQ(posts[0].length, 0u);
  EXPECT_NE(posts[0].send_flags & IBV_SEND_SIGNALED, 0u);
  EXPECT_EQ(sends_->Outstanding(), 2u);
  EXPECT_TRUE(TakeNullPosts().empty()) << "one marker is enough";
  CompleteNullSends(3);
  EXPECT_EQ(sends_->Outstanding(), 0u);
  EXPECT_TRUE(Poll(*send_cq_).empty());
}

TEST_F(SendQueueTest, AMarkerTakesNoPlaceOfTheConsumers) {
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(Post(i, transport::kSuppress), Code::kOk);
  CqCore::Due due;
  sends_->PostMarker(&due);
  for (uint64_t i = 3; i < 8; ++i) EXPECT_EQ(Post(i), Code::kOk) << i;
  EXPECT_EQ(Post(8), Code::kQueueFull);
}

TEST_F(SendQueueTest, NoMarkerWhereTheLastOneIsSignalled) {
  EXPECT_EQ(Post(0, transport::kSuppress), Code::kOk);
  EXPECT_EQ(Post(1), Code::kOk);
  TakeNullPosts();
  EXPECT_EQ(sends_->Outstanding(), 2u);
  EXPECT_TRUE(TakeNullPosts().empty());
}

TEST_F(SendQueueTest, TheEndFlushesInTheOrderOfThePosts) {
  EXPECT_EQ(Post(0), Code::kOk);
  EXPECT_EQ(Post(1, transport::kSuppress), Code::kOk);
  EXPECT_EQ(Post(2, transport::kSuppress), Code::kOk);
  CqCore::Due due;
  sends_->PostMarker(&due);
  sends_->SetFate(PostFate::kLate);
  EXPECT_EQ(Post(3), Code::kOk);
  EXPECT_EQ(Post(4, transport::kSuppress), Code::kOk);
  CompleteNullSends(1);
  Flush();
  EXPECT_EQ(Post(5), Code::kOk);  // there is no connection, so it is flushed at once
  const auto done = Poll(*send_cq_);
  ASSERT_EQ(CookiesOf(done), (Cookies{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(done[0].status, WorkStatus::kSuccess);
  for (size_t i = 1; i < done.size(); ++i) EXPECT_EQ(done[i].status, WorkStatus::kFlushed) << i;
  EXPECT_EQ(sends_->Outstanding(), 0u);
}

TEST_F(SendQueueTest, LateOnesFillTheQueueToo) {
  for (uint64_t i = 0; i < 6; ++i) EXPECT_EQ(Post(i), Code::kOk);
  sends_->SetFate(PostFate::kLate);
  EXPECT_EQ(Post(6), Code::kOk);
  EXPECT_EQ(Post(7), Code::kOk);
  EXPECT_EQ(Post(8), Code::kQueueFull);
}

TEST_F(SendQueueTest, SegmentsAreJudgedBeforeTheDeviceSeesThem) {
  DAT_LMR_TRIPLET segment = Segment(4000, 97);
  SendRequest request;
  request.local = {&segment, 1};
  EXPECT_EQ(sends_->Post(request), Code::kOutOfBounds);
  segment = Segment(0, 64);
  segment.lmr_context ^= 1;
  EXPECT_EQ(sends_->Post(request), Code::kProtection);
  EXPECT_EQ(PostRead(0, 5), Code::kInvalidArgument);
  EXPECT_TRUE(TakeNullPosts().empty());
}

class IwarpSendQueueTest : public SendQueueTest {
 protected:
  void SetUp() override { Start({.iwarp = true}); }
};

TEST_F(IwarpSendQueueTest, AReadIntoThreeSegmentsIsThreeReads) {
  EXPECT_EQ(PostRead(7, 3), Code::kOk);
  const std::vector<NullPost> posts = TakeNullPosts();
  ASSERT_EQ(posts.size(), 3u);
  EXPECT_EQ(posts[0].remote_address, 0x1000u);
  EXPECT_EQ(posts[2].remote_address, 0x1000u + 128);
  EXPECT_EQ(sends_->InFlight(), 1u);
  CompleteNullSends(3);
  const auto done = Poll(*send_cq_);
  ASSERT_EQ(CookiesOf(done), Cookies{7});
  EXPECT_EQ(done[0].length, 192u);
}

// The part that was taken may have an effect, so neither "posted" nor "not posted" would be true.
TEST_F(IwarpSendQueueTest, AReadRefusedHalfWayBreaksTheConnection) {
  RefuseNullSend(1, ENOMEM);
  EXPECT_EQ(PostRead(7, 3), Code::kOk);
  EXPECT_EQ(TakeNullPosts().size(), 1u);
  EXPECT_EQ(pair_.failures, 1);
  EXPECT_TRUE(pair_.failure.noted());
  Flush();
  const auto done = Poll(*send_cq_);
  ASSERT_EQ(CookiesOf(done), Cookies{7});
  EXPECT_EQ(done[0].status, WorkStatus::kFlushed);
}

TEST_F(IwarpSendQueueTest, AReadRefusedAtOnceIsNotPosted) {
  RefuseNullSend(0, ENOMEM);
  EXPECT_EQ(PostRead(7, 3), Code::kQueueFull);
  EXPECT_EQ(pair_.failures, 0);
  EXPECT_EQ(sends_->InFlight(), 0u);
}

// soft-iWARP completes a send when it was sent, and the read before it when it was answered.
class EarlySendQueueTest : public SendQueueTest {
 protected:
  void SetUp() override {
    Start({.iwarp = true}, [](DeviceTraits* traits) { traits->signal_all = true; });
  }
};

TEST_F(EarlySendQueueTest, EachIsSignalled) {
  EXPECT_EQ(Post(0, transport::kSuppress), Code::kOk);
  EXPECT_NE(TakeNullPosts().at(0).send_flags & IBV_SEND_SIGNALED, 0u);
  EXPECT_EQ(sends_->Outstanding(), 1u);
  EXPECT_TRUE(TakeNullPosts().empty()) << "a marker is not needed";
}

TEST_F(EarlySendQueueTest, EarlyOnesWaitForTheirTurn) {
  EXPECT_EQ(PostRead(0, 1), Code::kOk);
  EXPECT_EQ(Post(1), Code::kOk);
  EXPECT_EQ(Post(2, transport::kSuppress), Code::kOk);
  EXPECT_EQ(Post(3), Code::kOk);
  CompleteNullSendEarly(1);
  CompleteNullSendEarly(1);
  EXPECT_TRUE(Poll(*send_cq_).empty());
  EXPECT_EQ(sends_->InFlight(), 4u);
  CompleteNullSends(1);
  EXPECT_EQ(CookiesOf(Poll(*send_cq_)), (Cookies{0, 1}));
  EXPECT_EQ(sends_->InFlight(), 1u);
}

// covers: semantics 10.5
TEST_F(EarlySendQueueTest, BehindAFailureNothingHasSucceeded) {
  EXPECT_EQ(PostRead(0, 1), Code::kOk);
  EXPECT_EQ(Post(1), Code::kOk);
  CompleteNullSendEarly(1);
  CompleteNullSends(1, IBV_WC_REM_ACCESS_ERR);
  const auto done = Poll(*send_cq_);
  ASSERT_EQ(CookiesOf(done), (Cookies{0, 1}));
  EXPECT_EQ(done[0].status, WorkStatus::kRemoteAccess);
  EXPECT_EQ(done[1].status, WorkStatus::kFlushed);
}

TEST_F(EarlySendQueueTest, AnEarlyOneWhoseTurnNeverComesIsFlushed) {
  EXPECT_EQ(PostRead(0, 1), Code::kOk);
  EXPECT_EQ(Post(1), Code::kOk);
  CompleteNullSendEarly(1);
  Flush();
  const auto done = Poll(*send_cq_);
  ASSERT_EQ(CookiesOf(done), (Cookies{0, 1}));
  EXPECT_EQ(done[1].status, WorkStatus::kFlushed);
}

}  // namespace
}  // namespace softdat::verbs
