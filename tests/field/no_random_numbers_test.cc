// SPDX-License-Identifier: BSD-3-Clause
// A process that may not ask the kernel for random numbers, which a filter of system calls can
// forbid. No IA is opened without them, and an open one needs no more.
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

// From here on, getrandom() fails with EPERM in this process, for good.
void ForbidRandomNumbers() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {std::size(program), program};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
  uint64_t number = 0;
  ASSERT_EQ(getrandom(&number, sizeof number, 0), -1);
}

TEST(NoRandomNumbersTest, AnIaIsRefusedWithAReason) {
  const int child = StartChild([] {
    ForbidRandomNumbers();
    client::Ia ia;
    const client::Result opened = ia.Open(IaName());
    EXPECT_EQ(opened.type(), DAT_RETURN{DAT_INSUFFICIENT_RESOURCES});
    EXPECT_THAT(opened.Describe(), testing::HasSubstr("getrandom: Operation not permitted"));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WaitForChild(child), 0);
}

TEST(NoRandomNumbersTest, AnOpenIaNeedsNoMore) {
  const int child = StartChild([] {
    const Ia ia;
    ForbidRandomNumbers();
    // These are more regions than the keys that are drawn in one step.
    std::vector<std::unique_ptr<Memory>> memories;
    for (int i = 0; i < 3000 && !::testing::Test::HasFailure(); ++i)
      memories.push_back(std::make_unique<Memory>(ia, 64));
    return ::testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WaitForChild(child), 0);
}

}  // namespace
}  // namespace softdat::field
