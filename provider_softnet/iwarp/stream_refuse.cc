// SPDX-License-Identifier: BSD-3-Clause
// Binds, and transfers whose memory turned out to be gone when their turn came.
#include "provider_softnet/iwarp/access_terminate.h"
#include "provider_softnet/iwarp/stream.h"

namespace softdat::softnet {

using transport::WorkStatus;

// In send-queue order: what was posted later is gathered later (semantics 7.3, implicit barrier).
// It waits for pins to drain, so none may be held here: only when nothing is offered.
bool Stream::CarryOutBind(SendWork* work, bool alone) {
  if (!alone) return false;
  ReleaseTxPins();
  MemoryTable::BindRequest bind;
  bind.key = work->key;
  bind.region = work->region;
  bind.offset = work->compare;
  bind.length = work->swap_or_add;
  bind.privileges = work->privileges;
  bind.zero_based = work->zero_based;
  bind.pd = config_.pd;
  bind.qp = config_.qp;
  bind.window = work->remote_key;
  const AccessError error = config_.memory->Bind(bind);
  if (error != AccessError::kNone) {
    FailSend(WorkStatus::kBindFailed,
             std::string("a window cannot be bound: ") + AccessErrorText(error));
    return false;
  }
  work->done = true;
  EndOfWork(nullptr, /*completes=*/false);
  CompleteSends();
  return true;
}

// The memory of the send or write whose turn it is cannot be read. Nothing of its next FPDU is
// sent.
void Stream::RefuseSend(AccessError error) {
  FailSend(WorkStatus::kLocalProtection,
           std::string("memory to be sent cannot be read: ") + AccessErrorText(error));
}

// The work at send_next_ fails here, and breaks the connection. What was posted in front of it is
// not its victim: it is sent, and the break waits until it is over.
void Stream::FailSend(WorkStatus status, std::string why) {
  failing_ = true;
  failing_status_ = status;
  failing_why_ = std::move(why);
  if (turn_ == Turn::kSend) turn_ = Turn::kNone;
  ConfirmAll();
  pay_ = true;
  BreakIfAllInFrontIsOver();
}

void Stream::BreakIfAllInFrontIsOver() {
  if (phase_ > Phase::kDraining || config_.send_queue->front() != send_next_) return;
  Break(iwarp::kTermLocalCatastrophic, {}, 0, Blame::Send(send_next_, failing_status_),
        failing_why_);
}

// The source of the peer's oldest read is gone since it was asked for.
void Stream::RefuseResponse(AccessError error) {
  const Response r = responses_[response_front_ & response_mask_];
  response_front_ = response_gather_ = response_due_ = response_back_;  // it and those behind it
  turn_ = Turn::kNone;
  uint8_t head[iwarp::kReadRequestFpduHeadSize];
  iwarp::EncodeReadRequestFpduHead(head, r.msn, r.read);
  const ByteSpan ulpdu(head + iwarp::kFpduLengthSize, sizeof head - iwarp::kFpduLengthSize);
  ++counters_.remote_accesses_refused;
  Break(RequestTerminate(error), ulpdu, ulpdu.size(), Blame::Nobody(),
        std::string("the source of the peer's RDMA read is gone: ") + AccessErrorText(error));
}

}  // namespace softdat::softnet
