// SPDX-License-Identifier: BSD-3-Clause
// SrqCore.
#include "provider_verbs/shared_receive_queue.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "dat/base/log.h"
#include "provider_verbs/completion_queue.h"
#include "provider_verbs/os_error.h"

namespace softdat::verbs {

Result<std::shared_ptr<SrqCore>> SrqCore::Create(Device& device, ibv_pd* pd,
                                                 const void* pd_identity, uint32_t capacity,
                                                 uint32_t max_iov,
                                                 transport::SharedReceiveSink* sink) {
  max_iov = std::max(max_iov, 1u);
  std::shared_ptr<SrqCore> core(new SrqCore(device, pd_identity, max_iov, sink));
  ibv_srq_init_attr init{};
  init.srq_context = core.get();
  init.attr.max_wr = capacity;
  init.attr.max_sge = max_iov;
  errno = 0;
  core->srq_ = ibv_create_srq(pd, &init);
  if (core->srq_ == nullptr) {
    return ExhaustionStatus(
        errno, fmt::format("ibv_create_srq with {} buffers of {} segments", capacity, max_iov));
  }
  core->AddSlotsLocked(capacity);
  device.AddSharedQueue(core->srq_, core);
  return core;
}

void SrqCore::Close() {
  if (device_.abandoned) return;
  gate_.Close();
  device_.RemoveSharedQueue(srq_);
  const int error = ibv_destroy_srq(srq_);
  if (error != 0) SOFTDAT_LOG(Warning, "ibv_destroy_srq: {}", OsText(error));
}

void SrqCore::AddSlotsLocked(uint32_t n) {
  slots_.emplace_back(n);
  sge_.emplace_back(size_t{n} * max_iov_);
  for (uint32_t i = n; i-- > 0;) {
    SharedSlot& slot = slots_.back()[i];
    slot.srq = this;
    slot.sge = &sge_.back()[size_t{i} * max_iov_];
    slot.next_free = std::exchange(free_, &slot);
  }
  capacity_ += n;
}

Code SrqCore::PostReceive(const transport::ReceiveRequest& request) {
  const std::lock_guard<SpinLock> lock(lock_);
  if (used_ >= capacity_ || free_ == nullptr) return Code::kQueueFull;
  SharedSlot* const slot = free_;
  uint8_t n = 0;
  for (const DAT_LMR_TRIPLET& segment : request.local) {
    if (segment.segment_length == 0) continue;
    if (n == max_iov_) return Code::kInvalidArgument;
    bool zero_based = false;
    const Code code = device_.regions.Check(segment, pd_, true, &zero_based);
    if (code != Code::kOk) return code;
    slot->sge[n++] = {.addr = segment.virtual_address,
                      .length = static_cast<uint32_t>(segment.segment_length),
                      .lkey = segment.lmr_context};
  }
  slot->cookie = request.cookie;
  slot->flags = request.flags & transport::kEchoed;
  slot->sge_count = n;
  free_ = slot->next_free;
  ++used_;
  ibv_recv_wr wr;
  wr.wr_id = WorkId(slot, SlotTag::kShared);
  wr.next = nullptr;
  wr.sg_list = slot->sge;
  wr.num_sge = n;
  ibv_sge nothing{};
  if (n == 0 && device_.traits.iwarp) {  // siw requires a segment, even an empty one
    wr.sg_list = &nothing;
    wr.num_sge = 1;
  }
  ibv_recv_wr* bad = nullptr;
  const int error = ibv_post_srq_recv(srq_, &wr, &bad);
  if (error == 0) return Code::kOk;
  slot->next_free = std::exchange(free_, slot);
  --used_;
  return error == ENOMEM || error == -ENOMEM ? Code::kQueueFull : Code::kInvalidArgument;
}

void SrqCore::Free(SharedSlot* slot) {
  const std::lock_guard<SpinLock> lock(lock_);
  slot->next_free = std::exchange(free_, slot);
  --used_;
}

// A place is known to be free only after its completion has been read. Nothing reports that a
// completion queue has one.
uint32_t SrqCore::Available() {
  std::vector<std::shared_ptr<CqCore>> queues;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    queues = queues_;
  }
  for (const auto& queue : queues) {
    CqCore::Due due;
    queue->Drain(&due);
    queue->CarryLater(due);
  }
  const std::lock_guard<SpinLock> lock(lock_);
  return used_;
}

void SrqCore::Attach(const std::shared_ptr<CqCore>& queue) {
  const std::lock_guard<SpinLock> lock(lock_);
  queues_.push_back(queue);
}

void SrqCore::Detach(const CqCore* queue) {
  std::shared_ptr<CqCore> gone;  // outlives the lock
  const std::lock_guard<SpinLock> lock(lock_);
  const auto found = std::find_if(queues_.begin(), queues_.end(),
                                  [queue](const auto& one) { return one.get() == queue; });
  if (found == queues_.end()) return;
  gone = std::move(*found);
  queues_.erase(found);
}

uint32_t SrqCore::capacity() {
  const std::lock_guard<SpinLock> lock(lock_);
  return capacity_;
}

Status SrqCore::Resize(uint32_t capacity) {
  ibv_srq_attr attr{};
  {
    const std::lock_guard<SpinLock> lock(lock_);
    if (capacity < used_) {
      return Status(Code::kInvalidState, fmt::format("{} buffers are posted", used_));
    }
    if (capacity <= capacity_) return Status::Ok();  // a larger queue does no harm
    attr.max_wr = capacity;
  }
  const int error = ibv_modify_srq(srq_, &attr, IBV_SRQ_MAX_WR);
  if (error != 0) return OsStatus(error, fmt::format("ibv_modify_srq to {} buffers", capacity));
  const std::lock_guard<SpinLock> lock(lock_);
  if (capacity > capacity_) AddSlotsLocked(capacity - capacity_);
  return Status::Ok();
}

Status SrqCore::SetLimit(uint32_t limit) {
  bool below = false;
  {
    const std::lock_guard<SpinLock> lock(lock_);
    if (limit > capacity_) {
      return Status(Code::kInvalidArgument,
                    fmt::format("limit {} of {} buffers", limit, capacity_));
    }
    limit_ = limit;
    below = used_ < limit;
  }
  if (below) {
    // Devices report only the crossing of the limit.
    device_.driver.Post([core = shared_from_this()] { core->OnLimit(); });
    return Status::Ok();
  }
  ibv_srq_attr attr{};
  attr.srq_limit = limit;
  const int error = ibv_modify_srq(srq_, &attr, IBV_SRQ_LIMIT);
  if (error != 0) return OsStatus(error, fmt::format("ibv_modify_srq to limit {}", limit));
  return Status::Ok();
}

void SrqCore::OnLimit() {
  {
    const std::lock_guard<SpinLock> lock(lock_);
    if (std::exchange(limit_, 0) == 0) return;
  }
  const UpcallGate::Pass pass(gate_);
  if (pass.open() && sink_ != nullptr) sink_->OnLimit();
}

}  // namespace softdat::verbs
