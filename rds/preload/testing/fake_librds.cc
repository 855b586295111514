// SPDX-License-Identifier: BSD-3-Clause
#include "rds/preload/testing/fake_librds.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <deque>
#include <initializer_list>
#include <utility>

#include "softdat/rds.h"

namespace {

using softdat::rds::testing::FakeLibrds;

FakeLibrds fake;
std::deque<std::string> messages;
std::array<std::atomic<bool>, 1024> is_socket;

int Failed(int error) {
  errno = error;
  return -1;
}

// Writes down the call. What it asks of libc on the way must not come back here: so it uses each
// kind of descriptor that a library uses.
bool Begin(const char* name, std::initializer_list<long> numbers) {
  int ends[2];
  char byte = 'x';
  if (pipe(ends) != 0 || write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) abort();
  if (close(ends[0]) != 0 || close(ends[1]) != 0) abort();
  std::string call = name;
  for (const long number : numbers) call += " " + std::to_string(number);
  fake.calls.push_back(call);
  const int error = std::exchange(fake.next_error, 0);
  errno = error;
  return error == 0;
}

void Mark(int fd, bool socket) { is_socket.at(static_cast<size_t>(fd)) = socket; }

ssize_t Send(const msghdr& message) {
  std::string payload;
  for (size_t i = 0; i < message.msg_iovlen; ++i) {
    const iovec& part = message.msg_iov[i];
    payload.append(static_cast<const char*>(part.iov_base), part.iov_len);
  }
  messages.push_back(payload);
  return static_cast<ssize_t>(payload.size());
}

ssize_t Receive(const msghdr& message) {
  pthread_testcancel();
  if (messages.empty() || fake.messages_left == 0) return Failed(EAGAIN);
  --fake.messages_left;
  const std::string payload = messages.front();
  messages.pop_front();
  size_t at = 0;
  for (size_t i = 0; i < message.msg_iovlen; ++i) {
    const iovec& part = message.msg_iov[i];
    at += payload.copy(static_cast<char*>(part.iov_base), part.iov_len, at);
  }
  return static_cast<ssize_t>(at);
}

msghdr MessageOf(iovec* part) {
  msghdr message{};
  message.msg_iov = part;
  message.msg_iovlen = 1;
  return message;
}

}  // namespace

extern "C" FakeLibrds* fake_librds() { return &fake; }

int rds_socket(int domain, int type, int protocol) {
  if (!Begin("socket", {domain, type, protocol})) return -1;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -1;
  Mark(ends[0], true);
  return ends[0];
}

int rds_is_socket(int fd) {
  return fd >= 0 && static_cast<size_t>(fd) < is_socket.size() && is_socket[static_cast<size_t>(fd)]
             ? 1
             : 0;
}

int rds_forget(int fd) {
  if (!Begin("forget", {fd})) return -1;
  Mark(fd, false);
  return 0;
}

int rds_close(int fd) {
  if (!Begin("close", {fd})) return -1;
  Mark(fd, false);
  return close(fd);
}

int rds_duplicated(int fd, int copy) {
  if (!Begin("duplicated", {fd, copy})) return -1;
  Mark(copy, true);
  return 0;
}

int rds_bind(int, const sockaddr*, socklen_t length) {
  pthread_testcancel();
  return Begin("bind", {length}) ? 0 : -1;
}

int rds_connect(int, const sockaddr*, socklen_t length) {
  return Begin("connect", {length}) ? 0 : -1;
}

int rds_getsockname(int, sockaddr* address, socklen_t* length) {
  if (!Begin("getsockname", {*length})) return -1;
  address->sa_family = AF_INET;
  return 0;
}

int rds_getpeername(int, sockaddr* address, socklen_t* length) {
  if (!Begin("getpeername", {*length})) return -1;
  address->sa_family = AF_INET;
  return 0;
}

ssize_t rds_send(int, const void* data, size_t size, int flags) {
  if (!Begin("send", {static_cast<long>(size), flags})) return -1;
  iovec part{const_cast<void*>(data), size};
  return Send(MessageOf(&part));
}

ssize_t rds_sendto(int, const void* data, size_t size, int flags, const sockaddr*,
                   socklen_t length) {
  if (!Begin("sendto", {static_cast<long>(size), flags, length})) return -1;
  iovec part{const_cast<void*>(data), size};
  return Send(MessageOf(&part));
}

ssize_t rds_sendmsg(int, const msghdr* message, int flags) {
  if (!Begin("sendmsg", {static_cast<long>(message->msg_iovlen), flags})) return -1;
  return Send(*message);
}

ssize_t rds_recv(int, void* data, size_t size, int flags) {
  if (!Begin("recv", {static_cast<long>(size), flags})) return -1;
  iovec part{data, size};
  return Receive(MessageOf(&part));
}

ssize_t rds_recvfrom(int, void* data, size_t size, int flags, sockaddr*, socklen_t* length) {
  if (!Begin("recvfrom", {static_cast<long>(size), flags, length == nullptr ? 0 : *length}))
    return -1;
  iovec part{data, size};
  return Receive(MessageOf(&part));
}

ssize_t rds_recvmsg(int, msghdr* message, int flags) {
  if (!Begin("recvmsg", {static_cast<long>(message->msg_iovlen), flags})) return -1;
  return Receive(*message);
}

int rds_getsockopt(int, int level, int name, void*, socklen_t* length) {
  return Begin("getsockopt", {level, name, *length}) ? 0 : -1;
}

int rds_setsockopt(int, int level, int name, const void*, socklen_t length) {
  return Begin("setsockopt", {level, name, length}) ? 0 : -1;
}

int rds_ioctl(int, unsigned long request, void* argument) {
  return Begin("ioctl", {static_cast<long>(request), *static_cast<unsigned char*>(argument)}) ? 0
                                                                                              : -1;
}
