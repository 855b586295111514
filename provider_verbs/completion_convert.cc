// SPDX-License-Identifier: BSD-3-Clause
// CqCore: converts a verbs work completion to a transport completion.
#include <utility>

#include "provider_verbs/completion_queue.h"
#include "provider_verbs/failed_work.h"
#include "provider_verbs/pair_sink.h"
#include "provider_verbs/shared_receive_queue.h"
#include "provider_verbs/work_slots.h"

namespace softdat::verbs {

using transport::Completion;
using transport::Op;
using transport::WorkStatus;

bool CqCore::Convert(const ibv_wc& wc, Completion* out, Due* due) {
  switch (static_cast<SlotTag>(wc.wr_id & kTagMask)) {
    case SlotTag::kSend:
      return ConvertSend(wc, out, due);
    case SlotTag::kReceive:
      return ConvertReceive(wc, out, due);
    case SlotTag::kShared:
      return ConvertShared(wc, out, due);
  }
  return false;
}

namespace {

Op ReceiveOf(const ReceiveProgress& queue) {
  return queue.datagrams ? Op::kReceiveDatagram : Op::kReceive;
}

// Fills in what the consumer gets for the slot. Returns false if it gets nothing.
bool FillSent(const SendSlot& slot, WorkStatus status, Completion* out) {
  *out = slot.done;
  out->status = status;
  return !(slot.marker || (slot.suppressed && status == WorkStatus::kSuccess));
}

}  // namespace

bool CqCore::ConvertSend(const ibv_wc& wc, Completion* out, Due* due) {
  SendSlot& slot = *SlotOf<SendSlot>(wc.wr_id);
  SendProgress& queue = *slot.queue;
  if (queue.dropping.load(std::memory_order_relaxed)) return false;
  // Such a completion belongs to a later part of a request that was split, or to a pair that is
  // gone.
  const uint32_t retired = queue.retired.load(std::memory_order_relaxed);
  if (static_cast<int32_t>(slot.sequence - retired) < 0) return false;
  WorkStatus status = WorkStatus::kSuccess;
  if (wc.status != IBV_WC_SUCCESS) [[unlikely]] {
    status = StatusOfSend(device_, wc.status, slot);
    NoteFailure(*queue.pair, wc, due);
  } else if (slot.done.op == Op::kBind && slot.window_key != 0) [[unlikely]] {
    device_.WindowBound(slot.window_key);
  }
  if (slot.sequence != retired && device_.traits.signal_all) [[unlikely]] {
    // siw completes a send when it was sent, and the read before it when it was answered.
    if (!std::exchange(slot.early, true)) ++queue.early;
    slot.done.status = status;
    return false;
  }
  const bool told = FillSent(slot, status, out);
  // Requests complete in order, so unsignalled requests posted before this one are done, too. From
  // here on the slot may be used again.
  queue.retired.store(slot.sequence + 1, std::memory_order_release);
  if (queue.early == 0) [[likely]]
    return told;
  if (told) PushLocked(*out, due);
  RetireEarly(queue, status == WorkStatus::kSuccess, due);
  return false;
}

// Completes the requests that finished before their turn, as far as their turn has come. After a
// failure no request may succeed (semantics 10.5). `success` says whether the request in front
// succeeded.
void CqCore::RetireEarly(SendProgress& queue, bool success, Due* due) {
  uint32_t next = queue.retired.load(std::memory_order_relaxed);
  while (queue.early > 0) {
    SendSlot& slot = queue.SlotAt(next);
    if (!slot.early) return;
    slot.early = false;
    --queue.early;
    if (!success) slot.done.status = WorkStatus::kFlushed;
    success &= slot.done.status == WorkStatus::kSuccess;
    Completion completion;
    if (FillSent(slot, slot.done.status, &completion)) PushLocked(completion, due);
    queue.retired.store(++next, std::memory_order_release);
  }
}

void CqCore::FillReceived(const ibv_wc& wc, Device& device, Completion* out) {
  out->length = wc.byte_len;
  // The completion does not say whether the message was solicited. A message that came before the
  // queue was armed counts as solicited, so that no wake-up is lost.
  out->solicited = true;
  if (out->op == Op::kReceiveDatagram) {
    out->key = wc.src_qp;
    if ((wc.wc_flags & IBV_WC_WITH_IMM) == 0) return;
    out->op = Op::kReceiveDatagramImmediate;
    out->key = wc.imm_data;
    return;
  }
  if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM || (wc.wc_flags & IBV_WC_WITH_IMM) != 0) {
    out->op = Op::kReceiveImmediate;
    out->key = wc.imm_data;  // the 32 bits unchanged, as in OFA (semantics 15.2)
  } else if ((wc.wc_flags & device.traits.invalidated_flags) != 0) {
    out->op = Op::kReceiveInvalidate;
    out->key = wc.invalidated_rkey;
    device.WindowInvalidated(wc.invalidated_rkey);
  }
}

bool CqCore::ConvertReceive(const ibv_wc& wc, Completion* out, Due* due) {
  const ReceiveSlot& slot = *SlotOf<ReceiveSlot>(wc.wr_id);
  ReceiveProgress& queue = *slot.queue;
  if (queue.dropping.load(std::memory_order_relaxed)) return false;
  const uint32_t retired = queue.retired.load(std::memory_order_relaxed);
  if (static_cast<int32_t>(slot.sequence - retired) < 0) return false;
  *out = Completion{
      .context = queue.context, .cookie = slot.cookie, .op = ReceiveOf(queue), .flags = slot.flags};
  if (wc.status == IBV_WC_SUCCESS) [[likely]] {
    FillReceived(wc, device_, out);
  } else {
    out->status = StatusOfReceive(device_, wc.status, {slot.sge, slot.sge_count});
    NoteFailure(*queue.pair, wc, due);
  }
  queue.retired.store(slot.sequence + 1, std::memory_order_release);
  if (queue.holding.load(std::memory_order_relaxed)) {
    queue.held.push_back(*out);
    return false;
  }
  return true;
}

bool CqCore::ConvertShared(const ibv_wc& wc, Completion* out, Due* due) {
  SharedSlot* const slot = SlotOf<SharedSlot>(wc.wr_id);
  PairSink* const pair = device_.PeekPair(wc.qp_num);
  ReceiveProgress* const queue = pair != nullptr ? &pair->receive_progress() : nullptr;
  *out = Completion{.context = queue != nullptr ? queue->context : nullptr,
                    .cookie = slot->cookie,
                    .op = queue != nullptr ? ReceiveOf(*queue) : Op::kReceive,
                    .flags = slot->flags};
  if (wc.status == IBV_WC_SUCCESS) [[likely]] {
    FillReceived(wc, device_, out);
  } else if (pair != nullptr) {
    out->status = StatusOfReceive(device_, wc.status, {slot->sge, slot->sge_count});
    NoteFailure(*pair, wc, due);
  }
  slot->srq->Free(slot);
  // The pair may have been destroyed meanwhile.
  if (queue == nullptr || queue->dropping.load(std::memory_order_relaxed)) return false;
  if (queue->holding.load(std::memory_order_relaxed)) {
    queue->held.push_back(*out);
    return false;
  }
  return true;
}

void CqCore::NoteFailure(PairSink& pair, const ibv_wc& wc, Due* due) {
  if (pair.failure.NoteCompletion(wc.status, device_.traits.iwarp)) due->AddFailed(&pair);
}

}  // namespace softdat::verbs
