// SPDX-License-Identifier: BSD-3-Clause
// Calls that make, name and set up an AF_RDS socket reach librds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/rds.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "rds/preload/testing/preloaded.h"

namespace softdat::rds::testing {
namespace {

using Calls = std::vector<std::string>;

class NamesTest : public ::testing::Test {
 protected:
  NamesTest() : fd_(socket(AF_RDS, SOCK_SEQPACKET, 0)), fake_(*LoadedFake()) {
    fake_.calls.clear();
  }
  ~NamesTest() override { close(fd_); }

  const int fd_;
  FakeLibrds& fake_;
};

TEST(Loading, IsDoneByTheFirstSocket) {
  EXPECT_FALSE(IsLoaded("librds.so"));
  const int ordinary = socket(AF_INET, SOCK_DGRAM, 0);
  EXPECT_FALSE(IsLoaded("librds.so"));
  // Two threads that make the first ones.
  int made[2] = {-1, -1};
  std::thread other([&] { made[0] = socket(AF_RDS, SOCK_SEQPACKET | SOCK_CLOEXEC, 0); });
  other.join();
  made[1] = socket(AF_RDS, SOCK_STREAM, 7);
  ASSERT_TRUE(IsLoaded("librds.so"));
  EXPECT_EQ(LoadedFake()->calls,
            (Calls{"socket 21 " + std::to_string(SOCK_SEQPACKET | SOCK_CLOEXEC) + " 0",
                   "socket 21 1 7"}));
  for (const int fd : {ordinary, made[0], made[1]}) {
    EXPECT_GE(fd, 0);
    EXPECT_EQ(close(fd), 0);
  }
}

TEST_F(NamesTest, CallsReachLibrds) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  int value = 1;
  socklen_t value_length = sizeof value;
  EXPECT_EQ(bind(fd_, name, length), 0);
  EXPECT_EQ(connect(fd_, name, length), 0);
  EXPECT_EQ(getsockname(fd_, name, &length), 0);
  EXPECT_EQ(address.sin_family, AF_INET);
  EXPECT_EQ(getpeername(fd_, name, &length), 0);
  EXPECT_EQ(setsockopt(fd_, SOL_RDS, RDS_RECVERR, &value, sizeof value), 0);
  EXPECT_EQ(getsockopt(fd_, SOL_SOCKET, SO_SNDBUF, &value, &value_length), 0);
  EXPECT_EQ(fake_.calls, (Calls{"bind 16", "connect 16", "getsockname 16", "getpeername 16",
                                "setsockopt 276 5 4", "getsockopt 1 7 4"}));
}

TEST_F(NamesTest, FailuresAreThoseOfLibrds) {
  fake_.next_error = EADDRINUSE;
  EXPECT_EQ(bind(fd_, nullptr, 16), -1);
  EXPECT_EQ(errno, EADDRINUSE);
  fake_.next_error = ENOPROTOOPT;
  EXPECT_EQ(setsockopt(fd_, SOL_RDS, 99, nullptr, 0), -1);
  EXPECT_EQ(errno, ENOPROTOOPT);
  fake_.next_error = EMFILE;
  EXPECT_EQ(socket(AF_RDS, SOCK_SEQPACKET, 0), -1);
  EXPECT_EQ(errno, EMFILE);
}

TEST_F(NamesTest, RequestsAboutTheDescriptorGoToIt) {
  int on = 1;
  EXPECT_EQ(ioctl(fd_, FIONBIO, &on), 0);
  EXPECT_NE(fcntl(fd_, F_GETFL) & O_NONBLOCK, 0);
  EXPECT_EQ(ioctl(fd_, FIOCLEX), 0);
  EXPECT_EQ(fcntl(fd_, F_GETFD), FD_CLOEXEC);
  EXPECT_EQ(ioctl(fd_, FIONCLEX), 0);
  EXPECT_EQ(fcntl(fd_, F_GETFD), 0);
  EXPECT_EQ(fake_.calls, Calls());
}

TEST_F(NamesTest, OtherRequestsGoToLibrds) {
  rds_tos_t tos = 9;
  EXPECT_EQ(ioctl(fd_, SIOCRDSSETTOS, &tos), 0);
  EXPECT_EQ(fake_.calls, Calls{"ioctl " + std::to_string(SIOCRDSSETTOS) + " 9"});
}

TEST_F(NamesTest, WhatRdsDoesNotHaveIsRefused) {
  const auto refused = [](int result) { return result == -1 && errno == EOPNOTSUPP; };
  int fds[2];
  EXPECT_TRUE(refused(listen(fd_, 1)));
  EXPECT_TRUE(refused(accept(fd_, nullptr, nullptr)));
  EXPECT_TRUE(refused(accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK)));
  EXPECT_TRUE(refused(shutdown(fd_, SHUT_RDWR)));
  EXPECT_TRUE(refused(socketpair(AF_RDS, SOCK_SEQPACKET, 0, fds)));
  EXPECT_EQ(fake_.calls, Calls());
}

TEST_F(NamesTest, TheDescriptorIsReal) {
  pollfd ready{fd_, POLLIN | POLLOUT, 0};
  EXPECT_EQ(poll(&ready, 1, 0), 1);
  EXPECT_EQ(ready.revents, POLLOUT);
}

// bind is no cancellation point, even if librds waits in it. recv is one.
TEST_F(NamesTest, OnlyCancellationPointsCanBeCancelled) {
  bool bound = false, received = false;
  std::thread thread([&] {
    pthread_cancel(pthread_self());
    bind(fd_, nullptr, 16);
    bound = true;
    char in;
    recv(fd_, &in, 1, 0);
    received = true;
  });
  thread.join();
  EXPECT_TRUE(bound);
  EXPECT_FALSE(received);
}

}  // namespace
}  // namespace softdat::rds::testing

int main(int argc, char** argv) {
  return softdat::rds::testing::RunPreloaded(argc, argv, "rds/preload/testing");
}
