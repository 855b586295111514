// SPDX-License-Identifier: BSD-3-Clause
// Names of sockets: bind, connect, getsockname, getpeername, and who may have which.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tests/rds/af_rds.h"

namespace softdat::rds_test {
namespace {

int Bind(int fd, const sockaddr_in& name, socklen_t length = sizeof(sockaddr_in)) {
  return bind(fd, reinterpret_cast<const sockaddr*>(&name), length) == 0 ? 0 : errno;
}
int Connect(int fd, const sockaddr_in& name, socklen_t length = sizeof(sockaddr_in)) {
  return connect(fd, reinterpret_cast<const sockaddr*>(&name), length) == 0 ? 0 : errno;
}
sockaddr_in Of(const char* address, uint16_t port) {
  sockaddr_in out = AddressOf(port);
  inet_pton(AF_INET, address, &out.sin_addr);
  return out;
}

TEST(NamesTest, SocketsThatThereAreNot) {
  const auto make = [](int type, int protocol) {
    const int fd = socket(AF_RDS, type, protocol);
    return fd < 0 ? errno : close(fd);
  };
  EXPECT_EQ(make(SOCK_SEQPACKET, 0), 0);
  EXPECT_EQ(make(SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), 0);
  EXPECT_EQ(make(SOCK_STREAM, 0), ESOCKTNOSUPPORT);
  EXPECT_EQ(make(SOCK_DGRAM, 0), ESOCKTNOSUPPORT);
  EXPECT_EQ(make(SOCK_SEQPACKET, 1), ESOCKTNOSUPPORT);
}

TEST(NamesTest, NamesThatCannotBeBound) {
  const Rds socket;
  EXPECT_EQ(Bind(socket, AddressOf(0), sizeof(sockaddr_in) - 1), EINVAL);
  sockaddr_in wrong = AddressOf(0);
  wrong.sin_family = AF_UNIX;
  EXPECT_EQ(Bind(socket, wrong), EINVAL);
  EXPECT_EQ(Bind(socket, Of("0.0.0.0", 0)), EINVAL);
  EXPECT_EQ(Bind(socket, Of("255.255.255.255", 0)), EINVAL);
  EXPECT_EQ(Bind(socket, Of("224.0.0.1", 0)), EINVAL);
  EXPECT_EQ(Bind(socket, AddressOf(1)), EINVAL);
  EXPECT_EQ(Bind(socket, Of("192.0.2.1", 0)), EADDRNOTAVAIL);
  EXPECT_EQ(Bind(socket, AddressOf(0)), 0);
  EXPECT_EQ(Bind(socket, AddressOf(0)), EINVAL);
}

TEST(NamesTest, APortIsOneSocketsOnly) {
  Rds first = Rds::Bound();
  const uint16_t port = first.port();
  EXPECT_GE(port, 2);
  const Rds second;
  const int on = 1;
  setsockopt(second, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  EXPECT_EQ(Bind(second, AddressOf(port)), EADDRINUSE);
  first.Close();
  EXPECT_EQ(Bind(second, AddressOf(port)), 0);
}

TEST(NamesTest, APortOfAnotherProcessIsTakenUntilThatEnds) {
  Process other([](int line) {
    const Rds socket = Rds::Bound();
    Tell(line, socket.port());
    Hear(line);
  });
  const auto port = static_cast<uint16_t>(Hear(other.line()));
  const Rds socket;
  EXPECT_EQ(Bind(socket, AddressOf(port)), EADDRINUSE);
  other.Kill();
  EXPECT_EQ(Bind(socket, AddressOf(port)), 0);
}

TEST(NamesTest, WhatAnUnboundSocketIsCalled) {
  const Rds socket;
  sockaddr_in name{};
  socklen_t length = sizeof name;
  ASSERT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&name), &length), 0);
  EXPECT_EQ(length, sizeof name);
  EXPECT_EQ(name.sin_family, AF_UNSPEC);
  length = sizeof name;
  EXPECT_EQ(getpeername(socket, reinterpret_cast<sockaddr*>(&name), &length), -1);
  EXPECT_EQ(errno, ENOTCONN);
  ASSERT_EQ(Connect(socket, AddressOf(4000)), 0);
  length = sizeof name;
  ASSERT_EQ(getsockname(socket, reinterpret_cast<sockaddr*>(&name), &length), 0);
  EXPECT_EQ(name.sin_family, AF_INET);
  EXPECT_EQ(name.sin_port, 0);
  length = sizeof name;
  ASSERT_EQ(getpeername(socket, reinterpret_cast<sockaddr*>(&name), &length), 0);
  EXPECT_EQ(ntohs(name.sin_port), 4000);
}

TEST(NamesTest, ConnectingSetsWhereSendsGo) {
  const Rds socket = Rds::Bound(), one = Rds::Bound(), two = Rds::Bound();
  EXPECT_EQ(Send(socket, std::nullopt, "x"), -ENOTCONN);
  EXPECT_EQ(Connect(socket, Of("0.0.0.0", 1)), EDESTADDRREQ);
  EXPECT_EQ(Connect(socket, Of("224.0.0.1", 1)), EINVAL);
  EXPECT_EQ(Connect(socket, AddressOf(1), 8), EINVAL);
  sockaddr_in none{};
  EXPECT_EQ(Connect(socket, none), EAFNOSUPPORT);
  for (const Rds* to : {&one, &two, &one}) {
    EXPECT_EQ(Connect(socket, AddressOf(to->port())), 0);
    EXPECT_EQ(Send(socket, std::nullopt, "x"), 1);
    EXPECT_EQ(Receive(*to).port(), socket.port());
  }
  // A name goes before it, and nothing is kept from others.
  EXPECT_EQ(Send(socket, AddressOf(two.port()), "x"), 1);
  EXPECT_EQ(Receive(two).payload, "x");
  EXPECT_EQ(Send(two, AddressOf(socket.port()), "y"), 1);
  EXPECT_EQ(Receive(socket).payload, "y");
}

TEST(NamesTest, CallsThatRdsSocketsDoNotHave) {
  const Rds socket = Rds::Bound();
  const auto refused = [](int result) { return result < 0 ? errno : 0; };
  EXPECT_EQ(refused(listen(socket, 1)), EOPNOTSUPP);
  EXPECT_EQ(refused(accept(socket, nullptr, nullptr)), EOPNOTSUPP);
  EXPECT_EQ(refused(shutdown(socket, SHUT_WR)), EOPNOTSUPP);
  int pair[2];
  EXPECT_EQ(refused(socketpair(AF_RDS, SOCK_SEQPACKET, 0, pair)), EOPNOTSUPP);
}

}  // namespace
}  // namespace softdat::rds_test
