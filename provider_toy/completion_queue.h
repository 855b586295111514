// SPDX-License-Identifier: BSD-3-Clause
// A completion queue: a ring, and the notification that was requested.
#ifndef SOFTDAT_PROVIDER_TOY_COMPLETION_QUEUE_H_
#define SOFTDAT_PROVIDER_TOY_COMPLETION_QUEUE_H_

#include <cstdint>
#include <memory>
#include <span>

#include "dat/backend_kit/upcall_gate.h"
#include "dat/transport/transport.h"
#include "provider_toy/quota.h"
#include "provider_toy/ring.h"

namespace softdat::toy {

class Fabric;

// Shared with the queue pairs that feed it. The fabric's lock protects everything except the gate.
struct CompletionQueueState {
  Ring<transport::Completion> ring;
  transport::CompletionSink* sink = nullptr;
  std::shared_ptr<UpcallGate> gate = std::make_shared<UpcallGate>();
  bool armed = false;
  bool solicited_only = false;
  bool overflowing = false;  // an overflow has been reported and has not ended
  // Upcalls that are due when the fabric's lock is released, and the link of its list of such
  // queues.
  bool notify = false;
  bool report_overflow = false;
  bool listed = false;
  std::shared_ptr<CompletionQueueState> next;
};

class CompletionQueue : public transport::CompletionQueue {
 public:
  CompletionQueue(Fabric& fabric, Quota::Slot slot, uint32_t capacity,
                  transport::CompletionSink* sink);
  ~CompletionQueue() override;

  size_t Poll(std::span<transport::Completion> out) override;
  bool Arm(bool solicited_only) override;
  Status Resize(uint32_t capacity) override;

  const std::shared_ptr<CompletionQueueState>& state() const { return state_; }

 private:
  Fabric& fabric_;
  const Quota::Slot slot_;
  const std::shared_ptr<CompletionQueueState> state_;
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_COMPLETION_QUEUE_H_
