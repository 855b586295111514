// SPDX-License-Identifier: BSD-3-Clause
// Sockets of a process that forks, and ports that the next process takes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(ProcessesTest, ToAPortThatMovesToAnotherProcess) {
  const Rds socket = Rds::Bound();
  uint16_t port = 0;
  for (int round = 0; round < 3; ++round) {
    Process process([&](int line) {
      const Rds own = Rds::Bound(port);
      Tell(line, own.port());
      EXPECT_EQ(Receive(own).payload, std::to_string(round));
      Tell(line, 1);
      // What was not acknowledged would be for the next one. It is, within a moment, but a busy
      // machine may take long for that.
      EXPECT_EQ(Poll(own, POLLIN, 500), 0);
    });
    port = static_cast<uint16_t>(Hear(process.line()));
    EXPECT_EQ(Send(socket, AddressOf(port), std::to_string(round)), 1);
    Hear(process.line());
  }
}

TEST(ProcessesTest, ASocketStaysWithTheProcessThatMadeIt) {
  const Rds socket = Rds::Bound();
  const uint16_t port = socket.port();
  {
    Process child([&](int) {
      const Rds own = Rds::Bound();
      EXPECT_EQ(Send(own, AddressOf(own.port()), "x"), 1);
      EXPECT_EQ(Receive(own).payload, "x");
      EXPECT_EQ(Send(own, AddressOf(port), "from the child"), 14);
      // Until the parent has it.
      while (Poll(own, POLLIN, 10000) == 0) continue;
    });
    const Got got = Receive(socket);
    EXPECT_EQ(got.payload, "from the child");
    EXPECT_EQ(Send(socket, got.from, "seen"), 4);
  }
  EXPECT_EQ(Send(socket, AddressOf(port), "still here"), 10);
  EXPECT_EQ(Receive(socket).payload, "still here");
}

TEST(ProcessesTest, WhatAChildDoesToItsCopiesHarmsNobody) {
  if (KernelDiffers("children of fork")) GTEST_SKIP();
  const Rds socket = Rds::Bound();
  const sockaddr_in to = AddressOf(socket.port());
  const int copy = dup(socket);
  Process child([&](int) {
    EXPECT_EQ(Send(socket, to, "x"), -EBADF);
    EXPECT_EQ(dup(socket), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_EQ(dup2(socket, 300), -1);
    EXPECT_EQ(errno, EBADF);
    EXPECT_FALSE(IsOpen(300));
    EXPECT_EQ(close(socket), 0);
    EXPECT_FALSE(IsOpen(socket));
    EXPECT_EQ(close(copy), 0);
    EXPECT_EQ(close(copy), -1);
    // The numbers are good for sockets of the child's own. Smaller ones may be free by now: a
    // thread of the parent may have had one for a moment when its socket was made.
    int filler;
    while ((filler = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0 && filler < socket) {
    }
    close(filler);
    const Rds own = Rds::Bound();
    EXPECT_EQ(own, socket);
    EXPECT_EQ(dup2(own, copy), copy);
    EXPECT_EQ(Send(copy, AddressOf(own.port()), "own"), 3);
    EXPECT_EQ(Receive(own).payload, "own");
    close(copy);
  });
  child.Join();
  EXPECT_EQ(Send(copy, to, "x"), 1);
  EXPECT_EQ(Receive(socket).payload, "x");
  EXPECT_EQ(close(copy), 0);
  EXPECT_EQ(Send(socket, to, "y"), 1);
  EXPECT_EQ(Receive(socket).payload, "y");
}

}  // namespace
}  // namespace softdat::rds_test
