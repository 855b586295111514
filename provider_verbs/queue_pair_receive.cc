// SPDX-License-Identifier: BSD-3-Clause
// QpCore: the receive queue.
#include <errno.h>
#include <fmt/format.h>

#include "provider_verbs/os_error.h"
#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {

using transport::Completion;
using transport::Op;
using transport::WorkStatus;

Code QpCore::HardwareReceive(ReceiveSlot* slot) {
  ibv_recv_wr wr;
  wr.wr_id = WorkId(slot, SlotTag::kReceive);
  wr.next = nullptr;
  wr.sg_list = slot->sge;
  wr.num_sge = slot->sge_count;
  ibv_sge nothing{};
  if (wr.num_sge == 0 && device_.traits.iwarp) {  // siw wants a segment, be it empty
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

Completion QpCore::FlushOf(const transport::ReceiveRequest& request) const {
  return {.context = completions.context,
          .cookie = request.cookie,
          .op = Op::kReceive,
          .status = WorkStatus::kFlushed,
          .flags = static_cast<uint8_t>(request.flags & transport::kEchoed)};
}

Code QpCore::PostReceive(const transport::ReceiveRequest& request) {
  CqCore::Due due;
  Code code = Code::kOk;
  {
    const std::lock_guard<SpinLock> lock(receive_lock_);
    if (attributes_.srq != nullptr) return Code::kInvalidState;
    const State state = state_.load(std::memory_order_relaxed);
    const uint32_t posted = receives_posted_.load(std::memory_order_relaxed);
    ReceiveSlot* const slot = &receive_slots_[posted & receive_mask_];
    const auto full = [&] {
      return posted - completions.receives_retired.load(std::memory_order_acquire) +
                 late_receives_.size() >=
             max_receive_;
    };
    if (state != State::kEnded && full()) {
      recv_cq_->Drain(&due);
      if (full()) code = Code::kQueueFull;
    }
    uint8_t n = 0;
    for (const DAT_LMR_TRIPLET& segment : request.local) {
      if (code != Code::kOk) break;
      if (segment.segment_length == 0) continue;
      if (n == max_receive_iov_) {
        code = Code::kInvalidArgument;
        break;
      }
      bool zero_based = false;
      code = receive_regions_.Check(device_.regions, segment, attributes_.pd, true, &zero_based);
      slot->sge[n++] = {.addr = segment.virtual_address,
                        .length = static_cast<uint32_t>(segment.segment_length),
                        .lkey = segment.lmr_context};
    }
    if (code == Code::kOk && state == State::kEnded) {
      recv_cq_->Push(FlushOf(request), &due);
    } else if (code == Code::kOk && state == State::kEnding) {
      late_receives_.push_back(FlushOf(request));
    } else if (code == Code::kOk) {
      slot->cookie = request.cookie;
      slot->flags = request.flags & transport::kEchoed;
      slot->sge_count = n;
      slot->sequence = posted;
      receives_posted_.store(posted + 1, std::memory_order_relaxed);
      if (receives_live_) {
        code = HardwareReceive(slot);
        if (code != Code::kOk) receives_posted_.store(posted, std::memory_order_relaxed);
      }
    }
  }
  if (due.completion || due.overflow || due.failed != nullptr) [[unlikely]]
    recv_cq_->Carry(due);
  return code;
}

// Gives the hardware what was posted before it could take it.
Status QpCore::ActivateReceives() {
  const std::lock_guard<SpinLock> lock(receive_lock_);
  const uint32_t posted = receives_posted_.load(std::memory_order_relaxed);
  for (uint32_t i = completions.receives_retired.load(std::memory_order_acquire); i != posted;
       ++i) {
    const Code code = HardwareReceive(&receive_slots_[i & receive_mask_]);
    if (code != Code::kOk) return Status(code, "ibv_post_recv refused a receive posted earlier");
  }
  receives_live_ = true;
  return Status::Ok();
}

uint32_t QpCore::OutstandingReceives() {
  CqCore::Due due;
  uint32_t outstanding = 0;
  CqCore* cq = nullptr;
  {
    const std::lock_guard<SpinLock> lock(receive_lock_);
    const auto now = [this] {
      return receives_posted_.load(std::memory_order_relaxed) -
             completions.receives_retired.load(std::memory_order_acquire) +
             static_cast<uint32_t>(late_receives_.size());
    };
    outstanding = now();
    if (outstanding == 0 || recv_cq_ == nullptr) return outstanding;
    cq = recv_cq_;
    if (receives_live_) cq->Drain(&due);
    outstanding = now();
  }
  cq->Carry(due);
  return outstanding;
}

}  // namespace softdat::verbs
