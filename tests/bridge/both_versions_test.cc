// SPDX-License-Identifier: BSD-3-Clause
// A program of uDAPL 2.0 with a library that is itself a program of 1.2. The functions of both
// versions have the same names, and each call must reach its own version.
#include <dat2/udat.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "tests/bridge/library_of_12.h"

namespace softdat::bridge_test {
namespace {

constexpr DAT_TIMEOUT kPatienceUs = 60'000'000;

#define ASSERT_DAT(call) ASSERT_EQ((call), DAT_RETURN{DAT_SUCCESS})

// covers: semantics 18
TEST(BothVersionsTest, TalkToEachOtherInOneProcess) {
  char name[] = "softnet-lo";
  static char buffer[64];
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT context = 0;
  DAT_CONN_QUAL qualifier = 0;
  ASSERT_DAT(dat_ia_open(name, 8, &async_evd, &ia));
  ASSERT_DAT(dat_pz_create(ia, &pz));
  ASSERT_DAT(dat_evd_create(
      ia, 8, DAT_HANDLE_NULL,
      static_cast<DAT_EVD_FLAGS>(DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG | DAT_EVD_DTO_FLAG),
      &evd));
  DAT_REGION_DESCRIPTION region;
  region.for_va = buffer;
  ASSERT_DAT(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof(buffer), pz,
                            DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &context, nullptr, nullptr,
                            nullptr));
  ASSERT_DAT(dat_ep_create(ia, pz, evd, evd, evd, nullptr, &ep));
  DAT_LMR_TRIPLET sink = {};
  sink.virtual_address = reinterpret_cast<uintptr_t>(buffer);
  sink.segment_length = sizeof(buffer);
  sink.lmr_context = context;
  DAT_DTO_COOKIE cookie;
  cookie.as_64 = 2;
  ASSERT_DAT(dat_ep_post_recv(ep, 1, &sink, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  ASSERT_DAT(dat_psp_create_any(ia, &qualifier, evd, DAT_PSP_CONSUMER_FLAG, &psp));

  const char* wrong = nullptr;
  std::thread of_12([&] { wrong = send_by_12(name, qualifier, "from 1.2 to 2.0", pz); });
  bool received = false;
  bool disconnected = false;
  while (!disconnected) {
    DAT_EVENT event;
    DAT_COUNT more = 0;
    const DAT_RETURN waited = dat_evd_wait(evd, kPatienceUs, 1, &event, &more);
    EXPECT_EQ(waited, DAT_RETURN{DAT_SUCCESS});
    if (waited != DAT_SUCCESS) break;
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      EXPECT_EQ(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, 0, nullptr),
                DAT_RETURN{DAT_SUCCESS});
    } else if (event.event_number == DAT_DTO_COMPLETION_EVENT) {
      EXPECT_EQ(event.event_data.dto_completion_event_data.status, DAT_DTO_SUCCESS);
      EXPECT_EQ(event.event_data.dto_completion_event_data.user_cookie.as_64, 2u);
      EXPECT_STREQ(buffer, "from 1.2 to 2.0");
      received = true;
    }
    disconnected = event.event_number == DAT_CONNECTION_EVENT_DISCONNECTED;
  }
  of_12.join();
  EXPECT_STREQ(wrong, nullptr);
  EXPECT_TRUE(received);
  ASSERT_DAT(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG));
}

}  // namespace
}  // namespace softdat::bridge_test
