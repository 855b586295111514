// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/pair_queues.h"

#include <utility>

namespace softdat::verbs {

Status PairQueues::AttachOne(transport::CompletionQueue* given, uint32_t depth,
                             std::shared_ptr<CqCore>* cq, std::shared_ptr<CqCore>* own,
                             uint32_t* attached) {
  if (given == nullptr) {
    auto made = CqCore::Create(device_, depth, nullptr);
    if (!made.ok()) return made.TakeStatus();
    *cq = *own = made.Take();
  } else {
    *cq = static_cast<CompletionQueue*>(given)->core();
  }
  Status status = (*cq)->Attach(depth);
  if (status.ok()) *attached = depth;
  return status;
}

Status PairQueues::Attach(const transport::QueuePairAttributes& a) {
  SrqCore* const shared =
      a.srq == nullptr ? nullptr : static_cast<SharedReceiveQueue*>(a.srq)->core().get();
  Status status = AttachOne(a.send_cq, a.max_send + 2, &send_, &own_send_, &send_attached_);
  if (!status.ok()) return status;
  const uint32_t receives = shared != nullptr ? shared->capacity() : a.max_recv + 1;
  status = AttachOne(a.recv_cq, receives, &receive_, &own_receive_, &receive_attached_);
  if (status.ok() && shared != nullptr) {
    shared_ = shared->shared_from_this();
    shared_->Attach(receive_);
  }
  return status;
}

void PairQueues::Detach() {
  if (shared_ != nullptr) std::exchange(shared_, nullptr)->Detach(receive_.get());
  if (send_attached_ > 0) send_->Detach(std::exchange(send_attached_, 0));
  if (receive_attached_ > 0) receive_->Detach(std::exchange(receive_attached_, 0));
  if (own_send_ != nullptr) std::exchange(own_send_, nullptr)->Close();
  if (own_receive_ != nullptr) std::exchange(own_receive_, nullptr)->Close();
  send_.reset();
  receive_.reset();
}

void PairQueues::Watch(PairSink* pair) {
  if (std::exchange(watching_, true)) return;
  send_->AddWatcher(pair);
  receive_->AddWatcher(pair);
}

void PairQueues::Unwatch(PairSink* pair) {
  if (!std::exchange(watching_, false)) return;
  send_->RemoveWatcher(pair);
  receive_->RemoveWatcher(pair);
}

}  // namespace softdat::verbs
