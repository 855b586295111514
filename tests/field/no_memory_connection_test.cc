// SPDX-License-Identifier: BSD-3-Clause
// A connection that arrives when there is no memory for it fails, with an event at either end. The
// process goes on.
#include <malloc.h>

#include "tests/field/field.h"
#include "tests/field/no_memory.h"

namespace softdat::field {
namespace {

// An event fits into this memory, the buffers of a connection do not.
constexpr size_t kMost = 24 << 10;

TEST(NoMemoryConnection, FailsAtBothEnds) {
  // Makes all threads allocate where the limit counts.
  ASSERT_EQ(mallopt(M_ARENA_MAX, 1), 1);
  WarmUp();
  const Ia ia;
  const End again_active(ia);
  const End again_passive(ia);
  const End active(ia);
  const End passive(ia);
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia, passive.cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  DAT_EVENT at_active{};
  DAT_EVENT at_passive{};
  DAT_RETURN rets[5] = {};
  {
    Crumbs crumbs(kMost);
    const Limit limit(0);
    const Hoard hoard;
    crumbs.Scatter();
    // Macros of GoogleTest allocate, so none is used here.
    DAT_COUNT more = 0;
    DAT_EVENT request{};
    rets[0] = StartConnect(active.ep, ia.address(), qualifier);
    rets[1] = dat_evd_wait(passive.cr_evd, kPatienceUs, 1, &request, &more);
    const DAT_CR_HANDLE cr = request.event_data.cr_arrival_event_data.cr_handle;
    rets[2] = dat_cr_accept(cr, passive.ep, 0, nullptr);
    rets[3] = dat_evd_wait(passive.connect_evd, kPatienceUs, 1, &at_passive, &more);
    rets[4] = dat_evd_wait(active.connect_evd, kPatienceUs, 1, &at_active, &more);
  }
  for (int i = 0; i < 5; ++i) ASSERT_EQ(rets[i], DAT_SUCCESS) << i << ": " << Text(rets[i]);
  EXPECT_EQ(at_passive.event_number, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
  EXPECT_EQ(at_active.event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
  EXPECT_EQ(active.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_EQ(passive.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_DAT_OK(StartConnect(again_active.ep, ia.address(), qualifier));
  EXPECT_TRUE(AcceptNext(passive.cr_evd, again_passive.ep));
  EXPECT_TRUE(Expect(again_active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_TRUE(Expect(again_passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_DAT_OK(psp.Free());
}

}  // namespace
}  // namespace softdat::field
