// SPDX-License-Identifier: BSD-3-Clause
// FlushReceives and FlushPostedSend.
#include "provider_softnet/queue/flush.h"

namespace softdat::softnet {

using transport::Op;

bool FlushReceives(ReceiveQueue* queue, CompletionRing* ring, void* context) {
  bool notify = false;
  while (ReceiveWork* work = queue->Front()) {
    if (ring != nullptr) {
      transport::Completion c;
      c.context = context;
      c.cookie = work->cookie;
      c.op = Op::kReceive;
      c.status = transport::WorkStatus::kFlushed;
      c.flags = work->flags & transport::kEchoed;
      notify |= ring->Push(c);
    }
    queue->PopFront();
  }
  return notify;
}

bool FlushPostedSend(const transport::SendRequest& request, CompletionRing* ring, void* context) {
  if (ring == nullptr) return false;
  transport::Completion c;
  c.context = request.op == Op::kBind ? request.bind.context : context;
  c.cookie = request.cookie;
  c.op = request.op;
  c.status = transport::WorkStatus::kFlushed;
  c.flags = request.flags & transport::kEchoed;
  return ring->Push(c);
}

}  // namespace softdat::softnet
