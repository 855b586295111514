// SPDX-License-Identifier: BSD-3-Clause
// What a forked child closes.
#include "provider_softnet/driver/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace softdat::softnet {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFdTest, AForkedChildClosesWhatIsOwnedAndNothingOfTheProgram) {
  const UniqueFd owned(open("/dev/null", O_RDONLY | O_CLOEXEC));
  UniqueFd lost(open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(owned.valid() && lost.valid());
  // A daemon has closed the second one, and got its number for something of its own.
  ASSERT_EQ(close(lost.get()), 0);
  ASSERT_EQ(open("/dev/null", O_RDONLY), lost.get());
  const pid_t child = fork();
  if (child == 0) {
    CloseInheritedDescriptors();
    _exit(!IsOpen(owned.get()) && IsOpen(lost.get()) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(IsOpen(owned.get()));
}

}  // namespace
}  // namespace softdat::softnet
