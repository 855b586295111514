// SPDX-License-Identifier: BSD-3-Clause
// A descriptor of this library that a child of fork closes, because what it stands for is the
// parent's.
#ifndef SOFTDAT_RDS_API_OWN_DESCRIPTOR_H_
#define SOFTDAT_RDS_API_OWN_DESCRIPTOR_H_

#include <sys/stat.h>
#include <sys/types.h>

#include <atomic>

#include "rds/api/kernel_calls.h"

namespace softdat::rds {

// 0: it is none.
inline ino_t InodeOf(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

// Where one is noted for the child, which reads it without a lock. The program may have closed it,
// with all others, and have another one by its number. So its inode is noted, too.
class OwnDescriptor {
 public:
  constexpr OwnDescriptor() = default;

  void Set(int fd) {
    inode_ = InodeOf(fd);
    fd_ = fd;
  }
  void Forget() { fd_ = 0; }
  int get() const { return fd_; }  // 0: none
  // Whether the number still stands for it.
  bool IsThere() const { return fd_ > 0 && InodeOf(fd_) == inode_; }
  // In a child.
  void Close() {
    if (IsThere()) kernel::Close(fd_);
    fd_ = 0;
  }

 private:
  std::atomic<int> fd_{0};
  std::atomic<ino_t> inode_{0};
};

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_API_OWN_DESCRIPTOR_H_
