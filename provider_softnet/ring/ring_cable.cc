// SPDX-License-Identifier: BSD-3-Clause
// RingCable.
#include "provider_softnet/ring/ring_cable.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "provider_softnet/driver/watch_events.h"

namespace softdat::softnet {

RingCable::RingCable() {
  for (End& end : ends_) end.doorbell = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

RingCable::Readiness RingCable::ReadinessOf(int end) const {
  const End& own = ends_[end];
  const End& peer = ends_[1 - end];
  Readiness r;
  r.failed = peer.reset || peer.left;
  r.hung_up = peer.finished || r.failed;
  r.readable = !own.inbox.empty() || r.hung_up;
  r.writable = peer.inbox.size() < kCapacity || r.hung_up;
  return r;
}

int RingCable::EventsOf(int end) const {
  const int wanted = ends_[end].wanted;
  if (wanted == 0) return 0;
  const Readiness r = ReadinessOf(end);
  if (r.failed) return kError;
  int events = 0;
  if (r.readable) events |= wanted & kReadable;
  if (r.writable) events |= wanted & kWritable;
  if (r.hung_up) events |= wanted & kHangup;
  return events;
}

void RingCable::Update() {
  for (int end = 0; end < 2; ++end) {
    const bool ring = EventsOf(end) != 0;
    if (ring == ends_[end].rung) continue;
    ends_[end].rung = ring;
    // A raw system call, because the C library's are cancellation points.
    uint64_t one = 1;
    [[maybe_unused]] const long n =
        syscall(ring ? SYS_write : SYS_read, doorbell(end), &one, sizeof(one));
  }
}

ssize_t RingCable::Send(int end, const iovec* iov, size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  End& peer = ends_[1 - end];
  if (ends_[end].finished || peer.reset || peer.left) {
    errno = peer.reset ? ECONNRESET : EPIPE;
    return -1;
  }
  size_t sent = 0;
  for (size_t i = 0; i < count; ++i) {
    const auto* bytes = static_cast<const uint8_t*>(iov[i].iov_base);
    const size_t room = peer.finished ? iov[i].iov_len : kCapacity - peer.inbox.size();
    const size_t n = std::min(iov[i].iov_len, room);
    if (!peer.finished) peer.inbox.insert(peer.inbox.end(), bytes, bytes + n);
    sent += n;
    if (n < iov[i].iov_len) break;
  }
  Update();
  if (sent > 0 || count == 0) return static_cast<ssize_t>(sent);
  errno = EAGAIN;
  return -1;
}

ssize_t RingCable::Receive(int end, const iovec* iov, size_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  End& own = ends_[end];
  size_t received = 0;
  for (size_t i = 0; i < count && !own.inbox.empty(); ++i) {
    const size_t n = std::min(iov[i].iov_len, own.inbox.size());
    const auto last = own.inbox.begin() + static_cast<ptrdiff_t>(n);
    std::copy(own.inbox.begin(), last, static_cast<uint8_t*>(iov[i].iov_base));
    own.inbox.erase(own.inbox.begin(), last);
    received += n;
  }
  Update();
  if (received > 0) return static_cast<ssize_t>(received);
  const End& peer = ends_[1 - end];
  if (peer.finished) return 0;
  errno = peer.reset ? ECONNRESET : EAGAIN;
  return -1;
}

ssize_t RingCable::Peek(int end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!ends_[end].inbox.empty()) return 1;
  const End& peer = ends_[1 - end];
  if (peer.finished) return 0;
  errno = peer.reset ? ECONNRESET : EAGAIN;
  return -1;
}

int RingCable::TakeError(int end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!ends_[1 - end].reset || std::exchange(ends_[end].error_taken, true)) return 0;
  return ECONNRESET;
}

bool RingCable::PeerHasGone(int end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ReadinessOf(end).failed;
}

void RingCable::WatchFor(int end, int wanted) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ends_[end].wanted = wanted;
  Update();
}

int RingCable::Ready(int end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return EventsOf(end);
}

void RingCable::Reset(int end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ends_[end].finished) {
    ends_[end].left = true;
  } else {
    ends_[end].reset = true;
  }
  ends_[end].wanted = 0;
  ends_[end].inbox.clear();
  Update();
}

void RingCable::Finish(int end, std::span<const uint8_t> rest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  End& peer = ends_[1 - end];
  if (!peer.finished) peer.inbox.insert(peer.inbox.end(), rest.begin(), rest.end());
  ends_[end].finished = true;
  ends_[end].wanted = 0;
  ends_[end].inbox.clear();
  Update();
}

void RingCable::Leave(int end) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ends_[end].left = true;
  Update();
}

}  // namespace softdat::softnet
