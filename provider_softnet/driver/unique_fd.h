// SPDX-License-Identifier: BSD-3-Clause
// A descriptor with an owner. A process-wide table knows it, so that a forked child can close its
// copies of our sockets. A copy that stays open would keep the peer from seeing the end of the
// parent's connection.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_UNIQUE_FD_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_UNIQUE_FD_H_

#include <utility>

namespace softdat::softnet {

class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes ownership. A negative number means "none". A descriptor that is 0, 1 or 2 is replaced by
  // a duplicate above these. When no number is left for that, the result is "none", with errno.
  explicit UniqueFd(int fd);
  ~UniqueFd() { Close(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

// In a forked child: closes every descriptor that a UniqueFd of the parent owned. It takes no lock
// and allocates nothing. The UniqueFd objects themselves must not be used any more.
void CloseInheritedDescriptors();

// The number of descriptors that UniqueFd objects own now (for tests).
int OwnedDescriptorCount();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_UNIQUE_FD_H_
