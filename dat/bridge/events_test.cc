// SPDX-License-Identifier: BSD-3-Clause
// Events of 2.0 that 1.2 has no number for.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "dat/bridge/handles.h"
#include "dat/bridge/params.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/dat_ib_extensions.h>
#include <dat2/softdat.h>

namespace softdat::bridge {
namespace {

class ExtensionEventTest : public testing::Test {
 protected:
  ExtensionEventTest() {
    from_.event_number = static_cast<::DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT);
    dto().ep_handle = ep_;
    dto().user_cookie.as_64 = 0x1234567890ABCDEF;
    dto().status = ::DAT_DTO_SUCCESS;
    dto().transfered_length = 17;
  }
  ::DAT_DTO_COMPLETION_EVENT_DATA& dto() { return from_.event_data.dto_completion_event_data; }
  void Operation(int operation) { std::memcpy(&dto().operation, &operation, sizeof(operation)); }
  const dat12::DAT_EVENT& Translate() {
    To12(from_, &to_);
    return to_;
  }

  alignas(8) char ep_[8] = {};
  ::DAT_EVENT from_{};
  dat12::DAT_EVENT to_{};
};

TEST_F(ExtensionEventTest, HasTheNumberOf12) {
  const ::DAT_IB_EXTENSION_EVENT_DATA data{.type = ::DAT_IB_RDMA_WRITE_IMMED_DATA,
                                           .status = ::DAT_OP_SUCCESS,
                                           .val = {{77}},
                                           .coll = {},
                                           .context = {}};
  std::memcpy(from_.event_extension_data, &data, sizeof(data));
  EXPECT_EQ(Translate().event_number, dat12::DAT_EXTENSION_EVENT);
  const dat12::DAT_EXTENSION_DATA& got = to_.event_data.extension_data;
  EXPECT_EQ(got.ep_handle, To12(ep_));
  EXPECT_EQ(got.user_cookie.as_64, 0x1234567890ABCDEF);
  EXPECT_EQ(got.status, dat12::DAT_DTO_SUCCESS);
  EXPECT_EQ(got.type, dat12::DAT_EXT_RECV_IMMED_DATA_EVENT);
  EXPECT_EQ(got.transfered_length, 17u);
  EXPECT_EQ(got.val.immed.data, 77u);
}

TEST_F(ExtensionEventTest, AFailureIsTakenByItsOperation) {
  dto().status = ::DAT_DTO_ERR_FLUSHED;
  Operation(::DAT_IB_DTO_CMP_SWAP);
  EXPECT_EQ(Translate().event_number, dat12::DAT_EXTENSION_EVENT);
  EXPECT_EQ(to_.event_data.extension_data.type, dat12::DAT_EXT_CMP_AND_SWAP_STATUS);
  EXPECT_EQ(to_.event_data.extension_data.status, dat12::DAT_DTO_ERR_FLUSHED);
  EXPECT_EQ(to_.event_data.extension_data.ep_handle, To12(ep_));
}

// In SoftDAT's providers the operation says that a receive had room for immediate data.
TEST_F(ExtensionEventTest, WhatThe2005InterfacePosted) {
  dto().status = ::DAT_DTO_ERR_FLUSHED;
  Operation(::SOFTDAT_DTO_RECEIVE);
  EXPECT_EQ(Translate().event_number, dat12::DAT_EXTENSION_EVENT);
  EXPECT_EQ(to_.event_data.extension_data.type, dat12::DAT_EXT_RECV_NO_IMMED);
  EXPECT_EQ(to_.event_data.extension_data.user_cookie.as_64, 0x1234567890ABCDEF);
  Operation(::SOFTDAT_DTO_RDMA_WRITE);
  EXPECT_EQ(Translate().event_number, dat12::DAT_EXTENSION_EVENT);
  EXPECT_EQ(to_.event_data.extension_data.type, dat12::DAT_EXT_RDMA_WRITE_IMMED_STATUS);
}

TEST_F(ExtensionEventTest, AReceiveThatFailedIsAnOrdinaryOne) {
  dto().status = ::DAT_DTO_ERR_FLUSHED;
  for (const int operation : {int{::DAT_DTO_RECEIVE}, int{::DAT_IB_DTO_RECV_IMMED}, 0xff}) {
    Operation(operation);
    EXPECT_EQ(Translate().event_number, dat12::DAT_DTO_COMPLETION_EVENT) << operation;
    const dat12::DAT_DTO_COMPLETION_EVENT_DATA& got = to_.event_data.dto_completion_event_data;
    EXPECT_EQ(got.ep_handle, To12(ep_));
    EXPECT_EQ(got.user_cookie.as_64, 0x1234567890ABCDEF);
    EXPECT_EQ(got.status, dat12::DAT_DTO_ERR_FLUSHED);
    EXPECT_EQ(got.transfered_length, 17u);
  }
}

TEST(EventsTest, AnyOtherKeepsItsNumberAndSaysNothing) {
  ::DAT_EVENT from{};
  from.event_number = static_cast<::DAT_EVENT_NUMBER>(::DAT_IW_EXTENSION_RANGE_BASE);
  from.event_data.dto_completion_event_data.user_cookie.as_64 = 1;
  dat12::DAT_EVENT to{};
  To12(from, &to);
  EXPECT_EQ(static_cast<uint32_t>(to.event_number), uint32_t{::DAT_IW_EXTENSION_RANGE_BASE});
  EXPECT_EQ(to.event_data.dto_completion_event_data.user_cookie.as_64, 0u);
}

TEST_F(ExtensionEventTest, ARequestForDatagramsIsARequest) {
  from_.event_number = static_cast<::DAT_EVENT_NUMBER>(::DAT_IB_UD_CONNECTION_REQUEST_EVENT);
  from_.event_data.cr_arrival_event_data.cr_handle = ep_;
  from_.event_data.cr_arrival_event_data.conn_qual = 99;
  EXPECT_EQ(Translate().event_number, dat12::DAT_CONNECTION_REQUEST_EVENT);
  EXPECT_EQ(to_.event_data.cr_arrival_event_data.cr_handle, To12(ep_));
  EXPECT_EQ(to_.event_data.cr_arrival_event_data.conn_qual, 99u);
}

}  // namespace
}  // namespace softdat::bridge
