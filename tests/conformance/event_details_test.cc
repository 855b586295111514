// SPDX-License-Identifier: BSD-3-Clause
// Details that only events of 2.0 have: which operation completed, and that no private data were
// cut off (semantics 9.3, 10.3).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class EventDetailsTest : public ConformanceTest {};
CONFORMANCE_FAMILIES(EventDetailsTest);

// covers: semantics 10.4
TEST_P(EventDetailsTest, ACompletionNamesItsOperation) {
  Join();
  const auto here = a_->MakeBuffer(64), there = b_->MakeBuffer(64);
  ASSERT_OK(PostRecv(b_->ep, {there->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {here->local()}, 2));
  ASSERT_OK(PostWrite(a_->ep, {here->local()}, there->remote(), 3));
  ASSERT_OK(PostRead(a_->ep, {here->local()}, there->remote(), 4));
  EXPECT_EQ(b_->ExpectDto(b_->recv_evd, b_->ep, 1).operation, DAT_DTO_RECEIVE);
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 2).operation, DAT_DTO_SEND);
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 3).operation, DAT_DTO_RDMA_WRITE);
  EXPECT_EQ(a_->ExpectDto(a_->request_evd, a_->ep, 4).operation, DAT_DTO_RDMA_READ);
}

// covers: semantics 5.7, 9.3
TEST_P(EventDetailsTest, ARequestIsNotTruncated) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_ARRIVAL_EVENT_DATA arrival =
      b_->Expect(b_->cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.truncate_flag, DAT_FALSE);
  ASSERT_OK(Reject(arrival.cr_handle));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_OK(dat_psp_free(psp));
}

}  // namespace
}  // namespace softdat::conformance
