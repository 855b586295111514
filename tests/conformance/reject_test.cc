// SPDX-License-Identifier: BSD-3-Clause
// Rejected requests, by the consumer and by the provider (semantics 8.3, 9.1, 9.3).
#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

class RejectTest : public ConformanceTest {};
CONFORMANCE_ALL_VARIANTS(RejectTest);

// covers: semantics 8.3, 9.2, 9.3
TEST_P(RejectTest, TheActiveSideHearsItOnceAndTheEpCanBeReset) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = Listen(*b_, &qualifier);
  const auto memory = a_->MakeBuffer(8);
  for (uint64_t round = 0; round < 3; ++round) {
    ASSERT_OK(PostRecv(a_->ep, {memory->local()}, round));
    ASSERT_OK(Connect(a_->ep, qualifier));
    const DAT_CR_HANDLE cr = NextRequest(*b_);
    ASSERT_OK(Reject(cr));
    EXPECT_RETURN(Reject(cr), BadHandle(DAT_INVALID_HANDLE_CR));
    a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_PEER_REJECTED);
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_DISCONNECTED);
    a_->ExpectDto(a_->recv_evd, a_->ep, round, DAT_DTO_ERR_FLUSHED);
    // The tools disconnect after a failure. That succeeds and causes no event.
    EXPECT_OK(dat_ep_disconnect(a_->ep, DAT_CLOSE_ABRUPT_FLAG));
    ASSERT_OK(dat_ep_reset(a_->ep));
    EXPECT_EQ(StateOf(a_->ep), DAT_EP_STATE_UNCONNECTED);
  }
  EXPECT_OK(dat_psp_free(psp));
  ExpectNothingMore();
}

// The backlog is the room in the CR EVD. The provider refuses a request that finds no room.
// covers: semantics 5.8, 9.1
TEST_P(RejectTest, AFullBacklogIsANonPeerReject) {
  const DAT_EVD_HANDLE cr_evd = b_->MakeEvd(DAT_EVD_CR_FLAG, 1);
  DAT_EVD_PARAM param{};
  ASSERT_OK(dat_evd_query(cr_evd, DAT_EVD_FIELD_ALL, &param));
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create_any(b_->ia, &qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  std::vector<DAT_EP_HANDLE> eps;
  for (DAT_COUNT i = 0; i <= param.evd_qlen; ++i) {
    eps.push_back(a_->MakeEp());
    ASSERT_OK(Connect(eps.back(), qualifier));
  }
  // There is one request more than the room. Exactly one is refused, whichever came last.
  a_->Expect(a_->connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  a_->ExpectSilence(a_->connect_evd);
  for (DAT_COUNT i = 0; i < param.evd_qlen; ++i) {
    const DAT_CR_HANDLE cr =
        b_->Expect(cr_evd, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data.cr_handle;
    EXPECT_OK(Reject(cr));
    a_->Expect(a_->connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED);
  }
  EXPECT_TRUE(Side::Drain(b_->async_evd).empty()) << "no overflow event: this is the backlog rule";
  EXPECT_OK(dat_psp_free(psp));
}

// A request is refused if its event is freed with its EVD, because nobody can answer it then.
// covers: semantics 3.1, 9.2
TEST_P(RejectTest, RequestsThatNobodySawGoWithTheirEvd) {
  DAT_EVD_HANDLE cr_evd = DAT_HANDLE_NULL;
  ASSERT_OK(dat_evd_create(b_->ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &cr_evd));
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create_any(b_->ia, &qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  ASSERT_OK(Connect(a_->ep, qualifier));
  // If the threshold is not reached, nothing is taken, and nmore tells how many are there.
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  while (nmore == 0) {
    ASSERT_TRUE(Side::Drain(a_->connect_evd).empty());
    EXPECT_TYPE(dat_evd_wait(cr_evd, 1000, 2, &event, &nmore), DAT_TIMEOUT_EXPIRED);
  }
  ASSERT_OK(dat_psp_free(psp));
  ASSERT_OK(dat_evd_free(cr_evd));
  a_->ExpectConnection(a_->ep, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  // When the test ends, a graceful close of the IA finds nothing left.
}

}  // namespace
}  // namespace softdat::conformance
