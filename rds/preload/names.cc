// SPDX-License-Identifier: BSD-3-Clause
// The calls of libc that name sockets and set them up, and those that no socket of RDS has.
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdarg>

#include "rds/preload/libc.h"
#include "rds/preload/librds.h"

using softdat::rds::libc;
using softdat::rds::Librds;
using softdat::rds::LibrdsOf;
using softdat::rds::NoCancellation;

namespace {

// Requests about the descriptor, which its real one answers. The others are for the socket.
bool IsAboutDescriptor(unsigned long request) {
  return request == FIOCLEX || request == FIONCLEX || request == FIOASYNC || request == FIONBIO;
}

// Datagrams need no listener, and there is no half of a connection to shut.
int NotSupported() {
  errno = EOPNOTSUPP;
  return -1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int bind(int fd, const sockaddr* address, socklen_t length) noexcept {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.bind(fd, address, length);
  const NoCancellation scope;
  return librds->bind(fd, address, length);
}

int connect(int fd, const sockaddr* address, socklen_t length) {
  if (Librds* const librds = LibrdsOf(fd)) return librds->connect(fd, address, length);
  return libc.connect(fd, address, length);
}

int getsockname(int fd, sockaddr* address, socklen_t* length) noexcept {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.getsockname(fd, address, length);
  const NoCancellation scope;
  return librds->getsockname(fd, address, length);
}

int getpeername(int fd, sockaddr* address, socklen_t* length) noexcept {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.getpeername(fd, address, length);
  const NoCancellation scope;
  return librds->getpeername(fd, address, length);
}

int getsockopt(int fd, int level, int name, void* value, socklen_t* length) noexcept {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.getsockopt(fd, level, name, value, length);
  const NoCancellation scope;
  return librds->getsockopt(fd, level, name, value, length);
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t length) noexcept {
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr) return libc.setsockopt(fd, level, name, value, length);
  const NoCancellation scope;
  return librds->setsockopt(fd, level, name, value, length);
}

// Whatever the request takes, if it takes anything, is as large as a pointer or smaller.
int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  Librds* const librds = LibrdsOf(fd);
  if (librds == nullptr || IsAboutDescriptor(request)) return libc.ioctl(fd, request, argument);
  const NoCancellation scope;
  return librds->ioctl(fd, request, argument);
}

int listen(int fd, int backlog) noexcept {
  return LibrdsOf(fd) == nullptr ? libc.listen(fd, backlog) : NotSupported();
}

int accept(int fd, sockaddr* address, socklen_t* length) {
  return LibrdsOf(fd) == nullptr ? libc.accept(fd, address, length) : NotSupported();
}

int accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  return LibrdsOf(fd) == nullptr ? libc.accept4(fd, address, length, flags) : NotSupported();
}

int shutdown(int fd, int how) noexcept {
  return LibrdsOf(fd) == nullptr ? libc.shutdown(fd, how) : NotSupported();
}

}  // extern "C"
#pragma GCC visibility pop
