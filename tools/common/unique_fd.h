// SPDX-License-Identifier: BSD-3-Clause
// A file descriptor that is closed when its owner goes.
#ifndef SOFTDAT_TOOLS_COMMON_UNIQUE_FD_H_
#define SOFTDAT_TOOLS_COMMON_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace softdat::tools {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_COMMON_UNIQUE_FD_H_
