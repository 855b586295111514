// SPDX-License-Identifier: BSD-3-Clause
// QueueSet.
#include "provider_softnet/objects/queue_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "provider_softnet/memory/local_segments.h"
#include "provider_softnet/objects/objects.h"
#include "provider_softnet/queue/flush.h"

namespace softdat::softnet {

QueueSet::QueueSet(const transport::QueuePairAttributes& attributes) {
  static_cast<void>(Set(attributes));  // cannot fail, because nothing is posted yet
}

Status QueueSet::Set(const transport::QueuePairAttributes& a) {
  // Posted receives survive, so the new queue takes as many segments as they have.
  const uint32_t posted_iov = receive_queue_ == nullptr ? 0 : receive_queue_->MostSegments();
  auto receives = std::make_unique<ReceiveQueue>(std::max(a.max_recv, 1u),
                                                 std::max({a.max_recv_iov, posted_iov, 1u}));
  auto sends = std::make_unique<SendQueue>(std::max(a.max_send, 1u), std::max(a.max_send_iov, 1u));
  if (receive_queue_ != nullptr) {
    if (Status s = CheckFits(a); !s.ok()) return s;
    receives->MoveFrom(*receive_queue_);
  }
  // Nothing below can fail.
  receive_queue_ = std::move(receives);
  send_queue_ = std::move(sends);
  attributes_ = a;
  pd_ = a.pd == nullptr ? 0 : static_cast<SoftnetProtectionDomain*>(a.pd)->id();
  send_cq_ = a.send_cq == nullptr ? RefPtr<CompletionCore>()
                                  : static_cast<SoftnetCompletionQueue*>(a.send_cq)->core();
  recv_cq_ = a.recv_cq == nullptr ? RefPtr<CompletionCore>()
                                  : static_cast<SoftnetCompletionQueue*>(a.recv_cq)->core();
  srq_ = a.srq == nullptr ? RefPtr<SharedReceiveCore>()
                          : static_cast<SoftnetSharedReceiveQueue*>(a.srq)->core();
  return Status::Ok();
}

Status QueueSet::CheckFits(const transport::QueuePairAttributes& a) const {
  const uint32_t posted = receive_queue_->count();
  if (posted > 0 && (posted > a.max_recv || a.srq != nullptr)) {
    return Status(Code::kInvalidState,
                  fmt::format("{} receives are posted, more than the new queue holds", posted));
  }
  return Status::Ok();
}

void QueueSet::Release() {
  send_cq_ = {};
  recv_cq_ = {};
  srq_ = {};
}

WorkLedgerConfig QueueSet::ForLedger(MemoryTable* memory, uint32_t qp) {
  WorkLedgerConfig config;
  config.context = attributes_.context;
  config.memory = memory;
  config.send_queue = send_queue_.get();
  config.receive_queue = srq_ ? nullptr : receive_queue_.get();
  config.shared_receives = srq_ ? &srq_->queue : nullptr;
  config.watermarks = srq_ ? &watermarks_ : nullptr;
  config.send_completions = send_cq_ ? &send_cq_->ring : nullptr;
  config.receive_completions = recv_cq_ ? &recv_cq_->ring : nullptr;
  config.solicited_receives = attributes_.solicited_receives;
  config.pd = pd_;
  config.qp = qp;
  return config;
}

Code QueueSet::PostReceive(const MemoryTable& memory, uint32_t qp,
                           const transport::ReceiveRequest& request) {
  if (pd_ != 0) {
    const Code code = CheckLocalSegments(memory, pd_, qp, Access::kLocalWrite, request.local);
    if (code != Code::kOk) return code;
  }
  return receive_queue_->Post(request);
}

void QueueSet::FlushReceives(PendingUpcalls* upcalls) {
  CompletionRing* const ring = recv_cq_ ? &recv_cq_->ring : nullptr;
  if (softnet::FlushReceives(receive_queue_.get(), ring, attributes_.context))
    upcalls->Owe(recv_cq_);
}

void QueueSet::FlushPosted(const transport::SendRequest& request, PendingUpcalls* upcalls) {
  if (send_cq_ && FlushPostedSend(request, &send_cq_->ring, attributes_.context))
    upcalls->Owe(send_cq_);
}

void QueueSet::DropReceives() {
  while (!receive_queue_->empty()) receive_queue_->PopFront();
}

}  // namespace softdat::softnet
