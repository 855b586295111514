// SPDX-License-Identifier: BSD-3-Clause
#include "dat/base/process_wide.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace softdat {
namespace {

struct Value {
  int value = 1;
};

TEST(ProcessWide, IsOneObject) {
  static constinit ProcessWide<Value> wide;
  wide.Get().value = 2;
  EXPECT_EQ(wide.Get().value, 2);
  wide.AbandonAfterFork();  // not in a child
  EXPECT_EQ(wide.Get().value, 2);
}

TEST(ProcessWide, AChildBeginsAnew) {
  static constinit ProcessWide<Value> used, unused;
  used.Get().value = 2;
  const pid_t child = fork();
  if (child == 0) {
    used.AbandonAfterFork();
    used.AbandonAfterFork();  // each user of it does so
    unused.AbandonAfterFork();
    const bool anew = used.Get().value == 1 && unused.Get().value == 1;
    used.Get().value = 3;
    used.AbandonAfterFork();
    _exit(anew && used.Get().value == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(used.Get().value, 2);
}

}  // namespace
}  // namespace softdat
