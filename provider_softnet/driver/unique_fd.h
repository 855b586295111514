// SPDX-License-Identifier: BSD-3-Clause
// A descriptor with an owner, known to a process-wide table, so that a forked child can close its
// copies of our sockets (a copy left open would keep the peer from seeing the parent's end of
// connection).
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_UNIQUE_FD_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_UNIQUE_FD_H_

#include <utility>

namespace softdat::softnet {

class UniqueFd {
 public:
  UniqueFd() = default;
  // Takes ownership; a negative number is "none". One of 0, 1 and 2 is replaced by a duplicate
  // above them; "none", with errno, where there is no number left for it.
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

// In a forked child: closes every descriptor that a UniqueFd of the parent owned. Takes no lock,
// allocates nothing; the UniqueFd objects themselves must not be used any more.
void CloseInheritedDescriptors();

// Descriptors that UniqueFd objects own now (tests).
int OwnedDescriptorCount();

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_UNIQUE_FD_H_
