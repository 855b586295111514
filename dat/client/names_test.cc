// SPDX-License-Identifier: BSD-3-Clause
// Tests of event and status names.
#include "dat/client/names.h"

#include <gtest/gtest.h>

namespace softdat::client {
namespace {

TEST(EventName, KnownAndUnknown) {
  EXPECT_EQ(EventName(DAT_CONNECTION_EVENT_BROKEN), "DAT_CONNECTION_EVENT_BROKEN");
  EXPECT_EQ(EventName(DAT_DTO_COMPLETION_EVENT), "DAT_DTO_COMPLETION_EVENT");
  EXPECT_EQ(EventName(static_cast<DAT_EVENT_NUMBER>(0x1234)), "event 0x1234");
}

TEST(StatusName, KnownAndUnknown) {
  EXPECT_EQ(StatusName(DAT_DTO_SUCCESS), "DAT_DTO_SUCCESS");
  EXPECT_EQ(StatusName(DAT_DTO_ERR_REMOTE_ACCESS), "DAT_DTO_ERR_REMOTE_ACCESS");
  EXPECT_EQ(StatusName(static_cast<DAT_DTO_COMPLETION_STATUS>(13)), "status 13");
}

}  // namespace
}  // namespace softdat::client
