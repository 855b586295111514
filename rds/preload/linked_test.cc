// SPDX-License-Identifier: BSD-3-Clause
// A program that makes its sockets with rds_socket, and uses them with libc.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "rds/preload/testing/preloaded.h"
#include "softdat/rds.h"

namespace softdat::rds::testing {
namespace {

TEST(Linked, LibcKnowsTheSocketsOfTheProgram) {
  const int fd = rds_socket(AF_RDS, SOCK_SEQPACKET, 0);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(write(fd, "abc", 3), 3);
  char in[8];
  EXPECT_EQ(recv(fd, in, sizeof in, 0), 3);
  EXPECT_EQ(close(fd), 0);
  EXPECT_EQ(fake_librds()->calls, (std::vector<std::string>{"socket 21 5 0", "send 3 0", "recv 8 0",
                                                            "close " + std::to_string(fd)}));
}

TEST(Linked, SocketsOfLibcAreOfTheSameLibrary) {
  fake_librds()->calls.clear();
  const int fd = socket(AF_RDS, SOCK_SEQPACKET, 0);
  EXPECT_EQ(fake_librds()->calls.size(), 1u);
  EXPECT_EQ(rds_is_socket(fd), 1);
  EXPECT_EQ(rds_close(fd), 0);
}

}  // namespace
}  // namespace softdat::rds::testing

int main(int argc, char** argv) {
  return softdat::rds::testing::RunPreloaded(argc, argv, "rds/preload/testing");
}
