// SPDX-License-Identifier: BSD-3-Clause
// Which member each kind of CM message leads to.
#include "provider_softnet/udp/mad_route.h"

#include <gtest/gtest.h>

namespace softdat::softnet {
namespace {

using By = MadRoute::By;
constexpr uint32_t kOwn = 0xabc00001;    // made by the receiver
constexpr uint32_t kOther = 0xdef00001;  // made by the sender

TEST(MadRoute, RequestsGoToTheirService) {
  for (const rdmacm::CmMessage& message :
       {rdmacm::CmMessage(rdmacm::CmReq{.local_comm_id = kOther, .service_id = 0x1061234}),
        rdmacm::CmMessage(rdmacm::SidrReq{.request_id = kOther, .service_id = 0x1061234})}) {
    const MadRoute route = RouteOf(message);
    EXPECT_EQ(route.by, By::kService);
    EXPECT_EQ(route.service_id, 0x1061234u);
  }
}

TEST(MadRoute, OthersGoToTheMemberWhoseIdTheyAnswer) {
  for (const rdmacm::CmMessage& message :
       {rdmacm::CmMessage(rdmacm::CmMra{.local_comm_id = kOther, .remote_comm_id = kOwn}),
        rdmacm::CmMessage(rdmacm::CmRej{.local_comm_id = kOther, .remote_comm_id = kOwn}),
        rdmacm::CmMessage(rdmacm::CmRep{.local_comm_id = kOther, .remote_comm_id = kOwn}),
        rdmacm::CmMessage(rdmacm::CmRtu{.local_comm_id = kOther, .remote_comm_id = kOwn}),
        rdmacm::CmMessage(rdmacm::CmDreq{.local_comm_id = kOther, .remote_comm_id = kOwn}),
        rdmacm::CmMessage(rdmacm::CmDrep{.local_comm_id = kOther, .remote_comm_id = kOwn}),
        rdmacm::CmMessage(rdmacm::SidrRep{.request_id = kOwn})}) {
    const MadRoute route = RouteOf(message);
    EXPECT_EQ(route.by, By::kBlock) << message.index();
    EXPECT_EQ(route.block, 0xabcu) << message.index();
  }
}

TEST(MadRoute, AnIdThatNobodyMadeLeadsNowhere) {
  EXPECT_EQ(RouteOf(rdmacm::CmRej{.local_comm_id = kOther}).by, By::kNobody);
  EXPECT_EQ(RouteOf(rdmacm::CmDreq{.local_comm_id = kOther, .remote_comm_id = 0xfffff}).by,
            By::kNobody);
}

}  // namespace
}  // namespace softdat::softnet
