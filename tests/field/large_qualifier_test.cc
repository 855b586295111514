// SPDX-License-Identifier: BSD-3-Clause
// Connection qualifiers as programs choose them: process ids, addresses of variables, hashes. They
// are 64 bits wide, whatever the transport's ports are (DAT 2.0 semantics 9.1).
#include <unistd.h>

#include <cstdint>
#include <map>
#include <vector>

#include "tests/field/field.h"

namespace softdat::field {
namespace {

// Connects to each qualifier in turn and checks that the request arrived at its own service point.
void ConnectToEach(const Ia& ia, const std::vector<DAT_CONN_QUAL>& qualifiers) {
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
  std::map<DAT_CONN_QUAL, DAT_PSP_HANDLE> psps;
  for (const DAT_CONN_QUAL qualifier : qualifiers) {
    ASSERT_DAT_OK(
        dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psps[qualifier]));
  }
  for (const DAT_CONN_QUAL qualifier : qualifiers) {
    SCOPED_TRACE("qualifier " + std::to_string(qualifier));
    End active(ia);
    End passive(ia);
    ASSERT_DAT_OK(StartConnect(active.ep, ia.address(), qualifier));
    DAT_EVENT event{};
    ASSERT_TRUE(Expect(cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event));
    const DAT_CR_ARRIVAL_EVENT_DATA& request = event.event_data.cr_arrival_event_data;
    EXPECT_EQ(request.conn_qual, qualifier);
    EXPECT_EQ(request.sp_handle.psp_handle, psps[qualifier]);
    ASSERT_DAT_OK(dat_cr_accept(request.cr_handle, passive.ep, 0, nullptr));
    EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
    EXPECT_TRUE(Expect(passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  }
  for (const auto& [qualifier, psp] : psps) EXPECT_DAT_OK(dat_psp_free(psp));
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

TEST(LargeQualifierTest, ProcessIds) {
  Ia ia;
  const auto pid = static_cast<DAT_CONN_QUAL>(getpid());
  // What launchers do: a base, a job number, and the process ids of the ranks.
  ConnectToEach(ia, {pid * 65536 + 70000, pid * 65536 + 70001, 4'194'304 * pid, 0x0AFFAB1E});
}

TEST(LargeQualifierTest, AllSixtyFourBits) {
  Ia ia;
  static int variable;
  ConnectToEach(ia, {reinterpret_cast<uintptr_t>(&variable), UINT64_MAX, UINT64_MAX - 1,
                     uint64_t{1} << 63, uint64_t{1} << 32, (uint64_t{1} << 32) + 1});
}

// Several that a fold to 16 bits takes for one, whichever way it folds: they share a port and are
// told apart by their full value.
TEST(LargeQualifierTest, SeveralThatFoldToOnePort) {
  Ia ia;
  const DAT_CONN_QUAL base = (static_cast<DAT_CONN_QUAL>(getpid()) << 24) + 70777;
  for (const DAT_CONN_QUAL modulus : {65536, 65535, 64512, 64511}) {
    ConnectToEach(ia, {base, base + modulus, base + 2 * modulus, base + 1000 * modulus});
  }
}

TEST(LargeQualifierTest, EqualHalves) {
  Ia ia;
  // Sums, differences and exclusive-ors of the halves coincide.
  ConnectToEach(ia, {0x0001'0002'0003'0004, 0x0004'0003'0002'0001, 0x0002'0001'0004'0003,
                     0x0003'0004'0001'0002});
}

// Nobody listens on a neighbour, and on the same low bits: refused, not misdelivered.
TEST(LargeQualifierTest, ANeighbourIsRefused) {
  Ia ia;
  End active(ia);
  const DAT_CONN_QUAL qualifier = (static_cast<DAT_CONN_QUAL>(getpid()) << 24) + 70123;
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
  DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &psp));
  for (const DAT_CONN_QUAL other : {qualifier + 65536, qualifier + (uint64_t{1} << 32)}) {
    ASSERT_DAT_OK(StartConnect(active.ep, ia.address(), other));
    EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_NON_PEER_REJECTED));
    ASSERT_DAT_OK(dat_ep_reset(active.ep));
  }
  DAT_EVENT event{};
  EXPECT_DAT_TYPE(dat_evd_dequeue(cr_evd, &event), DAT_QUEUE_EMPTY);
  EXPECT_DAT_OK(dat_psp_free(psp));
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

TEST(LargeQualifierTest, TakenTwice) {
  Ia ia;
  const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
  const DAT_CONN_QUAL qualifier = (static_cast<DAT_CONN_QUAL>(getpid()) << 24) + 71000;
  DAT_PSP_HANDLE first = DAT_HANDLE_NULL;
  DAT_PSP_HANDLE second = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &first));
  EXPECT_DAT_TYPE(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &second),
                  DAT_CONN_QUAL_IN_USE);
  EXPECT_DAT_OK(dat_psp_free(first));
  ASSERT_DAT_OK(dat_psp_create(ia.handle(), qualifier, cr_evd, DAT_PSP_CONSUMER_FLAG, &second));
  EXPECT_DAT_OK(dat_psp_free(second));
  EXPECT_DAT_OK(dat_evd_free(cr_evd));
}

}  // namespace
}  // namespace softdat::field
