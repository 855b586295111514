// SPDX-License-Identifier: BSD-3-Clause
// Reserved service points: one request, one EP (semantics 3.1, 5.7, 8.3, 9.1).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class RspTest : public ConformanceTest {
 protected:
  DAT_RSP_HANDLE Reserve(DAT_CONN_QUAL* qualifier) {
    DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
    *qualifier = FreeQualifier();
    EXPECT_OK(dat_rsp_create(b_->ia, *qualifier, b_->ep, b_->cr_evd, &rsp));
    return rsp;
  }
};
CONFORMANCE_ALL_VARIANTS(RspTest);

// covers: semantics 3.1, 5.7, 9.1, 19
TEST_P(RspTest, ItServesOneRequestWithItsEp) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_RSP_HANDLE rsp = Reserve(&qualifier);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_RESERVED);
  DAT_RSP_PARAM param{};
  ASSERT_OK(dat_rsp_query(rsp, DAT_RSP_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, b_->ia);
  EXPECT_EQ(param.conn_qual, qualifier);
  EXPECT_EQ(param.ep_handle, b_->ep);
  EXPECT_EQ(param.evd_handle, b_->cr_evd);
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_ARRIVAL_EVENT_DATA arrival =
      b_->Expect(b_->cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data;
  EXPECT_EQ(arrival.sp_handle.rsp_handle, rsp);
  EXPECT_EQ(arrival.conn_qual, qualifier);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
  // The RSP no longer listens.
  const DAT_EP_HANDLE second = a_->MakeEp();
  ASSERT_OK(Connect(second, qualifier));
  a_->ExpectConnection(second, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  // The RSP decides which EP accepts.
  const DAT_EP_HANDLE other = b_->MakeEp();
  EXPECT_RETURN(dat_cr_accept(arrival.cr_handle, other, 0, nullptr),
                BadHandle(DAT_INVALID_HANDLE_EP));
  ASSERT_OK(dat_cr_accept(arrival.cr_handle, DAT_HANDLE_NULL, 0, nullptr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  b_->ExpectConnection(b_->ep, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_rsp_free(rsp));
  EXPECT_RETURN(dat_rsp_free(rsp), BadHandle(DAT_INVALID_HANDLE_RSP));
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_CONNECTED);
}

// covers: semantics 3.1, 8.3
TEST_P(RspTest, FreedBeforeARequestItGivesTheEpBack) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_RSP_HANDLE rsp = Reserve(&qualifier);
  EXPECT_RETURN(dat_ep_free(b_->ep), BadState(DAT_INVALID_STATE_EP_RESERVED));
  EXPECT_OK(dat_rsp_free(rsp));
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_UNCONNECTED);
  ASSERT_OK(Connect(a_->ep, qualifier));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  ASSERT_OK(dat_ep_reset(a_->ep));
  Join();
}

// covers: semantics 8.3
TEST_P(RspTest, ARejectGivesTheEpBack) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_RSP_HANDLE rsp = Reserve(&qualifier);
  ASSERT_OK(Connect(a_->ep, qualifier));
  const DAT_CR_HANDLE cr = NextRequest(*b_);
  ASSERT_OK(Reject(cr));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_UNCONNECTED);
  EXPECT_OK(dat_rsp_free(rsp));
}

// covers: semantics 9.1, 17
TEST_P(RspTest, ArgumentsAreChecked) {
  DAT_RSP_HANDLE rsp = DAT_HANDLE_NULL;
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  EXPECT_TYPE(dat_rsp_create(b_->ia, qualifier, b_->ep, b_->cr_evd, &rsp), DAT_CONN_QUAL_IN_USE);
  EXPECT_EQ(StateOf(b_->ep), DAT_EP_STATE_UNCONNECTED);
  EXPECT_OK(dat_psp_free(psp));
  EXPECT_RETURN(dat_rsp_create(b_->ia, qualifier, b_->ep, b_->recv_evd, &rsp),
                BadHandle(DAT_INVALID_HANDLE_EVD_CR));
  EXPECT_RETURN(dat_rsp_create(b_->ia, qualifier, b_->ep, b_->cr_evd, nullptr), BadArgument(5));
  EXPECT_RETURN(dat_rsp_create(b_->ia, qualifier, b_->cr_evd, b_->cr_evd, &rsp),
                BadHandle(DAT_INVALID_HANDLE_EP));
}

}  // namespace
}  // namespace softdat::conformance
