// SPDX-License-Identifier: BSD-3-Clause
// RDS_INFO_* of processes that fork, and of daemons.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

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

// The descriptors of this process that RDS has beside those of the program: unix sockets with names
// of RDS.
std::set<int> OwnOfRds(int program_end) {
  std::set<std::string> links;
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string field, inode;
    for (int i = 0; i < 7; ++i) fields >> inode;
    if (fields >> field && field.starts_with("@softdat-rds/")) {
      links.insert("socket:[" + inode + "]");
    }
  }
  std::set<int> out;
  for (int fd = 3; fd < 256; ++fd) {
    char link[64] = "";
    const std::string path = "/proc/self/fd/" + std::to_string(fd);
    if (fd == program_end || readlink(path.c_str(), link, sizeof link - 1) <= 0) continue;
    if (links.contains(link)) out.insert(fd);
  }
  return out;
}

// A daemon closes descriptors that it has not opened, and uses their numbers.
TEST_F(InfoTest, AProcessThatClosesDescriptorsOfRds) {
  Process other([](int line) {
    const Rds own = Rds::Bound();
    Tell(line, own.port());
    EXPECT_EQ(Hear(line), 1u);
    const std::set<int> closed = OwnOfRds(own);
    EXPECT_GE(closed.size(), 2u) << "the end of the socket, and where others ask";
    for (const int fd : closed) close(fd);
    // Each of those numbers is a listener of the program's now.
    std::set<int> listeners;
    for (size_t i = 0; i < closed.size(); ++i) {
      const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
      listeners.insert(fd);
    }
    EXPECT_EQ(listeners, closed);
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
