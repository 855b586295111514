// SPDX-License-Identifier: BSD-3-Clause
// One party of a connection, as small programs have it: an IA, a PZ and memory, and only the event
// dispatchers that the test makes. It is closed abruptly at the end, as most programs do.
#ifndef SOFTDAT_TESTS_CONFORMANCE_PARTY_H_
#define SOFTDAT_TESTS_CONFORMANCE_PARTY_H_

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "tests/conformance/fixture.h"

namespace softdat::conformance {

// All kinds of events on one dispatcher. The second value is for a dispatcher for connections,
// beside one for DTOs, which every provider can do.
inline constexpr int kEveryStream = DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG;
inline constexpr int kConnections = DAT_EVD_CONNECTION_FLAG | DAT_EVD_CR_FLAG;

class Party {
 public:
  static constexpr size_t kMemory = 65'536;

  explicit Party(DAT_COUNT async_qlen = 1) {
    std::string name = TheOptions().ia;
    EXPECT_OK(dat_ia_open(name.data(), async_qlen, &async_evd, &ia));
    EXPECT_OK(dat_pz_create(ia, &pz));
    DAT_REGION_DESCRIPTION region{};
    region.for_va = memory.data();
    EXPECT_OK(CreateLmr(ia, DAT_MEM_TYPE_VIRTUAL, region, kMemory, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr,
                        &lmr_context, &rmr_context, nullptr, nullptr));
  }
  ~Party() {
    if (ia != DAT_HANDLE_NULL) {
      EXPECT_OK(Close());
    }
  }
  Party(const Party&) = delete;
  Party& operator=(const Party&) = delete;

  DAT_RETURN Close(DAT_CLOSE_FLAGS flags = DAT_CLOSE_ABRUPT_FLAG) {
    const DAT_RETURN ret = dat_ia_close(ia, flags);
    if (ret == DAT_SUCCESS) ia = DAT_HANDLE_NULL;
    return ret;
  }
  DAT_EVD_HANDLE MakeEvd(int flags, DAT_COUNT qlen, DAT_CNO_HANDLE cno = DAT_HANDLE_NULL) const {
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    EXPECT_OK(dat_evd_create(ia, qlen, cno, static_cast<DAT_EVD_FLAGS>(flags), &evd));
    return evd;
  }
  // Receives and requests on one dispatcher, as most programs have them.
  DAT_EP_HANDLE MakeEp(DAT_EVD_HANDLE dto, DAT_EVD_HANDLE connect,
                       const DAT_EP_ATTR* attr = nullptr) const {
    DAT_EP_HANDLE ep = DAT_HANDLE_NULL;
    EXPECT_OK(dat_ep_create(ia, pz, dto, dto, connect, attr, &ep));
    return ep;
  }
  DAT_PSP_HANDLE Listen(DAT_EVD_HANDLE cr, DAT_CONN_QUAL* qualifier) const {
    DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
    EXPECT_OK(dat_psp_create_any(ia, qualifier, cr, DAT_PSP_CONSUMER_FLAG, &psp));
    return psp;
  }
  DAT_LMR_TRIPLET Local(size_t offset, size_t length) const {
    DAT_LMR_TRIPLET triplet{};
    triplet.virtual_address = reinterpret_cast<uintptr_t>(memory.data()) + offset;
    triplet.segment_length = static_cast<SegmentLength>(length);
    triplet.lmr_context = lmr_context;
    return triplet;
  }
  DAT_RMR_TRIPLET Remote(size_t offset, size_t length) const {
    DAT_RMR_TRIPLET triplet{};
    AddressOf(triplet) = reinterpret_cast<uintptr_t>(memory.data()) + offset;
    triplet.segment_length = static_cast<SegmentLength>(length);
    triplet.rmr_context = rmr_context;
    return triplet;
  }

  DAT_IA_HANDLE ia = DAT_HANDLE_NULL;
  DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE pz = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr = DAT_HANDLE_NULL;
  DAT_LMR_CONTEXT lmr_context = 0;
  DAT_RMR_CONTEXT rmr_context = 0;
  std::array<uint8_t, kMemory> memory{};
};

// The next event, which is taken by dat_evd_wait, or only by dat_evd_dequeue.
inline DAT_EVENT WaitFor(DAT_EVD_HANDLE evd) {
  DAT_EVENT event{};
  DAT_COUNT nmore = 0;
  EXPECT_OK(dat_evd_wait(evd, kPatienceUs, 1, &event, &nmore));
  return event;
}
DAT_EVENT PollFor(DAT_EVD_HANDLE evd);

// A connection between two parties, each with the EVDs that its program chose. `next` takes every
// event of it.
struct Ends {
  Party& active;
  DAT_EP_HANDLE active_ep;
  DAT_EVD_HANDLE active_connect;
  Party& passive;
  DAT_EP_HANDLE passive_ep;
  DAT_EVD_HANDLE passive_connect;
  DAT_EVD_HANDLE passive_cr;
};
using NextEvent = DAT_EVENT (*)(DAT_EVD_HANDLE);
void JoinParties(const Ends& ends, DAT_IA_ADDRESS_PTR address, NextEvent next = WaitFor);

}  // namespace softdat::conformance

#endif  // SOFTDAT_TESTS_CONFORMANCE_PARTY_H_
