// SPDX-License-Identifier: BSD-3-Clause
// What keeps an IA and a protection zone from going, and what an abrupt close leaves alone
// (semantics 3.1, 4).
#include <functional>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {
namespace {

// One more open of the IA, with nothing but its async EVD.
class IaCloseTest : public ConformanceTest {
 protected:
  void SetUp() override {
    ConformanceTest::SetUp();
    std::string name = TheOptions().ia;
    ASSERT_OK(dat_ia_open(name.data(), 8, &async_, &ia_));
  }
  void TearDown() override {
    EXPECT_OK(dat_ia_close(ia_, DAT_CLOSE_GRACEFUL_FLAG)) << "nothing is left";
    ConformanceTest::TearDown();
  }
  void ExpectRefused(const char* what) {
    EXPECT_RETURN(dat_ia_close(ia_, DAT_CLOSE_GRACEFUL_FLAG), BadState(DAT_INVALID_STATE_IA_IN_USE))
        << what << " is left";
  }

  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_ = DAT_HANDLE_NULL;
};
CONFORMANCE_FAMILIES(IaCloseTest);

// One object of each kind that needs no other object of the same open. (An LMR, RMR or SRQ needs a
// PZ, which cannot go before it. See below.)
// covers: semantics 3.1
TEST_P(IaCloseTest, OneObjectIsEnoughToRefuseAGracefulClose) {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  ASSERT_OK(dat_pz_create(ia_, &pz));
  ExpectRefused("a PZ");
  ASSERT_OK(dat_pz_free(pz));

  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_OK(dat_cno_create(ia_, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  ExpectRefused("a CNO");
  ASSERT_OK(dat_cno_free(cno));

  for (const DAT_EVD_FLAGS kind : {DAT_EVD_SOFTWARE_FLAG, DAT_EVD_CR_FLAG, DAT_EVD_DTO_FLAG,
                                   DAT_EVD_CONNECTION_FLAG, DAT_EVD_RMR_BIND_FLAG}) {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    ASSERT_OK(dat_evd_create(ia_, 8, DAT_HANDLE_NULL, kind, &evd));
    ExpectRefused("an EVD");
    ASSERT_OK(dat_evd_free(evd));
  }

  DAT_EP_ATTR nothing{};
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ep_create(ia_, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL,
                          &nothing, &ep));
  ExpectRefused("an EP");
  ASSERT_OK(dat_ep_free(ep));

  // A service point may have an EVD of another open.
  DAT_CONN_QUAL qualifier = 0;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_OK(dat_psp_create_any(ia_, &qualifier, a_->cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  ExpectRefused("a PSP");
  ASSERT_OK(dat_psp_free(psp));
}

// Each of these objects alone keeps the zone, and the zone keeps the IA.
// covers: semantics 3.1
TEST_P(IaCloseTest, APzInUseIsNotFreed) {
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  ASSERT_OK(dat_pz_create(ia_, &pz));
  const auto expect_kept = [&](const char* by) {
    EXPECT_RETURN(dat_pz_free(pz), BadState(DAT_INVALID_STATE_PZ_IN_USE)) << "by " << by;
    ExpectRefused(by);
  };
  {
    const Buffer memory(ia_, pz, 8);
    expect_kept("an LMR");
  }
  for (const auto create : kRmrCreators) {
    DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
    if (!HasWindows(ia_)) {
      EXPECT_TYPE(create(pz, &rmr), DAT_MODEL_NOT_SUPPORTED);
      continue;
    }
    ASSERT_OK(create(pz, &rmr));
    expect_kept("an RMR");
    ASSERT_OK(dat_rmr_free(rmr));
  }
  DAT_EP_ATTR nothing{};
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  ASSERT_OK(
      dat_ep_create(ia_, pz, DAT_HANDLE_NULL, DAT_HANDLE_NULL, DAT_HANDLE_NULL, &nothing, &ep));
  expect_kept("an EP");
  ASSERT_OK(dat_ep_free(ep));
  DAT_SRQ_ATTR few{};
  few.max_recv_dtos = 4;
  few.max_recv_iov = 1;
  DAT_SRQ_HANDLE srq = DAT_HANDLE_NULL;
  ASSERT_OK(dat_srq_create(ia_, pz, &few, &srq));
  expect_kept("an SRQ");
  ASSERT_OK(dat_srq_free(srq));
  ASSERT_OK(dat_pz_free(pz));
}

// covers: semantics 3.1, 4
TEST_P(IaCloseTest, ASharedAsyncEvdSurvivesTheAbruptCloseOfTheSecondOpen) {
  std::string name = TheOptions().ia;
  DAT_IA_HANDLE second = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE shared = async_;
  ASSERT_OK(dat_ia_open(name.data(), 8, &shared, &second));
  ASSERT_EQ(shared, async_);
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  ASSERT_OK(dat_pz_create(second, &pz));
  ASSERT_OK(dat_ia_close(second, DAT_CLOSE_ABRUPT_FLAG));
  EXPECT_RETURN(dat_pz_free(pz), BadHandle(DAT_INVALID_HANDLE_PZ)) << "that one was of the second";
  DAT_EVD_PARAM param{};
  ASSERT_OK(dat_evd_query(async_, DAT_EVD_FIELD_ALL, &param));
  EXPECT_EQ(param.ia_handle, ia_);
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  EXPECT_TYPE(dat_evd_wait(async_, 0, 1, &event, &nmore), DAT_TIMEOUT_EXPIRED);
  EXPECT_TYPE(dat_evd_dequeue(async_, &event), DAT_QUEUE_EMPTY);
  DAT_EVD_HANDLE seen = DAT_HANDLE_NULL;
  ASSERT_OK(dat_ia_query(ia_, &seen, 0, nullptr, 0, nullptr));
  EXPECT_EQ(seen, async_);
}

}  // namespace
}  // namespace softdat::conformance
