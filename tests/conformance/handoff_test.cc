// SPDX-License-Identifier: BSD-3-Clause
// A request is handed to another service point (semantics 9.3). The active side does not notice.
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

// covers: semantics 9.3
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

// covers: semantics 9.3
TEST_P(HandoffTest, AnUnknownQualifierLeavesTheRequest) {
  EXPECT_RETURN(dat_cr_handoff(cr_, FreeQualifier()), BadArgument(2));
  ASSERT_OK(dat_cr_accept(cr_, b_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
}

// covers: semantics 9.3
TEST_P(HandoffTest, BackAgainAndRejected) {
  ASSERT_OK(dat_cr_handoff(cr_, second_qualifier_));
  const DAT_CR_HANDLE there = b_->Expect(other_evd_, DAT_CONNECTION_REQUEST_EVENT)
                                  .event_data.cr_arrival_event_data.cr_handle;
  ASSERT_OK(dat_cr_handoff(there, first_qualifier_));
  ASSERT_OK(Reject(NextRequest(*b_)));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

// Another open of the IA in this process. Its EPs accept requests that came to the first open.
class HandoffToAnotherIaTest : public HandoffTest {
 protected:
  void SetUp() override {
    HandoffTest::SetUp();
    c_ = std::make_unique<Side>(variant().mode);
    c_->MakeEp();
    third_ = Listen(*c_, &third_qualifier_);
  }
  void TearDown() override {
    EXPECT_OK(dat_psp_free(third_));
    c_.reset();
    HandoffTest::TearDown();
  }
  std::unique_ptr<Side> c_;
  DAT_PSP_HANDLE third_ = DAT_HANDLE_NULL;
  DAT_CONN_QUAL third_qualifier_ = 0;
};
CONFORMANCE_FAMILIES(HandoffToAnotherIaTest);

// covers: semantics 9.3
TEST_P(HandoffToAnotherIaTest, ItsServicePointGetsTheRequestWithItsData) {
  DAT_CR_PARAM before{};
  ASSERT_OK(dat_cr_query(cr_, DAT_CR_FIELD_ALL, &before));
  const DAT_PORT_QUAL port = before.remote_port_qual;
  ASSERT_OK(dat_cr_handoff(cr_, third_qualifier_));
  EXPECT_TYPE(Reject(cr_), DAT_INVALID_HANDLE);
  const auto request =
      c_->Expect(c_->cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(request.sp_handle.psp_handle, third_);
  EXPECT_EQ(request.conn_qual, third_qualifier_);
  DAT_CR_PARAM param{};
  ASSERT_OK(dat_cr_query(request.cr_handle, DAT_CR_FIELD_ALL, &param));
  EXPECT_EQ(param.remote_port_qual, port);
  ASSERT_EQ(param.private_data_size, 3);
  EXPECT_EQ(std::memcmp(param.private_data, data_, 3), 0);
  EXPECT_TYPE(dat_cr_accept(request.cr_handle, b_->ep, 0, nullptr), DAT_INVALID_HANDLE);
  ASSERT_OK(dat_cr_accept(request.cr_handle, c_->ep, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  c_->ExpectConnection(c_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_UNCONNECTED);
  const auto from = a_->MakeBuffer(100), to = c_->MakeBuffer(100);
  from->FillPattern(3);
  ASSERT_OK(PostRecv(c_->ep, {to->local()}, 1));
  ASSERT_OK(PostSend(a_->ep, {from->local()}, 2));
  c_->ExpectDto(c_->recv_evd, c_->ep, 1);
  a_->ExpectDto(a_->request_evd, a_->ep, 2);
  EXPECT_EQ(std::memcmp(from->data(), to->data(), 100), 0);
  ASSERT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
  c_->ExpectConnection(c_->ep, DAT_CONNECTION_EVENT_DISCONNECTED);
}

// covers: semantics 9.3
TEST_P(HandoffToAnotherIaTest, BackAgainAndRejected) {
  ASSERT_OK(dat_cr_handoff(cr_, third_qualifier_));
  ASSERT_OK(dat_cr_handoff(NextRequest(*c_), first_qualifier_));
  const auto request =
      b_->Expect(b_->cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(request.conn_qual, first_qualifier_);
  ASSERT_OK(Reject(request.cr_handle));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
}

// The request arrives there like any other, so a full queue rejects it.
// covers: semantics 9.1, 9.3
TEST_P(HandoffToAnotherIaTest, AFullEventQueueThereRejectsIt) {
  const DAT_EVD_HANDLE full = c_->MakeEvd(DAT_EVD_CR_FLAG, 1);
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier = 0;
  ASSERT_OK(dat_psp_create_any(c_->ia, &qualifier, full, DAT_PSP_CONSUMER_FLAG, &psp));
  const DAT_EP_HANDLE other = a_->MakeEp();
  ASSERT_OK(Connect(other, first_qualifier_));
  ASSERT_OK(dat_cr_handoff(NextRequest(*b_), qualifier));
  ASSERT_OK(dat_cr_handoff(cr_, qualifier));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  const auto request =
      c_->Expect(full, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  ASSERT_OK(dat_cr_accept(request.cr_handle, c_->ep, 0, nullptr));
  a_->ExpectConnection(other, DAT_CONNECTION_EVENT_ESTABLISHED);
  c_->ExpectConnection(c_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_psp_free(psp));
}

}  // namespace
}  // namespace softdat::conformance
