// SPDX-License-Identifier: BSD-3-Clause
// The first service point and the first connection attempt of a process without memory fail with an
// error. They do not end the process in some library. The blocks that are left have every size in
// turn.
#include <malloc.h>

#include "tests/field/field.h"
#include "tests/field/no_memory.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

class NoMemoryFirstUse : public testing::TestWithParam<size_t> {};

INSTANTIATE_TEST_SUITE_P(BlocksLeft, NoMemoryFirstUse,
                         testing::Values(16, 64, 256, 1024, 4096, 16384, 65536));

// The exit status: 0 for a refusal for want of memory, else the type of the result.
int Verdict(DAT_RETURN ret) {
  return DAT_GET_TYPE(ret) == DAT_INSUFFICIENT_RESOURCES ? 0
         : ret == DAT_SUCCESS                            ? 1
                              : static_cast<int>(DAT_GET_TYPE(ret) >> 16);
}

TEST_P(NoMemoryFirstUse, AServicePointIsRefused) {
  EXPECT_EQ(WaitForChild(StartChild([] {
              mallopt(M_ARENA_MAX, 1);
              const Ia ia;
              const DAT_EVD_HANDLE cr_evd = ia.NewEvd(DAT_EVD_CR_FLAG);
              DAT_CONN_QUAL qualifier = 0;
              DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
              Crumbs crumbs(GetParam());
              const Limit limit(0);
              const Hoard hoard;
              crumbs.Scatter();
              _exit(Verdict(dat_psp_create_any(ia.handle(), &qualifier, cr_evd,
                                               DAT_PSP_CONSUMER_FLAG, &psp)));
              return 1;
            })),
            0);
}

TEST_P(NoMemoryFirstUse, AConnectionAttemptIsRefused) {
  EXPECT_EQ(WaitForChild(StartChild([] {
              mallopt(M_ARENA_MAX, 1);
              const Ia ia;
              const End end(ia);
              constexpr DAT_CONN_QUAL kNobody = 7999;
              Crumbs crumbs(GetParam());
              const Limit limit(0);
              const Hoard hoard;
              crumbs.Scatter();
              _exit(Verdict(StartConnect(end.ep, ia.address(), kNobody)));
              return 1;
            })),
            0);
}

}  // namespace
}  // namespace softdat::field
