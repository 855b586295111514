// SPDX-License-Identifier: BSD-3-Clause
// Send and receive queues of one queue pair.
#include "provider_softnet/queue/work_queue.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace softdat::softnet {

namespace {

template <typename T>
std::unique_ptr<T[]> NewArray(size_t count) {
  return std::make_unique_for_overwrite<T[]>(count);  // pages are touched when slots are used
}

uint32_t RingSize(uint32_t capacity) { return std::bit_ceil(capacity == 0 ? 1 : capacity); }

}  // namespace

SendQueue::SendQueue(uint32_t capacity, uint32_t max_segments)
    : capacity_(capacity),
      max_segments_(max_segments),
      mask_(RingSize(capacity) - 1),
      works_(NewArray<SendWork>(RingSize(capacity))),
      segments_(NewArray<Segment>(static_cast<size_t>(RingSize(capacity)) * max_segments)) {}

ReceiveQueue::ReceiveQueue(uint32_t capacity, uint32_t max_segments)
    : capacity_(capacity),
      max_segments_(max_segments),
      mask_(RingSize(capacity) - 1),
      works_(NewArray<ReceiveWork>(RingSize(capacity))),
      segments_(NewArray<Segment>(static_cast<size_t>(RingSize(capacity)) * max_segments)) {}

[[gnu::hot]] Code ReceiveQueue::Post(const transport::ReceiveRequest& request) {
  if (count() == capacity_) return Code::kQueueFull;
  const uint32_t slot = static_cast<uint32_t>(back_) & mask_;
  ReceiveWork& work = works_[slot];
  work.segments = segments_.get() + static_cast<size_t>(slot) * max_segments_;
  const Code code =
      CopySegments(request.local, max_segments_, work.segments, &work.segment_count, &work.length);
  if (code != Code::kOk) return code;
  work.cookie = request.cookie;
  work.flags = request.flags;
  work.index = 0;
  ++back_;
  count_.store(static_cast<uint32_t>(back_ - front_), std::memory_order_relaxed);
  return Code::kOk;
}

uint32_t ReceiveQueue::MostSegments() const {
  uint32_t most = 0;
  for (uint64_t p = front_; p != back_; ++p)
    most = std::max(most, works_[static_cast<uint32_t>(p) & mask_].segment_count);
  return most;
}

bool ReceiveQueue::MoveFrom(ReceiveQueue& other) {
  if (other.count() > capacity_ - count() || other.MostSegments() > max_segments_) return false;
  while (ReceiveWork* work = other.Front()) {
    Post({work->cookie, {work->segments, work->segment_count}, work->flags});
    other.PopFront();
  }
  return true;
}

}  // namespace softdat::softnet
