// SPDX-License-Identifier: BSD-3-Clause
// ReceiveArea and ReceiveAreas.
#include "provider_softnet/udp/receive_area.h"

#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "provider_softnet/udp/datagram_calls.h"

namespace softdat::softnet {

// The bytes are not initialised: pages that no datagram reaches are never touched.
ReceiveArea::ReceiveArea(const sockaddr_storage& local)
    : judge(local), bytes_(new uint8_t[kDatagrams * kRoom]) {
  static_assert(kControl >= CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(2 * sizeof(int)));
  memset(messages_, 0, sizeof(messages_));
  for (size_t i = 0; i < kDatagrams; ++i) {
    iov_[i] = {bytes_.get() + i * kRoom, kRoom};
    msghdr& m = messages_[i].msg_hdr;
    m.msg_iov = &iov_[i];
    m.msg_iovlen = 1;
    m.msg_name = &sources_[i];
    m.msg_control = &controls_[i];
  }
  used_ = kDatagrams;
}

[[gnu::hot]] size_t ReceiveArea::Read(int fd, size_t most) {
  for (size_t i = 0; i < used_; ++i) {
    messages_[i].msg_hdr.msg_namelen = sizeof(sockaddr_storage);
    messages_[i].msg_hdr.msg_controllen = kControl;
  }
  // A UDP socket may have an error to report (an ICMP message); it is over with that.
  const int n = ReceiveMany(fd, messages_, std::min(most, kDatagrams));
  used_ = n > 0 ? static_cast<size_t>(n) : 0;
  return used_;
}

[[gnu::hot]] size_t ReceiveArea::segment(size_t i) const {
  auto* const m = const_cast<msghdr*>(&messages_[i].msg_hdr);
  for (cmsghdr* c = CMSG_FIRSTHDR(m); c != nullptr; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level != SOL_UDP || c->cmsg_type != UDP_GRO) continue;
    int size = 0;
    memcpy(&size, CMSG_DATA(c), sizeof(size));
    return size > 0 ? static_cast<size_t>(size) : 0;
  }
  return 0;
}

std::vector<UniqueFd> ReceiveArea::TakeDescriptors(size_t i) {
  std::vector<UniqueFd> taken;
  msghdr* const m = &messages_[i].msg_hdr;
  for (cmsghdr* c = CMSG_FIRSTHDR(m); c != nullptr; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t k = 0; k < count; ++k) {
      int fd = -1;
      memcpy(&fd, CMSG_DATA(c) + k * sizeof(int), sizeof(int));
      taken.emplace_back(fd);
    }
  }
  return taken;
}

bool ReceiveArea::trusted(size_t i) const {
  auto* const m = const_cast<msghdr*>(&messages_[i].msg_hdr);
  for (cmsghdr* c = CMSG_FIRSTHDR(m); c != nullptr; c = CMSG_NXTHDR(m, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS) continue;
    ucred peer{};
    memcpy(&peer, CMSG_DATA(c), sizeof(peer));
    return peer.uid == geteuid() || peer.uid == 0;
  }
  return false;
}

[[gnu::hot]] std::unique_ptr<ReceiveArea> ReceiveAreas::Take() {
  {
    const std::lock_guard<Mutex> lock(mutex_);
    if (!free_.empty()) {
      std::unique_ptr<ReceiveArea> area = std::move(free_.back());
      free_.pop_back();
      return area;
    }
  }
  return std::make_unique<ReceiveArea>(local_);
}

[[gnu::hot]] void ReceiveAreas::Give(std::unique_ptr<ReceiveArea> area) {
  const std::lock_guard<Mutex> lock(mutex_);
  if (free_.size() < kMostKept) free_.push_back(std::move(area));
}

}  // namespace softdat::softnet
