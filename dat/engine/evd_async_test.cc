// SPDX-License-Identifier: BSD-3-Clause
// The async EVD when it is full itself (semantics 5.8).
#include <gtest/gtest.h>

#include <vector>

#include "dat/engine/testing/engine_test.h"

namespace softdat::engine::testing {
namespace {

class EvdAsyncTest : public EngineTest {
 protected:
  // Makes a new DTO EVD overflow, which is an event for the async EVD.
  DAT_EVD_HANDLE Overflow() {
    recv_evd_ = MakeEvd(DAT_EVD_DTO_FLAG);
    MakeEp();
    auto* const cq = static_cast<FakeCompletionQueue*>(adapter().last_qp().attributes.recv_cq);
    cq->sink()->OnOverflow();
    return recv_evd_;
  }
  void ExpectReports(const std::vector<DAT_EVD_HANDLE>& evds) {
    const std::vector<DAT_EVENT> events = Take(async_evd_);
    ASSERT_EQ(events.size(), evds.size());
    for (size_t i = 0; i < evds.size(); ++i) {
      EXPECT_EQ(events[i].event_number, DAT_ASYNC_ERROR_EVD_OVERFLOW);
      EXPECT_EQ(events[i].event_data.asynch_error_event_data.dat_handle, evds[i]) << i;
    }
  }
};

// covers: semantics 5.8
TEST_F(EvdAsyncTest, AFullOneKeepsWhatItHasAndGoesOn) {
  DAT_EVD_PARAM param{};
  ASSERT_EQ(slots::EvdQuery(async_evd_, DAT_EVD_FIELD_ALL, &param), DAT_SUCCESS);
  std::vector<DAT_EVD_HANDLE> reported;
  for (DAT_COUNT i = 0; i < param.evd_qlen; ++i) reported.push_back(Overflow());
  for (int i = 0; i < 3; ++i) Overflow();
  ExpectReports(reported);
  for (int round = 0; round < 2; ++round) ExpectReports({Overflow(), Overflow()});
  // It is not dead for waiting threads, either.
  const DAT_EVD_HANDLE last = Overflow();
  DAT_EVENT event{};
  DAT_COUNT nmore = -1;
  EXPECT_EQ(slots::EvdWait(async_evd_, 0, 1, &event, &nmore), DAT_SUCCESS);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, last);
  EXPECT_EQ(nmore, 0);
}

}  // namespace
}  // namespace softdat::engine::testing
