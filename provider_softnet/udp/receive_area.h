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
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/udp/arrival_judge.h"

namespace softdat::softnet {

class ReceiveArea {
 public:
  static constexpr size_t kDatagrams = 32;
  // The longest datagram, or as many as the kernel joins (UDP_GRO). Some more, so that the
  // beginnings do not compete for one part of the cache. Pages that nothing reaches cost nothing.
  static constexpr size_t kRoom = 65536 + 320;

  explicit ReceiveArea(const sockaddr_storage& local);

  // Reads what `fd` has, without blocking: `most` datagrams or runs of them. Returns how many
  // there are, 0 for none.
  size_t Read(int fd, size_t most);

  // Of the datagram `i` of the last Read:
  const sockaddr_storage& source(size_t i) const { return sources_[i]; }
  std::span<const uint8_t> datagram(size_t i) const {
    return {bytes_.get() + i * kRoom, messages_[i].msg_len};
  }
  bool cut(size_t i) const { return (messages_[i].msg_hdr.msg_flags & MSG_TRUNC) != 0; }
  // Bytes of each datagram of a run, except for the last one, which may be shorter. 0: it is no
  // run.
  size_t segment(size_t i) const;
  // What came with a local socket's datagram. Whoever does not take it leaves it open for good.
  std::vector<UniqueFd> TakeDescriptors(size_t i);
  // Whether a local socket's datagram is from a process of this user, or of root.
  bool trusted(size_t i) const;

  // For what is read here.
  ArrivalJudge judge;

 private:
  // Bytes: credentials of a sender and two descriptors, or a segment's size.
  static constexpr size_t kControl = 64;
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
  explicit ReceiveAreas(const sockaddr_storage& local) : local_(local) {}
  std::unique_ptr<ReceiveArea> Take();
  void Give(std::unique_ptr<ReceiveArea> area);

 private:
  static constexpr size_t kMostKept = 4;
  const sockaddr_storage local_;
  Mutex mutex_;  // protects free_
  std::vector<std::unique_ptr<ReceiveArea>> free_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_RECEIVE_AREA_H_
