// SPDX-License-Identifier: BSD-3-Clause
// Memory for the datagrams of one system call. An adapter's sockets share a few areas: a thread
// takes one while it reads.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_RECEIVE_AREA_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_RECEIVE_AREA_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "dat/base/mutex.h"

namespace softdat::softnet {

class ReceiveArea {
 public:
  static constexpr size_t kDatagrams = 64;
  // A packet of the largest MTU, what a member puts in front of it, and some more, so that the
  // kernel tells when a datagram is longer.
  static constexpr size_t kRoom = 4608;

  ReceiveArea();

  // Reads what `fd` has, without blocking. Returns the number of datagrams, 0 for none.
  size_t Read(int fd);

  // Of the datagram `i` of the last Read:
  const sockaddr_storage& source(size_t i) const { return sources_[i]; }
  std::span<const uint8_t> datagram(size_t i) const {
    return {bytes_.get() + i * kRoom, messages_[i].msg_len};
  }
  bool cut(size_t i) const { return (messages_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0; }
  // Whether a local socket's datagram is from a process of this user, or of root.
  bool trusted(size_t i) const;

 private:
  static constexpr size_t kControl = 64;  // bytes; holds the credentials of a sender
  struct alignas(cmsghdr) Control {
    uint8_t bytes[kControl];
  };

  mmsghdr messages_[kDatagrams];
  iovec iov_[kDatagrams];
  sockaddr_storage sources_[kDatagrams];
  Control controls_[kDatagrams];
  size_t used_ = 0;  // messages whose lengths the last Read has changed
  std::unique_ptr<uint8_t[]> bytes_;
};

// The areas that no thread uses now. The first is made when the first packet may have come, another
// one when two threads read at once.
class ReceiveAreas {
 public:
  std::unique_ptr<ReceiveArea> Take();
  void Give(std::unique_ptr<ReceiveArea> area);

 private:
  static constexpr size_t kMostKept = 4;
  Mutex mutex_;  // protects free_
  std::vector<std::unique_ptr<ReceiveArea>> free_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_RECEIVE_AREA_H_
