// SPDX-License-Identifier: BSD-3-Clause
// The completion queue of softnet.
#include "provider_softnet/queue/completion_ring.h"

#include <bit>
#include <string>
#include <utility>

namespace softdat::softnet {

namespace {

// Kinds of upcalls that are due.
constexpr uint8_t kDueCompletion = 1;
constexpr uint8_t kDueOverflow = 2;

using Guard = std::lock_guard<SpinLock>;

}  // namespace

CompletionRing::CompletionRing(uint32_t capacity, transport::CompletionSink* sink)
    : cells_(std::bit_ceil(capacity)),
      mask_(std::bit_ceil(capacity) - 1),
      capacity_(capacity),
      sink_(sink) {}

[[gnu::hot]] bool CompletionRing::Push(const transport::Completion& completion) {
  const Guard guard(lock_);
  const uint32_t tail = tail_.load(std::memory_order_relaxed);
  uint8_t due = 0;
  if (tail - head_.load(std::memory_order_acquire) >= capacity_) {
    if (overflowing_) return false;
    overflowing_ = true;
    due = kDueOverflow;
  } else {
    overflowing_ = false;
    cells_[tail & mask_] = completion;
    tail_.store(tail + 1, std::memory_order_release);
    if (armed_ == Armed::kNo) return false;
    const bool failed = completion.status != transport::WorkStatus::kSuccess;
    const bool matches =
        failed || (armed_ == Armed::kAny ? !completion.quiet() : completion.solicited);
    if (!matches) return false;
    armed_ = Armed::kNo;
    due = kDueCompletion;
  }
  due_ |= due;
  return sink_ != nullptr;
}

void CompletionRing::Notify() {
  uint8_t due;
  {
    const Guard guard(lock_);
    due = std::exchange(due_, 0);
  }
  if (sink_ == nullptr) return;
  if ((due & kDueOverflow) != 0) sink_->OnOverflow();
  if ((due & kDueCompletion) != 0) sink_->OnCompletion();
}

[[gnu::hot]] size_t CompletionRing::Poll(std::span<transport::Completion> out) {
  uint32_t head = head_.load(std::memory_order_relaxed);
  const uint32_t tail = tail_.load(std::memory_order_acquire);
  // Most polls of a spinning program end here, without a write to memory.
  if (head == tail) return 0;
  size_t count = 0;
  while (count < out.size() && head != tail) out[count++] = cells_[head++ & mask_];
  head_.store(head, std::memory_order_release);
  return count;
}

bool CompletionRing::Arm(bool solicited_only) {
  const Guard guard(lock_);
  if (head_.load(std::memory_order_relaxed) != tail_.load(std::memory_order_relaxed)) return false;
  armed_ = solicited_only ? Armed::kSolicited : Armed::kAny;
  return true;
}

Status CompletionRing::Resize(uint32_t capacity) {
  if (capacity == 0)
    return Status(Code::kInvalidArgument, "a completion queue needs at least one entry");
  const uint32_t cells = std::bit_ceil(capacity);
  RawArray<transport::Completion> fresh(cells);  // outside the lock: pushes wait for the copy only
  const Guard guard(lock_);
  const uint32_t head = head_.load(std::memory_order_relaxed);
  const uint32_t queued = tail_.load(std::memory_order_relaxed) - head;
  if (queued > capacity) {
    return Status(
        Code::kInvalidState,
        std::to_string(queued) + " completions are queued, more than " + std::to_string(capacity));
  }
  for (uint32_t i = 0; i < queued; ++i)
    fresh[(head + i) & (cells - 1)] = cells_[(head + i) & mask_];
  std::swap(cells_, fresh);
  mask_ = cells - 1;
  capacity_ = capacity;
  return Status::Ok();
}

}  // namespace softdat::softnet
