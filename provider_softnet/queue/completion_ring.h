// SPDX-License-Identifier: BSD-3-Clause
// The completion queue of softnet: a bounded ring that many queue pairs fill and one consumer
// empties.
//
// Cost. A push takes a spin lock, which is one atomic exchange. A lock-free push would need more:
// closing the race between arming and pushing takes a second atomic operation. A poll takes no lock
// and needs no atomic instruction, because the engine never calls Poll, Arm and Resize of one queue
// at the same time. A poll of an empty ring reads two words and writes nothing.
//
// Upcalls. Push runs under the queue pair's lock, and therefore never calls the sink. It reports
// that an upcall is due, and the driver makes the upcall with Notify() after it has released its
// locks.
#ifndef SOFTDAT_PROVIDER_SOFTNET_QUEUE_COMPLETION_RING_H_
#define SOFTDAT_PROVIDER_SOFTNET_QUEUE_COMPLETION_RING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "dat/backend_kit/spin_lock.h"
#include "dat/transport/transport.h"
#include "provider_softnet/queue/raw_array.h"

namespace softdat::softnet {

class CompletionRing final : public transport::CompletionQueue {
 public:
  // `capacity` > 0 is exact. `sink` may be null and outlives the ring.
  CompletionRing(uint32_t capacity, transport::CompletionSink* sink);

  // Any thread. Appends the completion, or drops it when the ring is full. (The first drop of an
  // episode owes OnOverflow.) Returns true when this thread has to call Notify() soon, without
  // locks held.
  [[nodiscard]] bool Push(const transport::Completion& completion);

  // Makes the upcalls that are due: OnCompletion at most once per Arm, OnOverflow once per episode.
  // Any thread, no lock held. When two threads owe the same upcall, one of them makes it.
  void Notify();

  // The functions of transport::CompletionQueue. An armed wait ends with a completion that failed
  // or is not quiet. With solicited_only it ends with one that failed or is solicited.
  size_t Poll(std::span<transport::Completion> out) override;
  bool Arm(bool solicited_only) override;
  Status Resize(uint32_t capacity) override;

  // The number of queued completions. Any thread; a snapshot.
  uint32_t size() const {
    const uint32_t head = head_.load(std::memory_order_acquire);  // first, so that it is not ahead
    return tail_.load(std::memory_order_acquire) - head;
  }

 private:
  enum class Armed : uint8_t { kNo, kAny, kSolicited };

  SpinLock lock_;  // guards what follows, unless something else is said
  // Changed by Resize alone, so the consumer reads them without the lock.
  RawArray<transport::Completion> cells_;
  uint32_t mask_;  // cells - 1, a power of two minus one
  uint32_t capacity_;
  Armed armed_ = Armed::kNo;
  bool overflowing_ = false;  // in an episode, which lasts from a drop until a push fits
  // Free-running positions. What lies between them belongs to the consumer, the rest to who pushes.
  std::atomic<uint32_t> head_{0};  // written by the consumer, without lock_
  std::atomic<uint32_t> tail_{0};  // written under lock_
  uint8_t due_ = 0;                // upcalls that are due; guarded by lock_
  transport::CompletionSink* const sink_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_QUEUE_COMPLETION_RING_H_
