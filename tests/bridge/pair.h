// SPDX-License-Identifier: BSD-3-Clause
// Two connected end points of one program of uDAPL 1.2, with memory and an EVD for each kind of
// event, because not every provider merges them.
#ifndef SOFTDAT_TESTS_BRIDGE_PAIR_H_
#define SOFTDAT_TESTS_BRIDGE_PAIR_H_

#include <dat/udat.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace softdat::bridge_test {

inline constexpr DAT_TIMEOUT kPatienceUs = 30'000'000;

#define EXPECT_DAT(call) EXPECT_EQ((call), DAT_RETURN{DAT_SUCCESS})

inline DAT_RETURN Failure(uint32_t type, uint32_t subtype) {
  return DAT_CLASS_ERROR | type | subtype;
}

inline std::string IaName() {
  const char* name = std::getenv("SOFTDAT_TEST_IA");
  return name != nullptr ? name : "softnet-lo";
}

class OpenIa : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = IaName();
    ASSERT_EQ(dat_ia_open(name.data(), 8, &async_, &ia_), DAT_RETURN{DAT_SUCCESS});
    ASSERT_EQ(dat_pz_create(ia_, &pz_), DAT_RETURN{DAT_SUCCESS});
  }
  void TearDown() override { EXPECT_DAT(dat_ia_close(ia_, DAT_CLOSE_ABRUPT_FLAG)); }

  DAT_EVD_HANDLE MakeEvd(DAT_CNO_HANDLE cno = DAT_HANDLE_NULL,
                         int flags = DAT_EVD_DEFAULT_FLAG & ~DAT_EVD_ASYNC_FLAG) {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    EXPECT_DAT(dat_evd_create(ia_, 64, cno, static_cast<DAT_EVD_FLAGS>(flags), &evd));
    return evd;
  }

  DAT_EVD_HANDLE async_ = DAT_HANDLE_NULL;
  DAT_IA_HANDLE ia_ = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz_ = DAT_HANDLE_NULL;
};

class ConnectedPair : public OpenIa {
 protected:
  static constexpr size_t kBytes = 4096;

  void SetUp() override {
    OpenIa::SetUp();
    evd_ = MakeEvd(DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG);
    request_evd_ = MakeEvd(DAT_HANDLE_NULL, DAT_EVD_CR_FLAG);
    connect_evd_ = MakeEvd(DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG);
    DAT_REGION_DESCRIPTION region;
    region.for_va = bytes_.data();
    DAT_VLEN size = 0;
    DAT_VADDR address = 0;
    EXPECT_DAT(dat_lmr_create(ia_, DAT_MEM_TYPE_VIRTUAL, region, kBytes, pz_, DAT_MEM_PRIV_ALL_FLAG,
                              &lmr_, &lmr_context_, &rmr_context_, &size, &address));
    EXPECT_DAT(dat_ep_create(ia_, pz_, evd_, evd_, connect_evd_, nullptr, &passive_));
    EXPECT_DAT(dat_ep_create(ia_, pz_, evd_, evd_, connect_evd_, nullptr, &active_));
    DAT_CONN_QUAL qualifier = 0;
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_DAT(dat_psp_create_any(ia_, &qualifier, request_evd_, DAT_PSP_CONSUMER_FLAG, &psp));
    DAT_IA_ATTR attributes;
    EXPECT_DAT(dat_ia_query(ia_, nullptr, DAT_IA_FIELD_IA_ADDRESS_PTR, &attributes, 0, nullptr));
    char greeting[] = "from 1.2";
    EXPECT_DAT(dat_ep_connect(active_, attributes.ia_address_ptr, qualifier, kPatienceUs,
                              sizeof(greeting), greeting, DAT_QOS_BEST_EFFORT,
                              DAT_CONNECT_DEFAULT_FLAG));
    const DAT_EVENT request = Next(DAT_CONNECTION_REQUEST_EVENT);
    const DAT_CR_ARRIVAL_EVENT_DATA& arrival = request.event_data.cr_arrival_event_data;
    EXPECT_EQ(arrival.sp_handle.psp_handle, psp);
    EXPECT_EQ(arrival.conn_qual, qualifier);
    DAT_CR_PARAM param;
    EXPECT_DAT(dat_cr_query(arrival.cr_handle, DAT_CR_FIELD_ALL, &param));
    EXPECT_STREQ(static_cast<const char*>(param.private_data), greeting);
    EXPECT_DAT(dat_cr_accept(arrival.cr_handle, passive_, 0, nullptr));
    for (int i = 0; i < 2; ++i) {
      const DAT_EVENT established = Next(DAT_CONNECTION_EVENT_ESTABLISHED);
      const DAT_EP_HANDLE ep = established.event_data.connect_event_data.ep_handle;
      EXPECT_TRUE(ep == passive_ || ep == active_);
    }
    EXPECT_DAT(dat_psp_free(psp));
  }

  // The next event of the EVD for this kind of event.
  DAT_EVENT Next(DAT_EVENT_NUMBER wanted) {
    const bool connection =
        wanted >= DAT_CONNECTION_EVENT_ESTABLISHED && wanted <= DAT_CONNECTION_EVENT_UNREACHABLE;
    const DAT_EVD_HANDLE evd = connection                               ? connect_evd_
                               : wanted == DAT_CONNECTION_REQUEST_EVENT ? request_evd_
                                                                        : evd_;
    DAT_EVENT event;
    std::memset(&event, 0, sizeof(event));
    DAT_COUNT more = 0;
    EXPECT_DAT(dat_evd_wait(evd, kPatienceUs, 1, &event, &more));
    EXPECT_EQ(event.event_number, wanted);
    EXPECT_EQ(event.evd_handle, evd);
    return event;
  }
  // Disconnects both ends.
  void Part() {
    EXPECT_DAT(dat_ep_disconnect(active_, DAT_CLOSE_ABRUPT_FLAG));
    for (int ends = 0; ends < 2; ++ends) Next(DAT_CONNECTION_EVENT_DISCONNECTED);
  }

  // The completion with this cookie. The two completions may come in any order.
  DAT_DTO_COMPLETION_EVENT_DATA Completion(uint64_t cookie) {
    for (size_t i = 0;; ++i) {
      if (i == completions_.size()) {
        const DAT_EVENT event = Next(DAT_DTO_COMPLETION_EVENT);
        completions_.push_back(event.event_data.dto_completion_event_data);
        if (testing::Test::HasFailure()) return {};
      }
      if (completions_[i].user_cookie.as_64 != cookie) continue;
      const DAT_DTO_COMPLETION_EVENT_DATA found = completions_[i];
      completions_.erase(completions_.begin() + static_cast<ptrdiff_t>(i));
      return found;
    }
  }

  DAT_LMR_TRIPLET Local(size_t offset, DAT_VLEN size) {
    return {lmr_context_, 0, reinterpret_cast<uintptr_t>(bytes_.data()) + offset, size};
  }
  DAT_RMR_TRIPLET Remote(DAT_RMR_CONTEXT context, size_t offset, DAT_VLEN size) {
    return {context, 0, reinterpret_cast<uintptr_t>(bytes_.data()) + offset, size};
  }
  static DAT_DTO_COOKIE Cookie(uint64_t value) {
    DAT_DTO_COOKIE cookie;
    cookie.as_64 = value;
    return cookie;
  }

  std::vector<char> bytes_ = std::vector<char>(kBytes);
  DAT_EVD_HANDLE evd_ = DAT_HANDLE_NULL;  // work
  DAT_EVD_HANDLE request_evd_ = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE connect_evd_ = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr_ = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context_ = 0;
  DAT_RMR_CONTEXT rmr_context_ = 0;
  DAT_EP_HANDLE passive_ = DAT_HANDLE_NULL;
  DAT_EP_HANDLE active_ = DAT_HANDLE_NULL;
  std::vector<DAT_DTO_COMPLETION_EVENT_DATA> completions_;
};

}  // namespace softdat::bridge_test

#endif  // SOFTDAT_TESTS_BRIDGE_PAIR_H_
