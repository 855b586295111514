// SPDX-License-Identifier: BSD-3-Clause
// Descriptors above the standard ones.
#include "dat/base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dat/base/fork_safe_once.h"

namespace softdat {
namespace {

constexpr int kStandard = STDERR_FILENO + 1;

// What follows is guarded by a ForkSafeGuard.
int g_users = 0;
// The inodes of the sockets that stand in for closed descriptors; 0 where there is none. The
// program may have closed or replaced such a socket since, and then the descriptor is not ours to
// close.
ino_t g_in_place[kStandard] = {};

ino_t InodeOf(int fd) {
  struct stat st {};
  return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

// Returns 0 or an error number.
int TakeClosed() {
  for (int fd = 0; fd < kStandard; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    // A socket, because every socket has an inode of its own.
    const int taken = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (taken < 0) return errno;
    if (taken < kStandard) {
      g_in_place[taken] = InodeOf(taken);
    } else {
      close(taken);  // another thread of the program was quicker
    }
  }
  return 0;
}

void CloseInPlace() {
  for (int fd = 0; fd < kStandard; ++fd) {
    if (g_in_place[fd] != 0 && g_in_place[fd] == InodeOf(fd)) close(fd);
    g_in_place[fd] = 0;
  }
}

// In a forked child, where the other threads' objects do not exist.
void OnForkInChild() {
  CloseInPlace();
  g_users = 0;
}

__attribute__((constructor)) void Install() { pthread_atfork(nullptr, nullptr, OnForkInChild); }

}  // namespace

int AboveStandard(int fd) {
  if (fd < 0 || fd >= kStandard) return fd;
  const int moved = fcntl(fd, F_DUPFD_CLOEXEC, kStandard);
  const int error = errno;
  close(fd);
  errno = error;
  return moved;
}

StandardDescriptorsTaken::StandardDescriptorsTaken() {
  const ForkSafeGuard guard;
  ++g_users;
  error_ = TakeClosed();
}

StandardDescriptorsTaken::~StandardDescriptorsTaken() {
  const int error = errno;
  {
    const ForkSafeGuard guard;
    // A child that was forked while this object lived has no users.
    if (g_users > 0 && --g_users == 0) CloseInPlace();
  }
  errno = error;
}

}  // namespace softdat
