// SPDX-License-Identifier: BSD-3-Clause
// Calls that send and receive on an AF_RDS socket reach librds.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "rds/preload/testing/preloaded.h"

extern "C" {
ssize_t __read_chk(int fd, void* data, size_t size, size_t room);
ssize_t __recv_chk(int fd, void* data, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void* data, size_t size, size_t room, int flags, sockaddr* from,
                       socklen_t* length);
}

namespace softdat::rds::testing {
namespace {

using Calls = std::vector<std::string>;

class MessagesTest : public ::testing::Test {
 protected:
  MessagesTest() : fd_(socket(AF_RDS, SOCK_SEQPACKET, 0)), fake_(*LoadedFake()) {
    // What an earlier test has left.
    while (recv(fd_, in_, sizeof in_, 0) >= 0) continue;
    fake_ = {};
  }
  ~MessagesTest() override { close(fd_); }

  void SendSome(int count) {
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(send(fd_, "abcde", static_cast<size_t>(i) + 1, 0), i + 1);
    fake_.calls.clear();
  }

  const int fd_;
  FakeLibrds& fake_;
  char in_[16] = {};
  iovec parts_[2] = {{in_, 2}, {in_ + 2, 14}};
};

// Messages of one part each, over room of their own.
struct Many {
  Many() {
    for (size_t i = 0; i < headers.size(); ++i) {
      parts[i] = {room[i].data(), room[i].size()};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
  }
  std::array<std::array<char, 4>, 4> room{};
  std::array<iovec, 4> parts{};
  std::array<mmsghdr, 4> headers{};
};

TEST_F(MessagesTest, CallsThatSend) {
  iovec parts[] = {{const_cast<char*>("ab"), 2}, {const_cast<char*>("c"), 1}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  sockaddr to{};
  EXPECT_EQ(send(fd_, "abc", 3, MSG_DONTWAIT), 3);
  EXPECT_EQ(sendto(fd_, "abc", 3, 0, &to, sizeof to), 3);
  EXPECT_EQ(sendmsg(fd_, &message, MSG_NOSIGNAL), 3);
  EXPECT_EQ(write(fd_, "abc", 3), 3);
  EXPECT_EQ(writev(fd_, parts, 2), 3);
  EXPECT_EQ(fake_.calls,
            (Calls{"send 3 64", "sendto 3 0 16", "sendmsg 2 16384", "send 3 0", "sendmsg 2 0"}));
}

TEST_F(MessagesTest, CallsThatReceive) {
  SendSome(5);
  msghdr message{};
  message.msg_iov = parts_;
  message.msg_iovlen = 2;
  sockaddr from;
  socklen_t length = sizeof from;
  EXPECT_EQ(recv(fd_, in_, 9, MSG_PEEK), 1);
  EXPECT_EQ(recvfrom(fd_, in_, 9, 0, &from, &length), 2);
  EXPECT_EQ(recvmsg(fd_, &message, MSG_DONTWAIT), 3);
  EXPECT_EQ(read(fd_, in_, 9), 4);
  EXPECT_EQ(readv(fd_, parts_, 2), 5);
  EXPECT_EQ(std::string(in_, 5), "abcde");
  EXPECT_EQ(fake_.calls,
            (Calls{"recv 9 2", "recvfrom 9 0 16", "recvmsg 2 64", "recv 9 0", "recvmsg 2 0"}));
}

TEST_F(MessagesTest, CallsOfFortifiedPrograms) {
  SendSome(3);
  EXPECT_EQ(__recv_chk(fd_, in_, 9, 16, MSG_PEEK), 1);
  EXPECT_EQ(__recvfrom_chk(fd_, in_, 9, 16, 0, nullptr, nullptr), 2);
  EXPECT_EQ(__read_chk(fd_, in_, 9, 16), 3);
  EXPECT_EQ(fake_.calls, (Calls{"recv 9 2", "recvfrom 9 0 0", "recv 9 0"}));
  EXPECT_DEATH(__read_chk(fd_, in_, 17, 16), "buffer overflow detected");
  EXPECT_DEATH(__recv_chk(fd_, in_, 17, 16, 0), "buffer overflow detected");
}

// As Linux does it for sockets.
TEST_F(MessagesTest, NothingToReadTakesNoMessage) {
  SendSome(1);
  iovec none[] = {{in_, 0}, {in_, 0}};
  EXPECT_EQ(read(fd_, in_, 0), 0);
  EXPECT_EQ(readv(fd_, none, 2), 0);
  EXPECT_EQ(readv(fd_, none, 0), 0);
  EXPECT_EQ(writev(fd_, none, 2), 0);
  EXPECT_EQ(fake_.calls, Calls());
  EXPECT_EQ(write(fd_, in_, 0), 0);
  EXPECT_EQ(recv(fd_, in_, 0, 0), 0);
  EXPECT_EQ(fake_.calls, (Calls{"send 0 0", "recv 0 0"}));
}

TEST_F(MessagesTest, TooManyParts) {
  for (const int count : {-1, 1025}) {
    EXPECT_EQ(readv(fd_, parts_, count), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(writev(fd_, parts_, count), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(fake_.calls, Calls());
}

TEST_F(MessagesTest, FailuresAreThoseOfLibrds) {
  EXPECT_EQ(recv(fd_, in_, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  fake_.next_error = ENOBUFS;
  EXPECT_EQ(write(fd_, in_, 1), -1);
  EXPECT_EQ(errno, ENOBUFS);
}

TEST_F(MessagesTest, SendsMany) {
  Many many;
  many.parts[1].iov_len = 2;
  EXPECT_EQ(sendmmsg(fd_, many.headers.data(), 3, MSG_DONTWAIT), 3);
  EXPECT_EQ(many.headers[0].msg_len, 4u);
  EXPECT_EQ(many.headers[1].msg_len, 2u);
  EXPECT_EQ(fake_.calls, Calls(3, "sendmsg 1 64"));
  EXPECT_EQ(sendmmsg(fd_, many.headers.data(), 0, 0), 0);
  fake_.next_error = EAGAIN;
  EXPECT_EQ(sendmmsg(fd_, many.headers.data(), 3, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(MessagesTest, ReceivesMany) {
  SendSome(3);
  Many many;
  EXPECT_EQ(recvmmsg(fd_, many.headers.data(), 2, 0, nullptr), 2);
  EXPECT_EQ(many.headers[0].msg_len, 1u);
  EXPECT_EQ(many.headers[1].msg_len, 2u);
  // What fails behind the first ends the call.
  EXPECT_EQ(recvmmsg(fd_, many.headers.data(), 4, MSG_DONTWAIT, nullptr), 1);
  EXPECT_EQ(recvmmsg(fd_, many.headers.data(), 4, MSG_DONTWAIT, nullptr), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(MessagesTest, ReceivesManyWaitingForOne) {
  SendSome(2);
  Many many;
  EXPECT_EQ(recvmmsg(fd_, many.headers.data(), 4, MSG_WAITFORONE, nullptr), 2);
  EXPECT_EQ(fake_.calls, (Calls{"recvmsg 1 0", "recvmsg 1 64", "recvmsg 1 64"}));
}

TEST_F(MessagesTest, ReceivesManyWithinATime) {
  SendSome(4);
  Many many;
  // The time is over after the first.
  timespec none{0, 0};
  EXPECT_EQ(recvmmsg(fd_, many.headers.data(), 2, 0, &none), 1);
  timespec hour{3600, 0};
  EXPECT_EQ(recvmmsg(fd_, many.headers.data(), 3, 0, &hour), 3);
  EXPECT_TRUE(hour.tv_sec == 3599 && hour.tv_nsec < 1'000'000'000) << hour.tv_sec;
  for (timespec bad : {timespec{-1, 0}, timespec{0, -1}, timespec{0, 1'000'000'000}}) {
    EXPECT_EQ(recvmmsg(fd_, many.headers.data(), 1, 0, &bad), -1);
    EXPECT_EQ(errno, EINVAL);
  }
}

TEST_F(MessagesTest, ProgramsAreToldToMoveFilesThemselves) {
  const int file = open("/proc/self/exe", O_RDONLY);
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const auto refused = [](ssize_t result) { return result == -1 && errno == EINVAL; };
  EXPECT_TRUE(refused(sendfile(fd_, file, nullptr, 1)));
  EXPECT_TRUE(refused(sendfile64(fd_, file, nullptr, 1)));
  EXPECT_TRUE(refused(splice(pipe_ends[0], nullptr, fd_, nullptr, 1, 0)));
  EXPECT_TRUE(refused(splice(fd_, nullptr, pipe_ends[1], nullptr, 1, 0)));
  for (const int fd : {file, pipe_ends[0], pipe_ends[1]}) close(fd);
}

// With librds loaded, the calls of other descriptors still reach libc.
TEST_F(MessagesTest, OtherSocketsAreLeftAlone) {
  int fds[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
  errno = 4711;
  EXPECT_EQ(write(fds[0], "abc", 3), 3);
  EXPECT_EQ(__recv_chk(fds[1], in_, 9, 16, 0), 3);
  EXPECT_EQ(errno, 4711);
  for (const int fd : fds) close(fd);
  EXPECT_EQ(write(-1, "abc", 3), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(fake_.calls, Calls());
}

}  // namespace
}  // namespace softdat::rds::testing

int main(int argc, char** argv) {
  return softdat::rds::testing::RunPreloaded(argc, argv, "rds/preload/testing");
}
