// SPDX-License-Identifier: BSD-3-Clause
#include "rds/preload/libc.h"

#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>

namespace softdat::rds {
namespace {

// In the block that each thread has from its start (dat/base/thread_local.h): the first use
// allocates nothing.
__thread bool finding __attribute__((tls_model("initial-exec"))) = false;

// After this no call has to look for anything. It runs before the program, and before most
// libraries.
__attribute__((constructor)) void FindAll() {
#define CALL(function, type) libc.function.Get();
#define OTHER(function, type, instead) libc.function.Get();
  SOFTDAT_RDS_LIBC(CALL, OTHER)
#undef CALL
#undef OTHER
}

}  // namespace

constinit Libc libc;

void* NextDefinition(const char* name, bool* lasting) {
  if (finding) return nullptr;
  const int error = errno;
  finding = true;
  void* const found = dlsym(RTLD_NEXT, name);
  // The program shall not find this failure when it asks for its own.
  if (found == nullptr) dlerror();
  finding = false;
  errno = error;
  *lasting = true;
  return found;
}

namespace plain {

int Accept(int fd, sockaddr* address, socklen_t* length) {
  return static_cast<int>(syscall(SYS_accept4, fd, address, length, 0));
}

void CloseFrom(int first) { syscall(SYS_close_range, first < 0 ? 0 : first, ~0U, 0); }

int Dup2(int fd, int copy) {
  if (fd == copy) return syscall(SYS_fcntl, fd, F_GETFD) < 0 ? -1 : copy;
  return static_cast<int>(syscall(SYS_dup3, fd, copy, 0));
}

int Fcntl(int fd, int command, ...) {
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return static_cast<int>(syscall(SYS_fcntl, fd, command, argument));
}

int Ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}

ssize_t Recv(int fd, void* data, size_t size, int flags) {
  return syscall(SYS_recvfrom, fd, data, size, flags, nullptr, nullptr);
}

ssize_t Send(int fd, const void* data, size_t size, int flags) {
  return syscall(SYS_sendto, fd, data, size, flags, nullptr, 0);
}

// The caller is a program, compiled to be told when it reads more than fits.
ssize_t ReadChecked(int fd, void* data, size_t size, size_t room) {
  if (size > room) __builtin_trap();
  return syscall(SYS_read, fd, data, size);
}

ssize_t RecvChecked(int fd, void* data, size_t size, size_t room, int flags) {
  if (size > room) __builtin_trap();
  return Recv(fd, data, size, flags);
}

ssize_t RecvFromChecked(int fd, void* data, size_t size, size_t room, int flags, sockaddr* from,
                        socklen_t* length) {
  if (size > room) __builtin_trap();
  return syscall(SYS_recvfrom, fd, data, size, flags, from, length);
}

}  // namespace plain
}  // namespace softdat::rds
