// SPDX-License-Identifier: BSD-3-Clause
// Programs that the consumer starts inherit no descriptor of the library.
#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// covers: semantics 14
TEST(CloseOnExecTest, EveryDescriptor) {
  const std::set<int> before = OpenDescriptors();
  Ia ia;
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_cno_fd_create(ia.handle(), &fd, &cno));
  {
    Memory memory(ia, 4096);
    End a(ia);
    End b(ia);
    client::ServicePoint psp;
    ASSERT_DAT_OK(psp.ListenAny(ia, b.cr_evd));
    const DAT_CONN_QUAL qualifier = psp.qualifier();
    ASSERT_TRUE(Join(a, b));
    // A request that nobody has answered has a descriptor, too.
    End c(ia);
    ASSERT_DAT_OK(StartConnect(c.ep, ia.address(), qualifier));
    DAT_EVENT event{};
    ASSERT_TRUE(Expect(b.cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event));
    std::set<int> ours;
    for (const int open : OpenDescriptors()) {
      if (before.count(open) == 0) ours.insert(open);
    }
    EXPECT_TRUE(ours.count(fd) == 1);
    for (const int open : Inheritable(ours)) {
      ADD_FAILURE() << "descriptor " << open << " (" << DescriptorName(open) << ") survives exec";
    }
    EXPECT_DAT_OK(dat_cr_reject(event.event_data.cr_arrival_event_data.cr_handle, 0, nullptr));
    EXPECT_DAT_OK(psp.Free());
  }
  EXPECT_DAT_OK(dat_cno_free(cno));
}

}  // namespace
}  // namespace softdat::field
