// SPDX-License-Identifier: BSD-3-Clause
// A program that listens has no descriptor left for a new connection. The asynchronous EVD reports
// that once, and the request comes when there are descriptors again. The test runs in a process of
// its own, whose limit nobody can raise.
#include "tests/field/few_descriptors.h"
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

void ConnectWithoutDescriptors() {
  FewDescriptors::ForbidMore();
  WarmUp();
  Ia ia;
  End active(ia);
  End passive(ia);
  client::ServicePoint psp;
  ASSERT_DAT_OK(psp.ListenAny(ia, passive.cr_evd));
  const DAT_CONN_QUAL qualifier = psp.qualifier();
  DAT_EVENT event{};
  {
    const FewDescriptors few(1);  // the requester's own socket
    ASSERT_DAT_OK(StartConnect(active.ep, ia.address(), qualifier));
    ASSERT_TRUE(Expect(ia.async_evd(), DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, &event));
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, ia.handle());
    EXPECT_EQ(event.event_data.asynch_error_event_data.reason, DAT_IA_OTHER_ERROR);
    EXPECT_DAT_TYPE(dat_evd_dequeue(passive.cr_evd, &event), DAT_QUEUE_EMPTY);
  }
  ASSERT_TRUE(AcceptNext(passive.cr_evd, passive.ep));
  EXPECT_TRUE(Expect(active.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_TRUE(Expect(passive.connect_evd, DAT_CONNECTION_EVENT_ESTABLISHED));
  EXPECT_DAT_TYPE(dat_evd_dequeue(ia.async_evd(), &event), DAT_QUEUE_EMPTY);
  EXPECT_DAT_OK(psp.Free());
}

TEST(RequestsHeldTest, AreToldOfOnceAndComeLater) {
  EXPECT_EQ(WaitForChild(StartChild([] {
              ConnectWithoutDescriptors();
              return testing::Test::HasFailure() ? 1 : 0;
            })),
            0);
}

}  // namespace
}  // namespace softdat::field
