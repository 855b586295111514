// SPDX-License-Identifier: BSD-3-Clause
// Receives that many queue pairs share.
#include <string>

#include "provider_softnet/queue/work_queue.h"

namespace softdat::softnet {

SharedReceiveQueue::SharedReceiveQueue(uint32_t capacity, uint32_t max_segments, uint32_t pd)
    : max_segments_(max_segments), pd_(pd) {
  Grow(capacity);
}

// The caller holds mutex_, or the queue is not shared yet.
void SharedReceiveQueue::Grow(uint32_t capacity) {
  while (chunks_.size() * kChunk < capacity) {
    const uint32_t first = static_cast<uint32_t>(chunks_.size()) * kChunk;
    // Reserved first, so that nothing below fails half done, and so that Release never allocates.
    free_.reserve(first + kChunk);
    Chunk chunk;
    chunk.works = std::make_unique_for_overwrite<ReceiveWork[]>(kChunk);
    chunk.segments =
        std::make_unique_for_overwrite<Segment[]>(static_cast<size_t>(kChunk) * max_segments_);
    for (uint32_t i = 0; i < kChunk; ++i) {
      chunk.works[i].index = first + i;
      chunk.works[i].segments = chunk.segments.get() + static_cast<size_t>(i) * max_segments_;
    }
    chunks_.push_back(std::move(chunk));
    for (uint32_t i = kChunk; i > 0; --i) free_.push_back(first + i - 1);
  }
  std::vector<uint32_t> posted(capacity);
  const uint32_t available = Available();
  for (uint32_t i = 0; i < available; ++i) {
    posted[i] = posted_[(posted_front_ + i) % posted_.size()];
  }
  posted_.swap(posted);
  posted_front_ = 0;
  capacity_ = capacity;
}

Code SharedReceiveQueue::Post(const transport::ReceiveRequest& request) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (used_ >= capacity_) return Code::kQueueFull;
  ReceiveWork* work = At(free_.back());
  const Code code = CopySegments(request.local, max_segments_, work->segments, &work->segment_count,
                                 &work->length);
  if (code != Code::kOk) return code;
  work->cookie = request.cookie;
  work->flags = request.flags;
  free_.pop_back();
  const uint32_t available = Available();
  posted_[(posted_front_ + available) % posted_.size()] = work->index;
  available_.store(available + 1, std::memory_order_relaxed);
  ++used_;
  return Code::kOk;
}

ReceiveWork* SharedReceiveQueue::Take(bool* limit_reached) {
  *limit_reached = false;
  const std::lock_guard<std::mutex> guard(mutex_);
  const uint32_t available = Available();
  if (available == 0) return nullptr;
  ReceiveWork* work = At(posted_[posted_front_]);
  posted_front_ = (posted_front_ + 1) % static_cast<uint32_t>(posted_.size());
  available_.store(available - 1, std::memory_order_relaxed);
  if (limit_ != 0 && available - 1 < limit_) {
    limit_ = 0;
    *limit_reached = true;
  }
  return work;
}

void SharedReceiveQueue::Release(ReceiveWork* work) {
  const std::lock_guard<std::mutex> guard(mutex_);
  free_.push_back(work->index);
  --used_;
}

Status SharedReceiveQueue::Resize(uint32_t capacity) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (capacity == 0 || capacity < used_) {
    return Status(Code::kInvalidState, std::to_string(used_) + " receives are in use, more than " +
                                           std::to_string(capacity));
  }
  Grow(capacity);
  return Status::Ok();
}

bool SharedReceiveQueue::SetLimit(uint32_t limit) {
  const std::lock_guard<std::mutex> guard(mutex_);
  limit_ = limit;
  if (limit == 0 || Available() >= limit) return false;
  limit_ = 0;
  return true;
}

}  // namespace softdat::softnet
