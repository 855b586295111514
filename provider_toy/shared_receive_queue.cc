// SPDX-License-Identifier: BSD-3-Clause
// SharedReceiveQueue: buffers that any of its queue pairs may take.
#include <algorithm>
#include <utility>

#include "provider_toy/queue_pair.h"

namespace softdat::toy {

SharedReceiveQueue::SharedReceiveQueue(Fabric& fabric, Dispatcher& dispatcher, Quota::Slot slot,
                                       const transport::ProtectionDomain* pd, uint32_t capacity,
                                       uint32_t max_iov, transport::SharedReceiveSink* sink)
    : fabric_(fabric),
      dispatcher_(dispatcher),
      slot_(std::move(slot)),
      pd_(pd),
      max_iov_(max_iov),
      sink_(sink),
      ring_(capacity) {}

SharedReceiveQueue::~SharedReceiveQueue() {
  if (!fabric_.abandoned()) gate_->Close();
}

Code SharedReceiveQueue::PostReceive(const transport::ReceiveRequest& request) {
  const Fabric::Lock lock(fabric_);
  if (request.local.size() > std::min(max_iov_, kMaxIov)) return Code::kInvalidArgument;
  Pieces unused;
  const Code code = fabric_.keys().ResolveLocal(request.local, pd_, true, &unused);
  if (code != Code::kOk) return code;
  if (ring_.full()) return Code::kQueueFull;
  ReceiveWork work;
  work.cookie = request.cookie;
  work.flags = request.flags;
  work.count = static_cast<uint32_t>(request.local.size());
  std::copy(request.local.begin(), request.local.end(), work.segments.begin());
  ring_.Push(work);
  // The peers of these queue pairs may wait for a buffer here. The first one that does takes it.
  for (size_t i = 0; i < users_.size() && !ring_.empty(); ++i) {
    if (QueuePair* const peer = users_[i]->Peer()) peer->Pump();
  }
  return Code::kOk;
}

Status SharedReceiveQueue::Resize(uint32_t capacity) {
  const Fabric::Lock lock(fabric_);
  if (capacity < ring_.size()) {
    return Status(Code::kInvalidState, "more buffers are posted than the new size holds");
  }
  ring_.Resize(capacity);
  return Status::Ok();
}

Status SharedReceiveQueue::SetLimit(uint32_t limit) {
  const Fabric::Lock lock(fabric_);
  limit_ = limit;
  CheckLimit();
  return Status::Ok();
}

uint32_t SharedReceiveQueue::Available() const {
  const Fabric::Lock lock(fabric_);
  return static_cast<uint32_t>(ring_.size());
}

ReceiveWork SharedReceiveQueue::Take() {
  ReceiveWork work = ring_.Pop();
  CheckLimit();
  return work;
}

void SharedReceiveQueue::CheckLimit() {
  if (ring_.size() >= limit_) return;
  limit_ = 0;
  if (sink_ != nullptr) dispatcher_.Post(gate_, [sink = sink_] { sink->OnLimit(); });
}

}  // namespace softdat::toy
