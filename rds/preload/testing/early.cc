// SPDX-License-Identifier: BSD-3-Clause
// A library that is preloaded, too, and calls libc before the constructors of the preload have run:
// from its own constructor, which comes first because it is the later one of the list, and as an
// allocator, from the dynamic linker.
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

extern "C" {

__attribute__((visibility("default"))) int early_calls = 0;

void* __libc_calloc(size_t count, size_t size);

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((visibility("default"))) void* calloc(size_t count, size_t size) {
  const int error = errno;
  if (write(-1, "", 0) != -1 || errno != EBADF) _exit(99);
  errno = error;
  ++early_calls;
  return __libc_calloc(count, size);
}
#endif

__attribute__((constructor)) static void CallEarly() {
  int fds[2];
  char in = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0 || send(fds[0], "x", 1, 0) != 1) _exit(98);
  if (recv(fds[1], &in, 1, 0) != 1 || in != 'x') _exit(97);
  if (close(fds[0]) != 0 || close(fds[1]) != 0) _exit(96);
  ++early_calls;
}

}  // extern "C"
