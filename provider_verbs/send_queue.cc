// SPDX-License-Identifier: BSD-3-Clause
// SendQueue: attributes, the calls of the device, markers, and the end. The way from a request to a
// post is in send_queue_post.cc.
#include "provider_verbs/send_queue.h"

#include <errno.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/memory.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/pair_sink.h"

namespace softdat::verbs {

using transport::Completion;
using transport::Op;
using transport::SendRequest;

void SendQueue::Adopt(const transport::QueuePairAttributes& a, CqCore* cq) {
  const std::lock_guard<SpinLock> lock(lock_);
  max_ = a.max_send;
  max_iov_ = std::min(std::max(a.max_send_iov, 1u), device_.traits.max_sge);
  Lay(max_ + 1, max_iov_, &progress_, &progress_.slots, &sge_);
  progress_.mask = static_cast<uint32_t>(progress_.slots.size()) - 1;
  progress_.context = a.context;
  progress_.pd = a.pd;
  cq_ = cq;
  datagrams_ = a.service == transport::Service::kDatagram;
  longest_ = datagrams_ ? device_.attributes.max_datagram : device_.attributes.max_message;
  ways_.assign(datagrams_ ? progress_.slots.size() : 0, nullptr);
  plain_limit_ =
      static_cast<uint32_t>(std::min<uint64_t>(longest_, std::numeric_limits<uint32_t>::max()));
  if (datagrams_) plain_limit_ = 0;  // none
  signalling_.Adopt(max_);
  regions_.Forget();
}

void SendQueue::Detach() {
  std::vector<std::shared_ptr<ibv_ah>> ways;  // die without the lock
  const std::lock_guard<SpinLock> lock(lock_);
  cq_ = nullptr;
  ways.swap(ways_);
}

void SendQueue::SetHardware(ibv_qp* qp) {
  const std::lock_guard<SpinLock> lock(lock_);
  qp_ = qp;
}

void SendQueue::SetFate(PostFate fate) {
  const std::lock_guard<SpinLock> lock(lock_);
  fate_ = fate;
}

// A post has left the pair in a state from which it cannot go on.
void SendQueue::NotePostFailure(CqCore::Due* due) {
  if (progress_.pair->failure.NotePost()) due->AddFailed(progress_.pair);
}

// Gives the chain to the device. All its requests share the slot, and only the last one may be
// signalled.
Code SendQueue::PostChain(SendSlot* slot, ibv_send_wr* first, CqCore::Due* due) {
  slot->sequence = posted_.load(std::memory_order_relaxed);
  // The sequence grows before the device can complete the request.
  posted_.store(slot->sequence + 1, std::memory_order_relaxed);
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp_, first, &bad);
  if (error == 0) [[likely]]
    return Code::kOk;
  if (bad != nullptr && bad != first) {
    // Half of the request is under way, so the pair cannot go on.
    SOFTDAT_LOG(Error, "ibv_post_send took a part of a request: {}", OsText(error));
    NotePostFailure(due);
    return Code::kOk;
  }
  const int positive = error < 0 ? -error : error;
  SOFTDAT_LOG(Info, "ibv_post_send: {}", OsText(positive));
  // The connection is ending, but the consumer does not know this yet. siw has put the request into
  // its queue nevertheless, and flushes it.
  if (positive == ENOTCONN) return Code::kOk;
  posted_.store(slot->sequence, std::memory_order_relaxed);
  if (positive == ENOMEM || positive == EAGAIN) return Code::kQueueFull;
  return positive == EOPNOTSUPP ? Code::kNotSupported : Code::kInvalidArgument;
}

// Windows of type 1 have their own call, which also chooses the key.
Code SendQueue::BindType1(const SendRequest& request, const ibv_send_wr& wr, SendSlot* slot,
                          CqCore::Due* due) {
  ibv_mw* const mw = static_cast<MemoryWindow*>(request.bind.window)->core().mw;
  ibv_mw_bind bind{};
  bind.wr_id = wr.wr_id;
  bind.send_flags = wr.send_flags;
  bind.bind_info = wr.bind_mw.bind_info;
  slot->sequence = posted_.load(std::memory_order_relaxed);
  posted_.store(slot->sequence + 1, std::memory_order_relaxed);
  const int error = ibv_bind_mw(qp_, mw, &bind);
  if (error != 0) {
    posted_.store(slot->sequence, std::memory_order_relaxed);
    SOFTDAT_LOG(Info, "ibv_bind_mw: {}", OsText(error));
    return error == ENOMEM ? Code::kQueueFull : Code::kInvalidArgument;
  }
  if (bind.bind_info.length > 0 && mw->rkey != request.key) {
    // The consumer was promised another key and may have passed it on.
    SOFTDAT_LOG(Error, "{}: the driver chose key {:#x} for a window, {:#x} was foretold",
                device_.traits.rdma_device, mw->rkey, request.key);
    NotePostFailure(due);
  }
  return Code::kOk;
}

// The marker is an RDMA write of no bytes, for which no key is checked (IBTA vol. 1 §9.7.5.2.8).
void SendQueue::PostMarkerLocked(CqCore::Due* due) {
  if (signalling_.MarkerInFlight(progress_.retired.load(std::memory_order_acquire))) return;
  signalling_.ForgetMarker();
  if (qp_ == nullptr || signalling_.unsignalled() == 0 || device_.traits.signal_all) return;
  const uint32_t sequence = posted_.load(std::memory_order_relaxed);
  SendSlot* const slot = &progress_.SlotAt(sequence);
  slot->done = {.op = Op::kRdmaWrite, .flags = transport::kQuiet};
  slot->marker = slot->suppressed = true;
  slot->plain = slot->reads = false;
  slot->sge_count = 0;
  ibv_send_wr wr{};
  wr.wr_id = WorkId(slot, SlotTag::kSend);
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  if (PostChain(slot, &wr, due) == Code::kOk) signalling_.MarkerPosted(sequence);
}

void SendQueue::PostMarker(CqCore::Due* due) {
  const std::lock_guard<SpinLock> lock(lock_);
  PostMarkerLocked(due);
}

uint32_t SendQueue::Outstanding() {
  CqCore::Due due;
  uint32_t outstanding = 0;
  CqCore* cq = nullptr;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    const auto late = static_cast<uint32_t>(late_.size());
    outstanding = InFlight() + late;
    if (outstanding == 0 || cq_ == nullptr) return 0;
    cq = cq_;
    // Suppressed requests at the tail may be over. Only a marker can tell, when the next question
    // comes.
    if (fate_ == PostFate::kTaken) PostMarkerLocked(&due);
    cq->Drain(&due);
    outstanding = InFlight() + late;
    if (outstanding > 0 &&
        signalling_.MarkerInFlight(progress_.retired.load(std::memory_order_acquire))) {
      --outstanding;
    }
  }
  cq->Carry(due);
  return outstanding;
}

void SendQueue::Flush(CqCore::Due* due) {
  const std::lock_guard<SpinLock> lock(lock_);
  std::vector<Completion> flushed;
  const uint32_t posted = posted_.load(std::memory_order_relaxed);
  for (uint32_t i = progress_.retired.load(std::memory_order_relaxed); i != posted; ++i) {
    SendSlot& slot = progress_.SlotAt(i);
    slot.early = false;  // the request in front of it was not completed
    if (slot.marker) continue;
    flushed.push_back(slot.done);
    flushed.back().length = 0;
    flushed.back().status = transport::WorkStatus::kFlushed;
  }
  progress_.early = 0;
  progress_.retired.store(posted, std::memory_order_release);
  cq_->Push(flushed, due);
  cq_->Push(std::exchange(late_, {}), due);
  signalling_.Clear();
  fate_ = PostFate::kFlushed;
}

}  // namespace softdat::verbs
