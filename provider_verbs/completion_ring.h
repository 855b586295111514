// SPDX-License-Identifier: BSD-3-Clause
// Keeps the completions that left the device's queue before the consumer asked for them, in order.
#ifndef SOFTDAT_PROVIDER_VERBS_COMPLETION_RING_H_
#define SOFTDAT_PROVIDER_VERBS_COMPLETION_RING_H_

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "dat/transport/transport.h"

namespace softdat::verbs {

// Grows when it is full. Its content is bounded, because the device's queue and the work queues
// are.
class CompletionRing {
 public:
  explicit CompletionRing(size_t reserve) : slots_(RoundUp(reserve)) {}

  bool empty() const { return head_ == tail_; }
  size_t size() const { return tail_ - head_; }

  void Push(const transport::Completion& completion) {
    if (size() == slots_.size()) Grow();
    slots_[tail_++ & (slots_.size() - 1)] = completion;
  }

  // Moves the oldest completions out. Returns how many.
  size_t Pop(std::span<transport::Completion> out) {
    const size_t n = std::min(out.size(), size());
    for (size_t i = 0; i < n; ++i) out[i] = slots_[head_++ & (slots_.size() - 1)];
    return n;
  }

 private:
  static size_t RoundUp(size_t n) {
    size_t power = 16;
    while (power < n) power *= 2;
    return power;
  }
  void Grow() {
    std::vector<transport::Completion> bigger(slots_.size() * 2);
    const size_t n = Pop(bigger);
    slots_.swap(bigger);
    head_ = 0;
    tail_ = n;
  }

  std::vector<transport::Completion> slots_;  // a power of two
  size_t head_ = 0;
  size_t tail_ = 0;
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_COMPLETION_RING_H_
