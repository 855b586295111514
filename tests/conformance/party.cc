// SPDX-License-Identifier: BSD-3-Clause
// Events and connections of small programs.
#include "tests/conformance/party.h"

#include <sched.h>

#include <chrono>

namespace softdat::conformance {

DAT_EVENT PollFor(DAT_EVD_HANDLE evd) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::microseconds(kPatienceUs);
  DAT_EVENT event{};
  DAT_RETURN ret = dat_evd_dequeue(evd, &event);
  while (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY && std::chrono::steady_clock::now() < deadline) {
    sched_yield();
    ret = dat_evd_dequeue(evd, &event);
  }
  EXPECT_OK(ret);
  return event;
}

void JoinParties(const Ends& ends, DAT_IA_ADDRESS_PTR address, NextEvent next) {
  DAT_CONN_QUAL qualifier = 0;
  const DAT_PSP_HANDLE psp = ends.passive.Listen(ends.passive_cr, &qualifier);
  ASSERT_OK(dat_ep_connect(ends.active_ep, address, qualifier, DAT_TIMEOUT_INFINITE, 0, nullptr,
                           DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  const DAT_EVENT request = next(ends.passive_cr);
  ASSERT_EQ(request.event_number, DAT_CONNECTION_REQUEST_EVENT);
  ASSERT_OK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, ends.passive_ep, 0,
                          nullptr));
  EXPECT_EQ(next(ends.active_connect).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_EQ(next(ends.passive_connect).event_number, DAT_CONNECTION_EVENT_ESTABLISHED);
  EXPECT_OK(dat_psp_free(psp));
}

}  // namespace softdat::conformance
