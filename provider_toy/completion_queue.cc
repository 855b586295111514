// SPDX-License-Identifier: BSD-3-Clause
// CompletionQueue: Poll, Arm, Resize.
#include "provider_toy/completion_queue.h"

#include <utility>

#include "provider_toy/fabric.h"

namespace softdat::toy {

CompletionQueue::CompletionQueue(Fabric& fabric, Quota::Slot slot, uint32_t capacity,
                                 transport::CompletionSink* sink)
    : fabric_(fabric), slot_(std::move(slot)), state_(std::make_shared<CompletionQueueState>()) {
  state_->ring = Ring<transport::Completion>(capacity);
  state_->sink = sink;
}

CompletionQueue::~CompletionQueue() {
  if (fabric_.abandoned()) return;
  state_->gate->Close();
}

size_t CompletionQueue::Poll(std::span<transport::Completion> out) {
  const Fabric::Lock lock(fabric_);
  size_t n = 0;
  while (n < out.size() && !state_->ring.empty()) out[n++] = state_->ring.Pop();
  if (n > 0) state_->overflowing = false;
  return n;
}

bool CompletionQueue::Arm(bool solicited_only) {
  const Fabric::Lock lock(fabric_);
  if (!state_->ring.empty()) return false;
  state_->armed = true;
  state_->solicited_only = solicited_only;
  return true;
}

Status CompletionQueue::Resize(uint32_t capacity) {
  const Fabric::Lock lock(fabric_);
  if (capacity < state_->ring.size()) {
    return Status(Code::kInvalidState, "more completions are queued than the new size holds");
  }
  state_->ring.Resize(capacity);
  return Status::Ok();
}

}  // namespace softdat::toy
