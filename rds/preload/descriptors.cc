// SPDX-License-Identifier: BSD-3-Clause
// The calls of libc that make, copy and close descriptors.
//
// A socket of librds is a real descriptor, which shows by its own state whether the socket can be
// read or written. So poll, select and epoll, under all their names, need nothing here.
//
// What becomes of the sockets:
//
// dup, fcntl F_DUPFD: the copy is one more descriptor of the same socket, which ends with its last.
//
// dup2, dup3: the same. A socket that had the number before is closed, but only if there is
// something to put in its place: otherwise the call changes nothing, as libc's. The number stays
// taken all the time, so no other thread can get it in between.
//
// close_range, closefrom: the sockets in the range are closed as by close, each of them, and
// everything else in it, too. With CLOSE_RANGE_CLOEXEC nothing is closed now. With
// CLOSE_RANGE_UNSHARE the other threads keep their descriptors, and so the sockets stay. librds has
// threads, too, which know nothing of the calling thread's new table: it is good for exec only.
//
// fork: librds knows of it. The sockets stay the parent's, and the child can only close its
// descriptors.
//
// vfork, posix_spawn: what the child does to its descriptors before exec is its own affair. The
// sockets stay.
//
// exec: a descriptor without FD_CLOEXEC survives as a unix socket that is good for nothing. The
// sockets end as with any end of a process.
//
// Not seen here, because libc does it by calls inside of it: fclose of a stream that was made of a
// socket, and what such a stream reads and writes. Nor a descriptor that is passed on in a message
// (SCM_RIGHTS), io_uring, and what a program does by syscall().
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>

#include "rds/preload/libc.h"
#include "rds/preload/librds.h"

using softdat::rds::IsProcessOfLibrds;
using softdat::rds::libc;
using softdat::rds::Librds;
using softdat::rds::LibrdsOf;
using softdat::rds::loaded_librds;
using softdat::rds::NoCancellation;

namespace {

// Higher numbers are never sockets of librds, which would refuse to make one.
constexpr unsigned kMostDescriptors = 1 << 20;

// Tells librds of a new descriptor, `copy` (or -1: none was made). Without librds' consent there is
// none.
int Copied(int fd, int copy) {
  if (copy < 0 || copy == fd) return copy;
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr || !IsProcessOfLibrds()) return copy;
  const NoCancellation scope;
  if (librds->duplicated(fd, copy) == 0) return copy;
  const int error = errno;
  libc.close(copy);
  errno = error;
  return -1;
}

// Before `copy` becomes a copy of `fd`: the socket that it may be is closed, while the number stays
// taken. False if `fd` is no descriptor, which is in errno, too.
bool MakeRoom(int fd, int copy) {
  if (fd == copy) return true;
  Librds* const librds = LibrdsOf(copy);
  if (librds == nullptr || !IsProcessOfLibrds()) return true;
  if (libc.fcntl(fd, F_GETFD) < 0) return false;
  const NoCancellation scope;
  librds->forget(copy);
  return true;
}

// Closes the sockets among the descriptors first..last. The caller closes the descriptors.
void CloseSockets(unsigned first, unsigned last) {
  Librds* const librds = loaded_librds.load(std::memory_order_acquire);
  if (librds == nullptr || !IsProcessOfLibrds()) return;
  const NoCancellation scope;
  for (unsigned fd = first; fd <= std::min(last, kMostDescriptors - 1); ++fd) {
    const int number = static_cast<int>(fd);
    if (librds->is_socket(number) != 0) librds->forget(number);
  }
}

int Control(decltype(libc.fcntl)& real, int fd, int command, void* argument) {
  const int result = real(fd, command, argument);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? Copied(fd, result) : result;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int socket(int domain, int type, int protocol) noexcept {
  if (domain != AF_RDS) return libc.socket(domain, type, protocol);
  const NoCancellation scope;
  Librds* const librds = softdat::rds::LoadLibrds();
  if (librds != nullptr) return librds->socket(domain, type, protocol);
  errno = EAFNOSUPPORT;
  return -1;
}

int socketpair(int domain, int type, int protocol, int fds[2]) noexcept {
  if (domain != AF_RDS) return libc.socketpair(domain, type, protocol, fds);
  errno = EOPNOTSUPP;
  return -1;
}

int close(int fd) {
  Librds* const librds = LibrdsOf(fd);
  return librds != nullptr && IsProcessOfLibrds() ? librds->close(fd) : libc.close(fd);
}

int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (flags == 0) CloseSockets(first, last);
  return libc.close_range(first, last, flags);
}

void closefrom(int first) noexcept {
  CloseSockets(static_cast<unsigned>(std::max(first, 0)), ~0U);
  libc.closefrom(first);
}

int dup(int fd) noexcept { return Copied(fd, libc.dup(fd)); }

int dup2(int fd, int copy) noexcept {
  return MakeRoom(fd, copy) ? Copied(fd, libc.dup2(fd, copy)) : -1;
}

int dup3(int fd, int copy, int flags) noexcept {
  if ((flags & ~O_CLOEXEC) != 0) return libc.dup3(fd, copy, flags);
  return MakeRoom(fd, copy) ? Copied(fd, libc.dup3(fd, copy, flags)) : -1;
}

// Whatever the command takes, if it takes anything, is as large as a pointer or smaller.
int fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return Control(libc.fcntl, fd, command, argument);
}

int fcntl64(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return Control(libc.fcntl64, fd, command, argument);
}

}  // extern "C"
#pragma GCC visibility pop
