// SPDX-License-Identifier: BSD-3-Clause
// A request is handed to another service point (DAT 2.0 semantics 9.3): the active side does not
// notice.
#include <cstring>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class HandoffTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    first_ = Listen(*b_, &first_qualifier_);
    other_evd_ = b_->MakeEvd(DAT_EVD_CR_FLAG);
    ASSERT_OK(dat_psp_create_any(b_->ia, &second_qualifier_, other_evd_, DAT_PSP_CONSUMER_FLAG,
                                 &second_));
    ASSERT_OK(Connect(a_->ep, first_qualifier_, data_));
    cr_ = NextRequest(*b_);
  }
  void TearDown() override {
    EXPECT_OK(dat_psp_free(first_));
    EXPECT_OK(dat_psp_free(second_));
    ConformanceTest::TearDown();
  }
  uint8_t data_[3] = {7, 8, 9};
  DAT_PSP_HANDLE first_ = DAT_HANDLE_NULL, second_ = DAT_HANDLE_NULL;
  DAT_CONN_QUAL first_qualifier_ = 0, second_qualifier_ = 0;
  DAT_EVD_HANDLE other_evd_ = DAT_HANDLE_NULL;
  DAT_CR_HANDLE cr_ = DAT_HANDLE_NULL;
};
CONFORMANCE_FAMILIES(HandoffTest);

TEST_P(HandoffTest, TheOtherPointGetsTheRequestWithItsData) {
  ASSERT_OK(dat_cr_handoff(cr_, second_qualifier_));
  const auto request =
      b_->Expect(other_evd_, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(request.sp_handle.psp_handle, second_);
  EXPECT_EQ(request.conn_qual, second_qualifier_);
  DAT_CR_PARAM param{};
  EXPECT_TYPE(dat_cr_query(cr_, DAT_CR_FIELD_ALL, &param), DAT_INVALID_HANDLE);
  ASSERT_OK(dat_cr_query(request.cr_handle, DAT_CR_FIELD_ALL, &param));
  ASSERT_EQ(param.private_data_size, 3);
  EXPECT_EQ(std::memcmp(param.private_data, data_, 3), 0);
  ASSERT_OK(dat_cr_accept(request.cr_handle, b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  Part();
}

TEST_P(HandoffTest, AnUnknownQualifierLeavesTheRequest) {
  EXPECT_RETURN(dat_cr_handoff(cr_, FreeQualifier()), BadArgument(2));
  ASSERT_OK(dat_cr_accept(cr_, b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
}

TEST_P(HandoffTest, BackAgainAndRejected) {
  ASSERT_OK(dat_cr_handoff(cr_, second_qualifier_));
  const DAT_CR_HANDLE there = b_->Expect(other_evd_, DAT_CONNECTION_REQUEST_EVENT)
                                  .event_data.cr_arrival_event_data.cr_handle;
  ASSERT_OK(dat_cr_handoff(there, first_qualifier_));
  ASSERT_OK(dat_cr_reject(NextRequest(*b_), 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

}  // namespace
}  // namespace softdat::conformance
