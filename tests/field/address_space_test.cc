// SPDX-License-Identifier: BSD-3-Clause
// A process whose address space is limited (ulimit -v). IAs open, and a call for which the space is
// too small fails with a reason.
#include <dat2/softdat.h>
#include <sys/resource.h>

#include <fstream>
#include <string>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// The process may have this much more than it has now.
void LimitAddressSpace(size_t more) {
  std::ifstream statm("/proc/self/statm");
  size_t pages = 0;
  statm >> pages;
  ASSERT_GT(pages, 0u);
  const rlimit limit = {pages * 4096 + more, RLIM_INFINITY};
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

TEST(AddressSpaceTest, AQuarterOfAGigabyteIsEnough) {
  const int child = StartChild([] {
    LimitAddressSpace(256 * kMiB);
    const Ia ia;
    const Memory memory(ia, 4096);
    End a(ia);
    End b(ia);
    EXPECT_TRUE(Join(a, b));
    EXPECT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 1));
    EXPECT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 2));
    EXPECT_TRUE(ExpectDto(b.recv_evd, 1, 8));
    EXPECT_TRUE(ExpectDto(a.request_evd, 2, 8));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WaitForChild(child), 0);
}

// A junk handle is still refused with the smaller table.
TEST(AddressSpaceTest, HandlesAreStillTold) {
  const int child = StartChild([] {
    LimitAddressSpace(256 * kMiB);
    const Ia ia;
    const End end(ia);
    const auto real = reinterpret_cast<uintptr_t>(end.ep.get());
    for (int bit = 6; bit < 47; ++bit) {
      auto* const junk = reinterpret_cast<DAT_EP_HANDLE>(real ^ (uintptr_t{1} << bit));
      EXPECT_DAT_TYPE(dat_ep_get_status(junk, nullptr, nullptr, nullptr), DAT_INVALID_HANDLE);
    }
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WaitForChild(child), 0);
}

}  // namespace
}  // namespace softdat::field
