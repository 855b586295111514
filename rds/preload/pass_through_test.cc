// SPDX-License-Identifier: BSD-3-Clause
// A program that never makes an AF_RDS socket: its calls reach libc, and librds is not even loaded.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>

#include "rds/preload/testing/preloaded.h"

namespace softdat::rds::testing {
namespace {

constexpr int kMark = 4711;  // an errno that no call sets

struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0); }
  ~Pair() {
    close(fds[0]);
    close(fds[1]);
  }
  int fds[2] = {-1, -1};
};

TEST(PassThrough, IsUnderThePreload) {
  EXPECT_TRUE(IsLoaded("librds_preload.so"));
  EXPECT_FALSE(IsLoaded("librds.so"));
  EXPECT_FALSE(IsLoaded("libdat2.so"));
}

// The calls of early.so have worked, or this process would not exist.
TEST(PassThrough, CallsMayComeBeforeItsConstructors) {
  const auto* const calls = static_cast<int*>(dlsym(RTLD_DEFAULT, "early_calls"));
  ASSERT_NE(calls, nullptr);
  EXPECT_GE(*calls, 1);
}

TEST(PassThrough, MessagesOfEveryCallArriveAndErrnoStays) {
  const Pair pair;
  const int a = pair.fds[0], b = pair.fds[1];
  char in[16];
  iovec out_part{const_cast<char*>("five5"), 5}, in_part{in, sizeof in};
  msghdr out_message{}, in_message{};
  out_message.msg_iov = &out_part;
  in_message.msg_iov = &in_part;
  out_message.msg_iovlen = in_message.msg_iovlen = 1;
  mmsghdr out_many{out_message, 0}, in_many{in_message, 0};
  errno = kMark;
  EXPECT_EQ(send(a, "five5", 5, 0), 5);
  EXPECT_EQ(recv(b, in, sizeof in, 0), 5);
  EXPECT_EQ(sendto(a, "five5", 5, 0, nullptr, 0), 5);
  EXPECT_EQ(recvfrom(b, in, sizeof in, 0, nullptr, nullptr), 5);
  EXPECT_EQ(sendmsg(a, &out_message, 0), 5);
  EXPECT_EQ(recvmsg(b, &in_message, 0), 5);
  EXPECT_EQ(sendmmsg(a, &out_many, 1, 0), 1);
  EXPECT_EQ(recvmmsg(b, &in_many, 1, 0, nullptr), 1);
  EXPECT_EQ(write(a, "five5", 5), 5);
  EXPECT_EQ(read(b, in, sizeof in), 5);
  EXPECT_EQ(writev(a, &out_part, 1), 5);
  EXPECT_EQ(readv(b, &in_part, 1), 5);
  EXPECT_EQ(std::string(in, 5), "five5");
  EXPECT_EQ(errno, kMark);
}

TEST(PassThrough, NamesAndOptionsAreThoseOfLibc) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  int type = 0, pending = -1;
  socklen_t type_length = sizeof type;
  errno = kMark;
  EXPECT_EQ(bind(listener, name, length), 0);
  EXPECT_EQ(listen(listener, 1), 0);
  EXPECT_EQ(getsockname(listener, name, &length), 0);
  EXPECT_EQ(connect(client, name, length), 0);
  EXPECT_EQ(getpeername(client, name, &length), 0);
  const int accepted = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  EXPECT_GE(accepted, 0);
  EXPECT_EQ(getsockopt(client, SOL_SOCKET, SO_TYPE, &type, &type_length), 0);
  EXPECT_EQ(type, SOCK_STREAM);
  EXPECT_EQ(setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &type, sizeof type), 0);
  EXPECT_EQ(ioctl(client, FIONREAD, &pending), 0);
  EXPECT_EQ(pending, 0);
  EXPECT_EQ(shutdown(client, SHUT_WR), 0);
  EXPECT_EQ(errno, kMark);
  for (const int fd : {listener, client, accepted}) EXPECT_EQ(close(fd), 0);
  EXPECT_EQ(accept(listener, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST(PassThrough, DescriptorsAreThoseOfLibc) {
  const Pair pair;
  errno = kMark;
  const int copy = dup(pair.fds[0]);
  EXPECT_EQ(dup2(pair.fds[1], copy), copy);
  EXPECT_EQ(dup3(pair.fds[1], copy, O_CLOEXEC), copy);
  EXPECT_EQ(fcntl(copy, F_GETFD), FD_CLOEXEC);
  const int high = fcntl(copy, F_DUPFD_CLOEXEC, 500);
  EXPECT_GE(high, 500);
  EXPECT_EQ(fcntl64(high, F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(errno, kMark);
  EXPECT_EQ(close_range(static_cast<unsigned>(high), static_cast<unsigned>(high), 0), 0);
  EXPECT_EQ(fcntl(high, F_GETFD), -1);
  const int again = fcntl(copy, F_DUPFD, 500);
  EXPECT_EQ(again, high);
  closefrom(500);
  EXPECT_EQ(fcntl(high, F_GETFD), -1);
  EXPECT_EQ(close(copy), 0);
  EXPECT_EQ(dup2(copy, 501), -1);
  EXPECT_EQ(dup3(pair.fds[0], pair.fds[0], 0), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST(PassThrough, FilesAreMovedByLibc) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const int file = open("/proc/self/exe", O_RDONLY);
  off_t offset = 1;
  EXPECT_EQ(splice(file, nullptr, pipe_ends[1], nullptr, 4, 0), 4);
  char in[4];
  EXPECT_EQ(read(pipe_ends[0], in, 4), 4);
  EXPECT_EQ(std::memcmp(in, "\177ELF", 4), 0);
  EXPECT_EQ(sendfile(pipe_ends[1], file, &offset, 3), 3);
  EXPECT_EQ(sendfile64(pipe_ends[1], file, nullptr, 1), 1);
  EXPECT_EQ(read(pipe_ends[0], in, 4), 4);
  EXPECT_EQ(std::memcmp(in, "ELF", 3), 0);
  for (const int fd : {file, pipe_ends[0], pipe_ends[1]}) close(fd);
}

int written_by_handler = -1;

TEST(PassThrough, SignalHandlersMayCall) {
  const Pair pair;
  written_by_handler = pair.fds[0];
  struct sigaction action {};
  action.sa_handler = [](int) {
    [[maybe_unused]] const ssize_t n = write(written_by_handler, "h", 1);
  };
  ASSERT_EQ(sigaction(SIGUSR1, &action, nullptr), 0);
  raise(SIGUSR1);
  char in = 0;
  EXPECT_EQ(recv(pair.fds[1], &in, 1, 0), 1);
  EXPECT_EQ(in, 'h');
}

TEST(PassThrough, SystemCallsThatWaitCanBeCancelled) {
  const Pair pair;
  std::atomic<bool> ended{false};
  std::thread reader([&] {
    struct Ends {
      std::atomic<bool>& ended;
      ~Ends() { ended = true; }
    } ends{ended};
    char in;
    [[maybe_unused]] const ssize_t n = read(pair.fds[0], &in, 1);
  });
  pthread_cancel(reader.native_handle());
  reader.join();
  EXPECT_TRUE(ended);
}

TEST(PassThrough, WithoutLibrdsThereIsNoRds) {
  EXPECT_EQ(socketpair(AF_RDS, SOCK_SEQPACKET, 0, Pair().fds), -1);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(socket(AF_RDS, SOCK_SEQPACKET, 0), -1);
  EXPECT_EQ(errno, EAFNOSUPPORT);
  setenv("SOFTDAT_RDS_VERBOSE", "1", 1);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(socket(AF_RDS, SOCK_SEQPACKET, 0), -1);
  EXPECT_EQ(::testing::internal::GetCapturedStderr().substr(0, 5), "rds: ");
  const Pair pair;
  EXPECT_EQ(send(pair.fds[0], "x", 1, 0), 1);
}

}  // namespace
}  // namespace softdat::rds::testing

int main(int argc, char** argv) {
  return softdat::rds::testing::RunPreloaded(argc, argv, "rds/preload/testing/unusable");
}
