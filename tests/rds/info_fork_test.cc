// SPDX-License-Identifier: BSD-3-Clause
// RDS_INFO_* of processes that fork, and of daemons.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "tests/rds/af_rds.h"
#include "tests/rds/info_lists.h"

namespace softdat::rds_test {
namespace {

// Its parent has a service of its own, whose name does not stay with the child.
TEST_F(InfoTest, AfterAFork) {
  if (KernelDiffers("children of fork")) GTEST_SKIP();
  uint16_t of_parent = 0;
  {
    Rds socket = Rds::Bound();
    of_parent = socket.port();
    Process child([&](int line) {
      const Rds own = Rds::Bound();
      EXPECT_TRUE(Lists(own, own.port()));
      EXPECT_TRUE(Lists(own, of_parent));
      Tell(line, own.port());
      EXPECT_EQ(Hear(line), 1u);
    });
    const auto of_child = static_cast<uint16_t>(Hear(child.line()));
    EXPECT_TRUE(Lists(socket, of_child));
    EXPECT_TRUE(Lists(socket, of_parent));
    Tell(child.line(), 1);
    child.Join();
    EXPECT_FALSE(Lists(socket, of_child));
  }
}

// A daemon closes every descriptor, those of this library with them, and uses their numbers.
TEST_F(InfoTest, AProcessThatClosesEveryDescriptor) {
  Process other([](int line) {
    const Rds own = Rds::Bound();
    Tell(line, own.port());
    EXPECT_EQ(Hear(line), 1u);
    for (int fd = 3; fd < 64; ++fd) {
      if (fd != line) close(fd);
    }
    // Each of those numbers is a listener of the program's now.
    std::vector<int> listeners;
    for (int i = 0; i < 32; ++i) {
      listeners.push_back(::socket(AF_UNIX, SOCK_STREAM, 0));
      EXPECT_EQ(listen(listeners.back(), 1) == 0 || errno == EINVAL, true);
    }
    // A child closes what it has of the library, and nothing of the program's.
    Process child([&](int) {
      for (const int fd : listeners) EXPECT_GE(fcntl(fd, F_GETFD), 0) << fd;
    });
    child.Join();
    Tell(line, 2);
    EXPECT_EQ(Hear(line), 3u);
  });
  const auto port = static_cast<uint16_t>(Hear(other.line()));
  const Rds socket = Rds::Bound();
  EXPECT_TRUE(Lists(socket, port));
  Tell(other.line(), 1);
  EXPECT_EQ(Hear(other.line()), 2u);
  EXPECT_FALSE(Lists(socket, port));
  EXPECT_TRUE(Lists(socket, socket.port()));
  Tell(other.line(), 3);
}

}  // namespace
}  // namespace softdat::rds_test
