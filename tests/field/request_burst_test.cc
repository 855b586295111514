// SPDX-License-Identifier: BSD-3-Clause
// Many requests at once for a program that looks seldom.
#include <chrono>
#include <deque>
#include <thread>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

constexpr int kRequests = 16;
// The provider looks at all its sockets at least once in 64 polls.
constexpr int kPollsOfALook = 64;

// Some looks bring them all. One request for each look would take kRequests looks.
TEST(RequestBurstTest, IsThereAfterAFewLooks) {
  Ia active_ia;
  Ia passive_ia;
  End passive(passive_ia);
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(passive_ia, passive.cr_evd));
  std::deque<End> active;
  for (int i = 0; i < kRequests; ++i) {
    active.emplace_back(active_ia);
    ASSERT_DAT_OK(StartConnect(active.back().ep, passive_ia.address(), psp.qualifier()));
  }
  int polls = 0;
  for (int requests = 0; requests < kRequests && polls < 10'000; ++polls) {
    DAT_EVENT event{};
    if (dat_evd_dequeue(passive.cr_evd, &event) == DAT_SUCCESS) {
      ASSERT_EQ(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
      EXPECT_DAT_OK(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr));
      ++requests;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(1));  // some 60 us, with the kernel's own
  }
  EXPECT_LE(polls, 6 * kPollsOfALook + kRequests);
  for (End& end : active) EXPECT_TRUE(Expect(end.connect_evd, DAT_CONNECTION_EVENT_PEER_REJECTED));
  EXPECT_DAT_OK(psp.Free());
}

}  // namespace
}  // namespace softdat::field
