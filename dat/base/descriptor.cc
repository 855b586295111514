// SPDX-License-Identifier: BSD-3-Clause
// Descriptors above the standard ones.
#include "dat/base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mutex>

namespace softdat {
namespace {

constexpr int kStandard = STDERR_FILENO + 1;

// Guards what follows. A thread holds it for a few system calls.
std::mutex g_mutex;
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
  const std::lock_guard<std::mutex> lock(g_mutex);
  ++g_users;
  error_ = TakeClosed();
}

StandardDescriptorsTaken::~StandardDescriptorsTaken() {
  const int error = errno;
  {
    const std::lock_guard<std::mutex> lock(g_mutex);
    if (--g_users == 0) {
      for (int fd = 0; fd < kStandard; ++fd) {
        if (g_in_place[fd] != 0 && g_in_place[fd] == InodeOf(fd)) close(fd);
        g_in_place[fd] = 0;
      }
    }
  }
  errno = error;
}

}  // namespace softdat
