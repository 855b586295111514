// SPDX-License-Identifier: BSD-3-Clause
// Work queues: fixed rings of work requests with copies of their segments. Everything is allocated
// when a queue is made (and not touched before use), so a post allocates nothing.
//
// SendQueue and ReceiveQueue belong to one queue pair. Its lock guards them, except for the counts,
// which any thread may read. SharedReceiveQueue has a lock of its own.
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_QUEUE_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "dat/transport/transport.h"

namespace softdat::softnet {

using Segment = DAT_LMR_TRIPLET;

// A posted send-queue request. The first part is the request; the second belongs to the protocol
// engine.
struct SendWork {
  // The place in the peer's memory, and the operands of an atomic.
  struct Remote {
    uint64_t address;
    uint64_t compare;  // kCompareSwap
    uint64_t swap_or_add;
    uint32_t key;
  };
  // The bind of a window of `length` bytes.
  struct Bind {
    void* context;    // the context of its completion
    uint64_t offset;  // start of the window in its region
    uint32_t window;  // MemoryTable::BindRequest::window
    uint32_t region;  // key of the region
    uint32_t privileges;
    bool zero_based;
  };

  // Where a datagram goes, beside its path.
  struct Datagram {
    uint32_t number;  // of the queue pair
    uint32_t qkey;
  };

  uint64_t cookie;
  uint64_t length;  // bytes that move: of the local segments; for reads, of the remote triplet
  union {
    Remote remote;
    Bind bind;          // kBind
    Datagram datagram;  // kSendDatagram
  };
  uint32_t key;            // immediate value, context to invalidate, or new context of a window
  uint32_t segment_count;  // non-empty segments
  transport::Op op;
  uint8_t flags;
  bool sink_is_window;
  bool invalidate_sink;
  bool confirm;  // completes when the peer has confirmed it, not when it is sent
  // Progress.
  bool done;  // nothing left to do, `status` is final; reported in post order
  transport::WorkStatus status;
  uint32_t reads_pending;  // read or atomic requests that were sent and not answered
  bool all_sent;           // kRdmaRead, atomics: every request has been sent
  uint32_t msn;            // of the untagged message on queue 0, once it is gathered
};

// A posted receive.
struct ReceiveWork {
  uint64_t cookie;
  uint64_t length;         // room in all segments
  uint32_t segment_count;  // non-empty segments
  uint32_t index;          // SharedReceiveQueue's own
  uint8_t flags;           // transport::kEchoed
  Segment* segments;
};

// How many buffers of its SRQ a queue pair may hold (transport::QueuePair::SetReceiveWatermarks).
// It belongs to one queue pair, whose lock guards it, and outlives its connections.
struct ReceiveWatermarks {
  uint32_t soft = transport::kNoWatermark;  // kNoWatermark again after the report
  uint32_t hard = transport::kNoWatermark;
};

class SendQueue {
 public:
  SendQueue(uint32_t capacity, uint32_t max_segments);

  uint32_t capacity() const { return capacity_; }
  uint32_t max_segments() const { return max_segments_; }
  bool full() const { return count() == capacity_; }
  bool empty() const { return count() == 0; }
  // The number of requests posted and not completed. Any thread.
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }

  // Positions are free-running. front() is the oldest request, back() is one behind the youngest.
  uint64_t front() const { return front_; }
  uint64_t back() const { return back_; }
  SendWork& at(uint64_t position) { return works_[Slot(position)]; }
  std::span<Segment> segments(uint64_t position) {
    return {segments_.get() + static_cast<size_t>(Slot(position)) * max_segments_,
            works_[Slot(position)].segment_count};
  }

  // The slot for the next post, which the caller fills before Commit. Not when the queue is full.
  // The segment array has room for max_segments().
  SendWork& Prepare() { return works_[Slot(back_)]; }
  Segment* PrepareSegments() {
    return segments_.get() + static_cast<size_t>(Slot(back_)) * max_segments_;
  }
  void Commit() {
    ++back_;
    StoreCount();
  }
  // Takes back the last Commit(), before anybody else has seen it.
  void Withdraw() {
    --back_;
    StoreCount();
  }
  void PopFront() {
    ++front_;
    StoreCount();
  }

 private:
  void StoreCount() {
    count_.store(static_cast<uint32_t>(back_ - front_), std::memory_order_relaxed);
  }
  uint32_t Slot(uint64_t position) const { return static_cast<uint32_t>(position) & mask_; }

  const uint32_t capacity_;
  const uint32_t max_segments_;
  uint32_t mask_;
  std::unique_ptr<SendWork[]> works_;
  std::unique_ptr<Segment[]> segments_;
  uint64_t front_ = 0;
  uint64_t back_ = 0;
  // back_ - front_, readable without the queue pair's lock.
  std::atomic<uint32_t> count_{0};
};

class ReceiveQueue {
 public:
  ReceiveQueue(uint32_t capacity, uint32_t max_segments);

  uint32_t capacity() const { return capacity_; }
  uint32_t max_segments() const { return max_segments_; }
  // The number of receives posted and not completed. Any thread.
  uint32_t count() const { return count_.load(std::memory_order_relaxed); }
  bool empty() const { return count() == 0; }

  // Copies the request, and leaves out empty segments. Returns kQueueFull, or kInvalidArgument for
  // too many segments.
  Code Post(const transport::ReceiveRequest& request);
  // The oldest receive, or null when the queue is empty. It stays in place until PopFront.
  ReceiveWork* Front() {
    return empty() ? nullptr : &works_[static_cast<uint32_t>(front_) & mask_];
  }
  void PopFront() {
    ++front_;
    count_.store(static_cast<uint32_t>(back_ - front_), std::memory_order_relaxed);
  }
  // The largest number of segments of a posted receive. Walks through all of them.
  uint32_t MostSegments() const;
  // Takes over what `other` holds, in order (Configure: posted receives survive). Returns false,
  // and moves nothing, when it does not fit.
  bool MoveFrom(ReceiveQueue& other);

 private:
  const uint32_t capacity_;
  const uint32_t max_segments_;
  uint32_t mask_;
  std::unique_ptr<ReceiveWork[]> works_;
  std::unique_ptr<Segment[]> segments_;
  uint64_t front_ = 0;
  uint64_t back_ = 0;
  // back_ - front_, readable without the queue pair's lock.
  std::atomic<uint32_t> count_{0};
};

// Receives that many queue pairs share (semantics 11). FIFO. A buffer is free again when its
// message has completed.
class SharedReceiveQueue {
 public:
  SharedReceiveQueue(uint32_t capacity, uint32_t max_segments, uint32_t pd);

  uint32_t max_segments() const { return max_segments_; }
  uint32_t pd() const { return pd_; }

  // Any thread. Copies the request. Returns kQueueFull, or kInvalidArgument for too many segments.
  Code Post(const transport::ReceiveRequest& request);

  // Any thread. Takes the oldest posted buffer, which belongs to the caller until Release. Null
  // when there is none. *limit_reached: this call took the number of free buffers below the armed
  // limit, so OnLimit is due (without locks held).
  ReceiveWork* Take(bool* limit_reached);
  // Any thread. Returns a taken buffer to the pool, after its completion was pushed.
  void Release(ReceiveWork* work);

  // Grows at once. Shrinking below what is posted or taken fails with kInvalidState.
  Status Resize(uint32_t capacity);
  // Arms the one-shot limit (0 disarms it). Returns true when the limit is already reached. Then
  // OnLimit is due now, and nothing stays armed.
  bool SetLimit(uint32_t limit);
  uint32_t Available() const { return available_.load(std::memory_order_relaxed); }

 private:
  static constexpr uint32_t kChunk = 256;
  struct Chunk {
    std::unique_ptr<ReceiveWork[]> works;
    std::unique_ptr<Segment[]> segments;
  };

  ReceiveWork* At(uint32_t index) { return &chunks_[index / kChunk].works[index % kChunk]; }
  void Grow(uint32_t capacity);

  const uint32_t max_segments_;
  const uint32_t pd_;
  std::mutex mutex_;              // guards everything below
  std::vector<Chunk> chunks_;     // buffers never move, since taken ones are used without the lock
  std::vector<uint32_t> free_;    // unused buffers
  std::vector<uint32_t> posted_;  // a ring of the posted buffers, capacity_ long
  uint32_t posted_front_ = 0;
  uint32_t capacity_ = 0;
  uint32_t used_ = 0;  // posted or taken
  uint32_t limit_ = 0;
  // The number of buffers posted and not taken. Written under mutex_, readable without it.
  std::atomic<uint32_t> available_{0};
};

// Fills a segment array from a request: copies the non-empty ones to `out` (room for `max`) and
// adds up their lengths. Returns kInvalidArgument when there are more than `max`.
inline Code CopySegments(std::span<const Segment> in, uint32_t max, Segment* out, uint32_t* count,
                         uint64_t* length) {
  uint32_t used = 0;
  uint64_t total = 0;
  for (const Segment& segment : in) {
    if (segment.segment_length == 0) continue;
    if (used == max) return Code::kInvalidArgument;
    out[used++] = segment;
    total += segment.segment_length;
  }
  *count = used;
  *length = total;
  return Code::kOk;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_WORK_QUEUE_H_
