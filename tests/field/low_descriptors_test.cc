// SPDX-License-Identifier: BSD-3-Clause
// A process whose standard descriptors are closed, like a daemon or a rank of mpiexec. The test
// tries every subset of 0, 1 and 2, each in a process of its own, since libraries keep some
// descriptors open for good. No descriptor of the library ever has one of these numbers.
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {
namespace {

class LowDescriptorsTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(ClosedSubset, LowDescriptorsTest, testing::Range(1, 8));

// Which of 0, 1 and 2 are closed now.
int ClosedNow() {
  int closed = 0;
  for (int fd = 0; fd < 3; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) closed |= 1 << fd;
  }
  return closed;
}

// Opens, listens, connects, transfers, disconnects and closes. Looks at the low descriptors at
// every step.
void UseEverything(int closed) {
  Ia ia;
  EXPECT_EQ(ClosedNow(), closed) << "after the open";
  DAT_FD fd = -1;
  DAT_CNO_HANDLE cno = DAT_HANDLE_NULL;
  ASSERT_DAT_OK(dat_cno_fd_create(ia.handle(), &fd, &cno));
  EXPECT_GT(fd, 2);
  {
    Memory memory(ia, 4096);
    End a(ia);
    End b(ia);
    ASSERT_TRUE(Join(a, b));
    EXPECT_EQ(ClosedNow(), closed) << "when connected";
    ASSERT_DAT_OK(PostReceive(b.ep, memory.Local(0, 8), 1));
    ASSERT_DAT_OK(PostSend(a.ep, memory.Local(8, 8), 2));
    ASSERT_TRUE(ExpectDto(b.recv_evd, 1, 8));
    ASSERT_TRUE(ExpectDto(a.request_evd, 2, 8));
    ASSERT_DAT_OK(dat_ep_disconnect(a.ep, DAT_CLOSE_GRACEFUL_FLAG));
    ASSERT_TRUE(Expect(a.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
    ASSERT_TRUE(Expect(b.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED));
    EXPECT_EQ(ClosedNow(), closed) << "after the disconnect";
  }
  EXPECT_DAT_OK(dat_cno_free(cno));
  EXPECT_EQ(ClosedNow(), closed) << "before the close";
}

TEST_P(LowDescriptorsTest, AreNeverOurs) {
  const int closed = GetParam();
  const int child = StartChild([closed] {
    // Failures are printed to the test's own output.
    const int output = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10);
    for (int fd = 0; fd < 3; ++fd) {
      if ((closed & (1 << fd)) != 0) close(fd);
    }
    UseEverything(closed);
    EXPECT_EQ(ClosedNow(), closed) << "after the close";
    const testing::TestResult& result =
        *testing::UnitTest::GetInstance()->current_test_info()->result();
    for (int i = 0; i < result.total_part_count(); ++i) {
      const testing::TestPartResult& part = result.GetTestPartResult(i);
      dprintf(output, "%s:%d: %s\n", part.file_name(), part.line_number(), part.message());
    }
    return testing::Test::HasFailure() ? 1 : 0;
  });
  EXPECT_EQ(WaitForChild(child), 0);
}

}  // namespace
}  // namespace softdat::field
