// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/hardware_pair.h"

#include <errno.h>

#include "provider_verbs/testing/pair_fixture.h"

namespace softdat::verbs {
namespace {

using nulldevice::QueuePagesInUse;
using transport::QueuePairAttributes;

TEST(CapacityForTest, OneMoreForTheMarkerAndOneForABind) {
  DeviceTraits traits;
  traits.max_qp_wr = 1000;
  traits.max_sge = traits.max_read_sge = 4;
  const QueuePairAttributes attributes{.max_send = 10, .max_recv = 20};
  ibv_qp_cap cap = CapacityFor(traits, attributes, 4, 2);
  EXPECT_EQ(cap.max_send_wr, 12u);
  EXPECT_EQ(cap.max_recv_wr, 21u);
  EXPECT_EQ(cap.max_send_sge, 4u);
  EXPECT_EQ(cap.max_recv_sge, 2u);
  traits.windows_type2 = true;  // a bind needs an invalidation in front of it
  cap = CapacityFor(traits, attributes, 4, 9);
  EXPECT_EQ(cap.max_send_wr, 24u);
  EXPECT_EQ(cap.max_recv_sge, 4u);
}

TEST(CapacityForTest, ReadsThatAreSplitTakeAPlaceForEachSegment) {
  DeviceTraits traits;
  traits.max_qp_wr = 100;
  traits.max_sge = 8;
  traits.max_read_sge = 1;
  QueuePairAttributes attributes{.max_send = 10, .max_recv = 1};
  EXPECT_EQ(CapacityFor(traits, attributes, 8, 1).max_send_wr, 96u);
  attributes.max_read_iov = 2;
  EXPECT_EQ(CapacityFor(traits, attributes, 8, 1).max_send_wr, 24u);
  attributes.max_read_iov = 1;
  EXPECT_EQ(CapacityFor(traits, attributes, 8, 1).max_send_wr, 12u);
  // As many places as the device has, but never fewer than the consumer asked for.
  attributes.max_read_iov = 8;
  attributes.max_send = 50;
  EXPECT_EQ(CapacityFor(traits, attributes, 8, 1).max_send_wr, 100u);
  attributes.max_send = 200;
  EXPECT_EQ(CapacityFor(traits, attributes, 8, 1).max_send_wr, 202u);
}

TEST(CapacityForTest, ASharedQueueReceives) {
  DeviceTraits traits;
  traits.max_qp_wr = 100;
  QueuePairAttributes attributes{.max_send = 1, .max_recv = 20};
  // The code only checks that there is one.
  attributes.srq = reinterpret_cast<transport::SharedReceiveQueue*>(&traits);
  const ibv_qp_cap cap = CapacityFor(traits, attributes, 1, 1);
  EXPECT_EQ(cap.max_recv_wr, 0u);
  EXPECT_EQ(cap.max_recv_sge, 0u);
}

class HardwarePairTest : public PairTest {
 protected:
  Status Make(HardwarePair* pair) {
    ibv_qp_init_attr init{};
    init.send_cq = CoreOf(send_cq_)->hardware();
    init.recv_cq = CoreOf(recv_cq_)->hardware();
    init.cap = CapacityFor(device_->traits, Attributes(), 4, 2);
    return pair->Make(static_cast<ProtectionDomain&>(*pd_).hardware(), init);
  }
};

TEST_F(HardwarePairTest, TheStatesOnTheWay) {
  Open();
  HardwarePair pair(*device_);
  ASSERT_TRUE(Make(&pair).ok());
  auto id = CmId::Create(*device_->cm).Take();
  ASSERT_TRUE(pair.ToInit(id->get()).ok());
  EXPECT_EQ(pair.get()->state, IBV_QPS_INIT);
  ASSERT_TRUE(pair.ToReady(id->get(), std::nullopt, std::nullopt).ok());
  EXPECT_EQ(pair.get()->state, IBV_QPS_RTS);
  EXPECT_FALSE(pair.FellIntoError());
  pair.ToError();
  EXPECT_TRUE(pair.FellIntoError());
  pair.Destroy();
  EXPECT_FALSE(pair.exists());
}

TEST_F(HardwarePairTest, IwarpGetsReadyInTheKernel) {
  Open({.iwarp = true});
  HardwarePair pair(*device_);
  ASSERT_TRUE(Make(&pair).ok());
  auto id = CmId::Create(*device_->cm).Take();
  ASSERT_TRUE(pair.ToReady(id->get(), 1, 1).ok());
  EXPECT_EQ(pair.get()->state, IBV_QPS_RESET);
  pair.ToError();
  EXPECT_FALSE(pair.FellIntoError()) << "the kernel does that whenever a connection ends";
  pair.Destroy();
}

// A device without room says so with EINVAL (siw).
TEST_F(HardwarePairTest, AnExhaustedDeviceIsNoInvalidArgument) {
  Open();
  nulldevice::TheNullDevice().queue_pages = QueuePagesInUse();
  HardwarePair pair(*device_);
  EXPECT_EQ(Make(&pair).code(), Code::kNoResources);
  EXPECT_FALSE(pair.exists());
  // Its library may set no error at all. What is there is then that of an earlier call.
  nulldevice::TheNullDevice().no_pages_error = 0;
  errno = ENOTTY;
  const Status without = Make(&pair);
  EXPECT_EQ(without.code(), Code::kNoResources) << without.reason();
}

// The thread that frees an endpoint does not wait. Its queues may be freed meanwhile, and must
// stay.
TEST_F(HardwarePairTest, ABuriedOneKeepsItsQueues) {
  const uint32_t before = QueuePagesInUse();
  Open({.iwarp = true});
  HardwarePair pair(*device_);
  ASSERT_TRUE(Make(&pair).ok());
  std::shared_ptr<CmId> id = CmId::Create(*device_->cm).Take();
  // This has the effect of another buried pair that completes here and takes longer.
  const std::shared_ptr<CqCore> send = static_cast<CompletionQueue&>(*send_cq_).core();
  const std::shared_ptr<CqCore> receive = static_cast<CompletionQueue&>(*recv_cq_).core();
  send->HoldForReaper();
  receive->HoldForReaper();
  pair.Bury(std::move(id), static_cast<ProtectionDomain&>(*pd_).share(), send, receive);
  EXPECT_FALSE(pair.exists());
  send_cq_.reset();
  recv_cq_.reset();
  device_->reaper.Join();
  EXPECT_GT(QueuePagesInUse(), before);
  send->ReleaseByReaper();
  receive->ReleaseByReaper();
  EXPECT_EQ(QueuePagesInUse(), before);
}

}  // namespace
}  // namespace softdat::verbs
