// SPDX-License-Identifier: BSD-3-Clause
#include "provider_verbs/receive_queue.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

namespace softdat::verbs {

using transport::Completion;
using transport::Op;
using transport::WorkStatus;

Status ReceiveQueue::Adopt(const transport::QueuePairAttributes& a, CqCore* cq) {
  const std::lock_guard<SpinLock> lock(lock_);
  const uint32_t retired = progress_.retired.load(std::memory_order_relaxed);
  const uint32_t kept = posted_ - retired;
  if (kept > a.max_recv) {
    return Status(Code::kInvalidState,
                  fmt::format("{} receives are posted, more than {}", kept, a.max_recv));
  }
  std::vector<ReceiveSlot> slots;
  std::vector<ibv_sge> sge;
  const uint32_t iov = std::max({a.max_recv_iov, 1u, kept > 0 ? max_iov_ : 1u});
  Lay(a.max_recv, iov, &progress_, &slots, &sge);
  const uint32_t mask = static_cast<uint32_t>(slots.size()) - 1;
  for (uint32_t i = 0; i < kept; ++i) {
    const ReceiveSlot& from = SlotAt(retired + i);
    ReceiveSlot& to = slots[(retired + i) & mask];
    to.cookie = from.cookie;
    to.sequence = from.sequence;
    to.sge_count = from.sge_count;
    to.flags = from.flags;
    std::copy_n(from.sge, from.sge_count, to.sge);
  }
  slots_.swap(slots);
  sge_.swap(sge);
  mask_ = mask;
  max_ = a.max_recv;
  max_iov_ = iov;
  cq_ = cq;
  pd_ = a.pd;
  shared_ = a.srq != nullptr;
  progress_.context = a.context;
  progress_.datagrams = a.service == transport::Service::kDatagram;
  regions_.Forget();
  return Status::Ok();
}

void ReceiveQueue::Detach() {
  const std::lock_guard<SpinLock> lock(lock_);
  cq_ = nullptr;
}

void ReceiveQueue::SetFate(PostFate fate) {
  const std::lock_guard<SpinLock> lock(lock_);
  fate_ = fate;
}

uint32_t ReceiveQueue::InUse() const {
  return posted_ - progress_.retired.load(std::memory_order_acquire) +
         static_cast<uint32_t>(late_.size());
}

Code ReceiveQueue::FillSlot(const transport::ReceiveRequest& request, ReceiveSlot* slot) {
  uint8_t n = 0;
  for (const DAT_LMR_TRIPLET& segment : request.local) {
    if (segment.segment_length == 0) continue;
    if (n == max_iov_) return Code::kInvalidArgument;
    bool zero_based = false;
    const Code code = regions_.Check(device_.regions, segment, pd_, true, &zero_based);
    if (code != Code::kOk) return code;
    slot->sge[n++] = {.addr = segment.virtual_address,
                      .length = static_cast<uint32_t>(segment.segment_length),
                      .lkey = segment.lmr_context};
  }
  slot->cookie = request.cookie;
  slot->flags = request.flags & transport::kEchoed;
  slot->sge_count = n;
  slot->sequence = posted_;
  return Code::kOk;
}

Completion ReceiveQueue::FlushOf(uint64_t cookie, uint8_t flags) const {
  return {.context = progress_.context,
          .cookie = cookie,
          .op = Op::kReceive,
          .status = WorkStatus::kFlushed,
          .flags = flags};
}

Code ReceiveQueue::Post(const transport::ReceiveRequest& request) {
  CqCore::Due due;
  Code code = Code::kOk;
  CqCore* cq = nullptr;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    if (shared_) return Code::kInvalidState;
    cq = cq_;
    if (fate_ != PostFate::kFlushed && InUse() >= max_) {
      cq->Drain(&due);
      if (InUse() >= max_) code = Code::kQueueFull;
    }
    // The place is free. If the request is refused, it leaves no trace in the place.
    ReceiveSlot* const slot = &SlotAt(posted_);
    if (code == Code::kOk) code = FillSlot(request, slot);
    if (code == Code::kOk) {
      if (fate_ == PostFate::kFlushed) {
        cq->Push(FlushOf(slot->cookie, slot->flags), &due);
      } else if (fate_ == PostFate::kLate) {
        late_.push_back(FlushOf(slot->cookie, slot->flags));
      } else {
        code = TakeLocked(slot);
      }
    }
  }
  if (due.any()) [[unlikely]]
    cq->Carry(due);
  return code;
}

Code ReceiveQueue::TakeLocked(ReceiveSlot* slot) {
  // The sequence grows before the device can complete the request.
  ++posted_;
  if (qp_ == nullptr) return Code::kOk;
  const Code code = GiveToHardware(slot);
  if (code != Code::kOk) --posted_;
  return code;
}

Code ReceiveQueue::GiveToHardware(ReceiveSlot* slot) {
  ibv_recv_wr wr;
  wr.wr_id = WorkId(slot, SlotTag::kReceive);
  wr.next = nullptr;
  wr.sg_list = slot->sge;
  wr.num_sge = slot->sge_count;
  ibv_sge nothing{};
  if (wr.num_sge == 0 && device_.traits.iwarp) {  // siw requires a segment, even an empty one
    wr.sg_list = &nothing;
    wr.num_sge = 1;
  }
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_recv(qp_, &wr, &bad);
  if (error == 0) [[likely]]
    return Code::kOk;
  const int positive = error < 0 ? -error : error;
  return positive == ENOMEM || positive == EAGAIN ? Code::kQueueFull : Code::kInvalidArgument;
}

Status ReceiveQueue::Activate(ibv_qp* qp) {
  const std::lock_guard<SpinLock> lock(lock_);
  qp_ = qp;
  for (uint32_t i = progress_.retired.load(std::memory_order_acquire); i != posted_; ++i) {
    const Code code = GiveToHardware(&SlotAt(i));
    if (code == Code::kOk) continue;
    qp_ = nullptr;
    return Status(code, "ibv_post_recv refused a receive posted earlier");
  }
  return Status::Ok();
}

void ReceiveQueue::Deactivate() {
  const std::lock_guard<SpinLock> lock(lock_);
  qp_ = nullptr;
}

bool ReceiveQueue::HardwareOwes() {
  const std::lock_guard<SpinLock> lock(lock_);
  return qp_ != nullptr && posted_ != progress_.retired.load(std::memory_order_acquire);
}

uint32_t ReceiveQueue::Outstanding() {
  CqCore::Due due;
  uint32_t outstanding = 0;
  CqCore* cq = nullptr;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    outstanding = InUse();
    if (outstanding == 0 || cq_ == nullptr) return outstanding;
    cq = cq_;
    if (qp_ != nullptr) cq->Drain(&due);
    outstanding = InUse();
  }
  cq->Carry(due);
  return outstanding;
}

void ReceiveQueue::Flush(CqCore::Due* due) {
  const std::lock_guard<SpinLock> lock(lock_);
  std::vector<Completion> flushed;
  for (uint32_t i = progress_.retired.load(std::memory_order_relaxed); i != posted_; ++i) {
    const ReceiveSlot& slot = SlotAt(i);
    flushed.push_back(FlushOf(slot.cookie, slot.flags));
  }
  progress_.retired.store(posted_, std::memory_order_release);
  cq_->Push(flushed, due);
  cq_->Push(std::exchange(late_, {}), due);
  fate_ = PostFate::kFlushed;
}

}  // namespace softdat::verbs
