// SPDX-License-Identifier: BSD-3-Clause
// Descriptors above the standard ones, with each subset of the standard ones closed.
#include "dat/base/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace softdat {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

// The standard descriptors of the set bits are closed while this object lives.
class Closed {
 public:
  explicit Closed(int subset) : subset_(subset) {
    for (int fd = 0; fd < 3; ++fd) {
      saved_[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
      if ((subset & (1 << fd)) != 0) close(fd);
    }
  }
  ~Closed() {
    for (int fd = 0; fd < 3; ++fd) {
      if ((subset_ & (1 << fd)) != 0) dup2(saved_[fd], fd);
      close(saved_[fd]);
    }
  }

 private:
  const int subset_;
  int saved_[3];
};

class DescriptorTest : public testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(ClosedSubset, DescriptorTest, testing::Range(0, 8));

TEST_P(DescriptorTest, ANewOneIsMoved) {
  int made = -1;
  bool open[3];
  {
    const Closed closed(GetParam());
    made = AboveStandard(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    for (int fd = 0; fd < 3; ++fd) open[fd] = IsOpen(fd);
  }
  EXPECT_GT(made, 2);
  EXPECT_NE(fcntl(made, F_GETFD) & FD_CLOEXEC, 0);
  for (int fd = 0; fd < 3; ++fd) EXPECT_EQ(open[fd], (GetParam() & (1 << fd)) == 0) << fd;
  close(made);
}

TEST_P(DescriptorTest, NoneIsGivenToALibrary) {
  int made[4];
  bool open[3];
  int error = 0;
  {
    const Closed closed(GetParam());
    {
      const StandardDescriptorsTaken taken;
      const StandardDescriptorsTaken nested;
      error = taken.error();
      for (int& fd : made) fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    for (int fd = 0; fd < 3; ++fd) open[fd] = IsOpen(fd);
  }
  EXPECT_EQ(error, 0);
  for (const int fd : made) {
    EXPECT_GT(fd, 2);
    close(fd);
  }
  for (int fd = 0; fd < 3; ++fd) EXPECT_EQ(open[fd], (GetParam() & (1 << fd)) == 0) << fd;
}

// A descriptor that the program puts there meanwhile stays, because it is the program's.
TEST(DescriptorOfTheProgramTest, Stays) {
  struct stat there {};
  bool open = false;
  {
    const Closed closed(1);
    {
      const StandardDescriptorsTaken taken;
      const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      dup2(null, 0);
      close(null);
    }
    open = fstat(0, &there) == 0;
    close(0);
  }
  EXPECT_TRUE(open);
  EXPECT_TRUE(S_ISCHR(there.st_mode));
}

// The child takes them, whatever a thread of the parent was doing at the moment of the fork, and
// what stood in for a closed one in the parent does not stay.
TEST(DescriptorsOfAForkedChildTest, CanBeTaken) {
  constexpr int kForks = 200;
  constexpr unsigned kPatience = 30;  // seconds
  int failed = 0;
  {
    const Closed closed(1);
    std::jthread churn([](const std::stop_token& stop) {
      while (!stop.stop_requested()) const StandardDescriptorsTaken taken;
    });
    for (int i = 0; i < kForks && failed == 0; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(kPatience);  // ends a child that waits for a lock
        const bool stayed = IsOpen(0);
        { const StandardDescriptorsTaken taken; }
        _exit(stayed || IsOpen(0) ? 1 : 0);
      }
      int status = -1;
      waitpid(child, &status, 0);
      failed = status;
    }
  }
  EXPECT_EQ(failed, 0);
}

TEST(DescriptorThatFailedTest, StaysAFailure) {
  errno = EMFILE;
  EXPECT_EQ(AboveStandard(-1), -1);
  EXPECT_EQ(errno, EMFILE);
}

}  // namespace
}  // namespace softdat
