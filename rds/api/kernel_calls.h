// SPDX-License-Identifier: BSD-3-Clause
// System calls on the program's end of a socket. With librds_preload.so, the names of libc on such
// a descriptor lead back into this library, whose lock is held.
#ifndef SOFTDAT_RDS_API_KERNEL_CALLS_H_
#define SOFTDAT_RDS_API_KERNEL_CALLS_H_

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>

#ifdef __SANITIZE_THREAD__
// Who uses a number again has nothing to do with who has closed it. The sanitizer knows of what is
// closed by the name of libc, and by this.
extern "C" void __sanitizer_syscall_pre_impl_close(long fd);
#endif

namespace softdat::rds::kernel {

// Each sets errno as the call of libc does.

inline ssize_t Receive(int fd, void* data, size_t size, int flags) {
  return syscall(SYS_recvfrom, fd, data, size, flags, nullptr, nullptr);
}
inline ssize_t Send(int fd, const void* data, size_t size, int flags) {
  return syscall(SYS_sendto, fd, data, size, flags, nullptr, 0);
}
inline int Socket(int family, int type) {
  return static_cast<int>(syscall(SYS_socket, family, type, 0));
}
inline int Bind(int fd, const sockaddr* address, socklen_t length) {
  return static_cast<int>(syscall(SYS_bind, fd, address, length));
}
inline int SetOption(int fd, int level, int name, const void* value, socklen_t length) {
  return static_cast<int>(syscall(SYS_setsockopt, fd, level, name, value, length));
}
inline int Ioctl(int fd, unsigned long request, void* argument) {
  return static_cast<int>(syscall(SYS_ioctl, fd, request, argument));
}
inline int Close(int fd) {
#ifdef __SANITIZE_THREAD__
  __sanitizer_syscall_pre_impl_close(fd);
#endif
  return static_cast<int>(syscall(SYS_close, fd));
}

}  // namespace softdat::rds::kernel

#endif  // SOFTDAT_RDS_API_KERNEL_CALLS_H_
