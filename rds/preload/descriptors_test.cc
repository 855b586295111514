// SPDX-License-Identifier: BSD-3-Clause
// Calls that copy and close descriptors of AF_RDS sockets.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "rds/preload/testing/preloaded.h"

namespace softdat::rds::testing {
namespace {

using Calls = std::vector<std::string>;

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

class DescriptorsTest : public ::testing::Test {
 protected:
  DescriptorsTest() : fd_(socket(AF_RDS, SOCK_SEQPACKET, 0)), fake_(*LoadedFake()) {
    EXPECT_EQ(pipe(pipe_), 0);
    fake_ = {};
  }
  ~DescriptorsTest() override {
    for (const int fd : {fd_, pipe_[0], pipe_[1]}) close(fd);
  }

  // "duplicated 7 9" for "duplicated", 7, 9.
  static std::string Call(const std::string& name, int fd, int copy = -1) {
    return name + " " + std::to_string(fd) + (copy < 0 ? "" : " " + std::to_string(copy));
  }

  const int fd_;
  int pipe_[2] = {-1, -1};
  FakeLibrds& fake_;
};

TEST_F(DescriptorsTest, CloseIsTold) {
  EXPECT_EQ(close(fd_), 0);
  EXPECT_EQ(fake_.calls, Calls{Call("close", fd_)});
  EXPECT_EQ(close(fd_), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(DescriptorsTest, EveryCopyIsTold) {
  Calls expected;
  const int fresh = dup(fd_);
  expected.push_back(Call("duplicated", fd_, fresh));
  const int above = fcntl(fd_, F_DUPFD, 200);
  EXPECT_GE(above, 200);
  expected.push_back(Call("duplicated", fd_, above));
  const int hidden = fcntl64(fresh, F_DUPFD_CLOEXEC, 200);
  EXPECT_EQ(fcntl(hidden, F_GETFD), FD_CLOEXEC);
  expected.push_back(Call("duplicated", fresh, hidden));
  EXPECT_EQ(dup2(fd_, 300), 300);
  expected.push_back(Call("duplicated", fd_, 300));
  EXPECT_EQ(dup3(fd_, 301, O_CLOEXEC), 301);
  expected.push_back(Call("duplicated", fd_, 301));
  EXPECT_EQ(fake_.calls, expected);
  for (const int fd : {fresh, above, hidden, 300, 301}) {
    EXPECT_EQ(send(fd, "x", 1, 0), 1);
    EXPECT_EQ(close(fd), 0);
  }
}

TEST_F(DescriptorsTest, ACopyThatLibrdsRefusesIsNotMade) {
  fake_.next_error = ENOMEM;
  EXPECT_EQ(dup2(fd_, 300), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_FALSE(IsOpen(300));
}

TEST_F(DescriptorsTest, CopiesOverThemselvesAreNothing) {
  EXPECT_EQ(dup2(fd_, fd_), fd_);
  EXPECT_EQ(dup3(fd_, fd_, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(fake_.calls, Calls());
}

TEST_F(DescriptorsTest, ACopyOverASocketClosesIt) {
  EXPECT_EQ(dup2(pipe_[1], fd_), fd_);
  EXPECT_EQ(fake_.calls, Calls{Call("forget", fd_)});
  EXPECT_EQ(write(fd_, "x", 1), 1);
  char in;
  EXPECT_EQ(read(pipe_[0], &in, 1), 1);
}

TEST_F(DescriptorsTest, ASocketOverASocket) {
  const int other = socket(AF_RDS, SOCK_SEQPACKET, 0);
  fake_.calls.clear();
  EXPECT_EQ(dup3(fd_, other, O_CLOEXEC), other);
  EXPECT_EQ(fake_.calls, (Calls{Call("forget", other), Call("duplicated", fd_, other)}));
  close(other);
}

TEST_F(DescriptorsTest, ACopyOfNothingLeavesTheSocket) {
  EXPECT_EQ(dup2(999, fd_), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(dup3(pipe_[0], fd_, O_APPEND), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(dup(999), -1);
  EXPECT_EQ(fake_.calls, Calls());
}

TEST_F(DescriptorsTest, FlagsAreThoseOfTheDescriptor) {
  EXPECT_EQ(fcntl(fd_, F_SETFL, O_NONBLOCK), 0);
  EXPECT_NE(fcntl(fd_, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(fcntl(fd_, F_SETFD, FD_CLOEXEC), 0);
  EXPECT_EQ(fcntl(fd_, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fake_.calls, Calls());
}

TEST_F(DescriptorsTest, RangesCloseTheSocketsInThem) {
  ASSERT_EQ(dup2(fd_, 400), 400);
  ASSERT_EQ(dup2(pipe_[0], 401), 401);
  ASSERT_EQ(dup2(fd_, 402), 402);
  fake_.calls.clear();
  EXPECT_EQ(close_range(400, 401, 0), 0);
  EXPECT_EQ(fake_.calls, Calls{Call("forget", 400)});
  EXPECT_FALSE(IsOpen(400) || IsOpen(401));
  EXPECT_TRUE(IsOpen(402));
  closefrom(402);
  EXPECT_EQ(fake_.calls.back(), Call("forget", 402));
  EXPECT_FALSE(IsOpen(402));
  EXPECT_TRUE(IsOpen(fd_));
}

TEST_F(DescriptorsTest, RangesThatCloseNothing) {
  EXPECT_EQ(close_range(400, 399, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(close_range(static_cast<unsigned>(fd_), ~0U, 1 << 20), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(
      close_range(static_cast<unsigned>(fd_), static_cast<unsigned>(fd_), CLOSE_RANGE_CLOEXEC), 0);
  EXPECT_EQ(fcntl(fd_, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(fake_.calls, Calls());
}

// In a table of its own, which no other thread shares: not in this process.
TEST_F(DescriptorsTest, RangesInATableOfItsOwnKeepTheSockets) {
  const pid_t child = fork();
  if (child == 0) {
    const unsigned number = static_cast<unsigned>(fd_);
    const bool closed = close_range(number, number, CLOSE_RANGE_UNSHARE) == 0;
    _exit(closed && fake_.calls.empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// It has this process' memory, but a table of descriptors of its own.
TEST_F(DescriptorsTest, AChildOfVforkLeavesTheSockets) {
  const unsigned number = static_cast<unsigned>(fd_);
  const pid_t child = vfork();
  if (child == 0) {
    dup2(fd_, 500);
    dup2(pipe_[1], fd_);
    close_range(number, number, 0);
    closefrom(3);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fake_.calls, Calls());
  EXPECT_EQ(send(fd_, "x", 1, 0), 1);
}

// librds knows of fork, and so is told.
TEST_F(DescriptorsTest, AChildOfForkTellsItsLibrds) {
  const pid_t child = fork();
  if (child == 0) {
    close(fd_);
    _exit(fake_.calls == Calls{Call("close", fd_)} ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fake_.calls, Calls());
}

}  // namespace
}  // namespace softdat::rds::testing

int main(int argc, char** argv) {
  return softdat::rds::testing::RunPreloaded(argc, argv, "rds/preload/testing");
}
