// SPDX-License-Identifier: BSD-3-Clause
// Several descriptors of one socket.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

int BindTo(int fd, uint16_t port) {
  const sockaddr_in name = AddressOf(port);
  return bind(fd, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0 ? 0 : errno;
}

TEST(DuplicatesTest, TheSocketEndsWithItsLastDescriptor) {
  Rds socket = Rds::Bound();
  const uint16_t port = socket.port();
  const int copies[] = {dup(socket), fcntl(socket, F_DUPFD, 100), dup2(socket, 200),
                        dup3(socket, 201, O_CLOEXEC)};
  socket.Close();
  const Rds other;
  for (const int copy : copies) {
    ASSERT_GE(copy, 0);
    EXPECT_EQ(BindTo(other, port), EADDRINUSE);
    EXPECT_EQ(Send(copy, AddressOf(port), "x"), 1);
    EXPECT_EQ(Receive(copy).payload, "x");
    EXPECT_EQ(close(copy), 0);
  }
  EXPECT_EQ(BindTo(other, port), 0);
}

TEST(DuplicatesTest, AMessageGoesToOneReader) {
  const Rds socket = Rds::Bound();
  const sockaddr_in to = AddressOf(socket.port());
  const int copy = dup(socket);
  Send(socket, to, "1");
  Send(copy, to, "2");
  EXPECT_EQ(Poll(socket, POLLIN, 10000), POLLIN);
  EXPECT_EQ(Poll(copy, POLLIN, 10000), POLLIN);
  EXPECT_EQ(Receive(copy).payload, "1");
  EXPECT_EQ(Receive(socket).payload, "2");
  EXPECT_EQ(Poll(copy, POLLIN), 0);
  close(copy);
}

TEST(DuplicatesTest, ACopyTakesThePlaceOfAnotherSocket) {
  const Rds socket = Rds::Bound();
  Rds replaced = Rds::Bound();
  const uint16_t port = replaced.port();
  EXPECT_EQ(dup2(socket, replaced), replaced);
  const Rds next;
  EXPECT_EQ(BindTo(next, port), 0);
  EXPECT_EQ(replaced.port(), socket.port());
  // Whatever is no descriptor changes nothing.
  EXPECT_EQ(dup2(-1, replaced), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(Send(replaced, AddressOf(socket.port()), "x"), 1);
  EXPECT_EQ(Receive(socket).payload, "x");
}

}  // namespace
}  // namespace softdat::rds_test
