// SPDX-License-Identifier: BSD-3-Clause
// The calls of libc that send and receive.
#include <fcntl.h>
#include <limits.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "rds/preload/libc.h"
#include "rds/preload/librds.h"

using softdat::rds::libc;
using softdat::rds::Librds;
using softdat::rds::LibrdsOf;

namespace {

constexpr long kSecond_ns = 1'000'000'000;

int Failed(int error) {
  errno = error;
  return -1;
}

// The message of readv and writev. False with errno set: that many parts are refused.
bool MakeMessage(const iovec* parts, int count, msghdr* message) {
  if (count < 0 || count > IOV_MAX) {
    errno = EINVAL;
    return false;
  }
  *message = {};
  message->msg_iov = const_cast<iovec*>(parts);
  message->msg_iovlen = static_cast<size_t>(count);
  return true;
}

bool IsEmpty(const msghdr& message) {
  const iovec* const parts = message.msg_iov;
  return std::all_of(parts, parts + message.msg_iovlen,
                     [](const iovec& part) { return part.iov_len == 0; });
}

timespec Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now;
}

// What is left of `all` that began at `start`; zero if it is over.
timespec Left(const timespec& all, const timespec& start) {
  const timespec now = Now();
  timespec left{all.tv_sec - (now.tv_sec - start.tv_sec),
                all.tv_nsec - (now.tv_nsec - start.tv_nsec)};
  while (left.tv_nsec < 0) {
    left.tv_nsec += kSecond_ns;
    --left.tv_sec;
  }
  while (left.tv_nsec >= kSecond_ns) {
    left.tv_nsec -= kSecond_ns;
    ++left.tv_sec;
  }
  return left.tv_sec < 0 ? timespec{} : left;
}

// As Linux does it: a failure behind the first message only ends the call, and the time is looked
// at after each message.
int ReceiveMany(Librds* librds, int fd, mmsghdr* messages, unsigned count, int flags,
                timespec* timeout) {
  const bool for_one = (flags & MSG_WAITFORONE) != 0;
  flags &= ~MSG_WAITFORONE;
  if (timeout != nullptr &&
      (timeout->tv_sec < 0 || timeout->tv_nsec < 0 || timeout->tv_nsec >= kSecond_ns)) {
    return Failed(EINVAL);
  }
  const timespec all = timeout == nullptr ? timespec{} : *timeout;
  const timespec start = timeout == nullptr ? timespec{} : Now();
  unsigned received = 0;
  while (received < count) {
    const ssize_t size = librds->recvmsg(fd, &messages[received].msg_hdr, flags);
    if (size < 0) return received > 0 ? static_cast<int>(received) : -1;
    messages[received++].msg_len = static_cast<unsigned>(size);
    if (for_one) flags |= MSG_DONTWAIT;
    if (timeout == nullptr) continue;
    *timeout = Left(all, start);
    if (timeout->tv_sec == 0 && timeout->tv_nsec == 0) break;
  }
  return static_cast<int>(received);
}

int SendMany(Librds* librds, int fd, mmsghdr* messages, unsigned count, int flags) {
  count = std::min<unsigned>(count, IOV_MAX);
  unsigned sent = 0;
  for (; sent < count; ++sent) {
    const ssize_t size = librds->sendmsg(fd, &messages[sent].msg_hdr, flags);
    if (size < 0) return sent > 0 ? static_cast<int>(sent) : -1;
    messages[sent].msg_len = static_cast<unsigned>(size);
  }
  return static_cast<int>(sent);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

ssize_t send(int fd, const void* data, size_t size, int flags) {
  if (Librds* const librds = LibrdsOf(fd)) return librds->send(fd, data, size, flags);
  return libc.send(fd, data, size, flags);
}

ssize_t sendto(int fd, const void* data, size_t size, int flags, const sockaddr* to,
               socklen_t length) {
  if (Librds* const librds = LibrdsOf(fd)) return librds->sendto(fd, data, size, flags, to, length);
  return libc.sendto(fd, data, size, flags, to, length);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  if (Librds* const librds = LibrdsOf(fd)) return librds->sendmsg(fd, message, flags);
  return libc.sendmsg(fd, message, flags);
}

int sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  if (Librds* const librds = LibrdsOf(fd)) return SendMany(librds, fd, messages, count, flags);
  return libc.sendmmsg(fd, messages, count, flags);
}

// An empty message can be sent by write, but not by writev, as by any socket.
ssize_t write(int fd, const void* data, size_t size) {
  if (Librds* const librds = LibrdsOf(fd)) return librds->send(fd, data, size, 0);
  return libc.write(fd, data, size);
}

ssize_t writev(int fd, const iovec* parts, int count) {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.writev(fd, parts, count);
  msghdr message;
  if (!MakeMessage(parts, count, &message)) return -1;
  return IsEmpty(message) ? 0 : librds->sendmsg(fd, &message, 0);
}

ssize_t recv(int fd, void* data, size_t size, int flags) {
  if (Librds* const librds = LibrdsOf(fd)) return librds->recv(fd, data, size, flags);
  return libc.recv(fd, data, size, flags);
}

ssize_t recvfrom(int fd, void* data, size_t size, int flags, sockaddr* from, socklen_t* length) {
  if (Librds* const librds = LibrdsOf(fd))
    return librds->recvfrom(fd, data, size, flags, from, length);
  return libc.recvfrom(fd, data, size, flags, from, length);
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  if (Librds* const librds = LibrdsOf(fd)) return librds->recvmsg(fd, message, flags);
  return libc.recvmsg(fd, message, flags);
}

int recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  if (Librds* const librds = LibrdsOf(fd))
    return ReceiveMany(librds, fd, messages, count, flags, timeout);
  return libc.recvmmsg(fd, messages, count, flags, timeout);
}

// To read nothing takes no message away, as on any socket. To receive nothing does.
ssize_t read(int fd, void* data, size_t size) {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.read(fd, data, size);
  return size == 0 ? 0 : librds->recv(fd, data, size, 0);
}

ssize_t readv(int fd, const iovec* parts, int count) {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.readv(fd, parts, count);
  msghdr message;
  if (!MakeMessage(parts, count, &message)) return -1;
  return IsEmpty(message) ? 0 : librds->recvmsg(fd, &message, 0);
}

// What programs call that were compiled with _FORTIFY_SOURCE. libc's ends a program that reads more
// than fits.
ssize_t __read_chk(int fd, void* data, size_t size, size_t room) {
  if (size > room || LibrdsOf(fd) == nullptr) return libc.__read_chk(fd, data, size, room);
  return read(fd, data, size);
}

ssize_t __recv_chk(int fd, void* data, size_t size, size_t room, int flags) {
  if (size > room || LibrdsOf(fd) == nullptr) return libc.__recv_chk(fd, data, size, room, flags);
  return recv(fd, data, size, flags);
}

ssize_t __recvfrom_chk(int fd, void* data, size_t size, size_t room, int flags, sockaddr* from,
                       socklen_t* length) {
  if (size > room || LibrdsOf(fd) == nullptr) {
    return libc.__recvfrom_chk(fd, data, size, room, flags, from, length);
  }
  return recvfrom(fd, data, size, flags, from, length);
}

// EINVAL tells a program to read and write by itself.
ssize_t sendfile(int to, int from, off_t* offset, size_t size) noexcept {
  if (LibrdsOf(to) != nullptr || LibrdsOf(from) != nullptr) return Failed(EINVAL);
  return libc.sendfile(to, from, offset, size);
}

ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) noexcept {
  static_assert(sizeof(off_t) == sizeof(off64_t));
  return sendfile(to, from, offset, size);
}

ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size,
               unsigned flags) {
  if (LibrdsOf(to) != nullptr || LibrdsOf(from) != nullptr) return Failed(EINVAL);
  return libc.splice(from, from_offset, to, to_offset, size, flags);
}

}  // extern "C"
#pragma GCC visibility pop
