// SPDX-License-Identifier: BSD-3-Clause
// SendQueue: makes a post from a request.
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>

#include "provider_verbs/address_way.h"
#include "provider_verbs/send_queue.h"
#include "provider_verbs/send_request.h"
#include "provider_verbs/window_work.h"

namespace softdat::verbs {

using transport::Op;
using transport::SendRequest;

// Handles the most frequent request: one segment of the region that the queue used last, sent or
// written without flags. It is one piece of code, because the general way takes three times as many
// instructions. Returns false and does nothing for every other request, and when the general way
// would find an error.
[[gnu::always_inline]] inline bool SendQueue::PostPlain(const SendRequest& request) {
  const bool write = request.op == Op::kRdmaWrite;
  if (!write && request.op != Op::kSend) return false;
  if (request.local.size() != 1 || request.flags != 0) return false;
  const DAT_LMR_TRIPLET& segment = request.local[0];
  const auto length = static_cast<uint32_t>(segment.segment_length);
  const uint32_t sequence = posted_.load(std::memory_order_relaxed);
  if (length - 1 >= plain_limit_ || (write && length > request.remote.segment_length) ||
      !regions_.Covers(device_.regions, segment) ||
      sequence - progress_.retired.load(std::memory_order_acquire) >= max_) {
    return false;
  }
  SendSlot* const slot = &progress_.SlotAt(sequence);
  slot->done.context = progress_.context;
  slot->done.cookie = request.cookie;
  slot->done.length = length;
  slot->done.op = request.op;
  slot->done.status = transport::WorkStatus::kSuccess;
  slot->done.flags = 0;
  slot->sequence = sequence;
  slot->sge_count = 1;
  slot->plain = true;
  slot->suppressed = slot->marker = slot->reads = false;
  // Both have the same layout (asserted below).
  std::memcpy(slot->sge, &segment, sizeof segment);
  ibv_send_wr wr;
  wr.wr_id = WorkId(slot, SlotTag::kSend);
  wr.next = nullptr;
  wr.sg_list = slot->sge;
  wr.num_sge = 1;
  wr.opcode = write ? IBV_WR_RDMA_WRITE : IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED | (length <= device_.traits.max_inline ? IBV_SEND_INLINE : 0);
  wr.wr.rdma.remote_addr = request.remote.virtual_address;
  wr.wr.rdma.rkey = request.remote.rmr_context;
  // The sequence grows before the device can complete the request.
  posted_.store(sequence + 1, std::memory_order_relaxed);
  ibv_send_wr* bad;
  if (ibv_post_send(qp_, &wr, &bad) != 0) [[unlikely]] {
    posted_.store(sequence, std::memory_order_relaxed);
    return false;
  }
  signalling_.Signalled();
  return true;
}
static_assert(sizeof(ibv_sge) == sizeof(DAT_LMR_TRIPLET) &&
              offsetof(ibv_sge, addr) == offsetof(DAT_LMR_TRIPLET, virtual_address) &&
              offsetof(ibv_sge, length) == offsetof(DAT_LMR_TRIPLET, segment_length) &&
              offsetof(ibv_sge, lkey) == offsetof(DAT_LMR_TRIPLET, lmr_context));

Code SendQueue::Post(const SendRequest& request) {
  lock_.lock();
  if (fate_ == PostFate::kTaken && PostPlain(request)) [[likely]] {
    lock_.unlock();
    return Code::kOk;
  }
  return PostAny(request);
}

Code SendQueue::PostAny(const SendRequest& request) {
  CqCore::Due due;
  Code code = Code::kInvalidState;
  CqCore* cq = nullptr;
  std::shared_ptr<ibv_ah> old_way;
  {
    const std::lock_guard<SpinLock> lock(lock_, std::adopt_lock);
    cq = cq_;
    switch (fate_) {
      case PostFate::kTaken:
        code = PostToHardware(request, &due);
        if (datagrams_ && code == Code::kOk) old_way = KeepWay(request);
        break;
      case PostFate::kLate:
        code = PostLate(request);
        break;
      case PostFate::kFlushed:
        cq->Push(FlushOf(request, progress_.context), &due);
        code = Code::kOk;
        break;
      case PostFate::kRefused:
        break;
    }
  }
  if (due.any()) [[unlikely]]
    cq->Carry(due);
  return code;
}

// The connection is ending, but the consumer may not know this yet. The request is flushed after
// the earlier ones.
Code SendQueue::PostLate(const SendRequest& request) {
  if (InFlight() + late_.size() >= max_) return Code::kQueueFull;
  late_.push_back(FlushOf(request, progress_.context));
  return Code::kOk;
}

// Returns the next free place, or null when all are taken even after a look at the completion
// queue.
SendSlot* SendQueue::NextSlot(CqCore::Due* due) {
  const uint32_t limit = max_ + (signalling_.marker_pending() ? 1 : 0);
  if (InFlight() >= limit) [[unlikely]] {
    cq_->Drain(due);
    if (InFlight() >= limit) return nullptr;
  }
  return &progress_.SlotAt(posted_.load(std::memory_order_relaxed));
}

Code SendQueue::PostToHardware(const SendRequest& request, CqCore::Due* due) {
  if ((request.op == Op::kSendDatagram) != datagrams_) return Code::kInvalidArgument;
  SendSlot* const slot = NextSlot(due);
  if (slot == nullptr) [[unlikely]]
    return Code::kQueueFull;
  slot->done = {.context = progress_.context,
                .cookie = request.cookie,
                .op = request.op,
                .flags = static_cast<uint8_t>(request.flags & transport::kEchoed)};
  slot->plain = false;
  slot->suppressed = (request.flags & transport::kSuppress) != 0;
  slot->marker = false;
  slot->reads = ReadsRemote(request.op);
  const uint32_t unsignalled = signalling_.unsignalled();
  Code code = Code::kOk;
  if (request.op == Op::kBind) {
    code = PostBind(request, slot, due);
  } else if (request.op == Op::kRdmaRead && request.sink_is_window) {
    code = PostReadToWindow(request, slot, due);
  } else {
    code = PostData(request, slot, due);
  }
  if (code != Code::kOk) signalling_.SetBack(unsignalled);
  return code;
}

bool SendQueue::WantsSignal(const SendSlot& slot) {
  // No marker can follow datagrams, because a pair for them takes nothing else.
  return signalling_.Wants(slot.suppressed && !device_.traits.signal_all && !datagrams_);
}

std::shared_ptr<ibv_ah> SendQueue::KeepWay(const SendRequest& request) {
  const uint32_t last = posted_.load(std::memory_order_relaxed) - 1;
  return std::exchange(ways_[last & progress_.mask],
                       static_cast<const AddressWay*>(request.datagram.to)->ah());
}

Code SendQueue::FillLocal(const SendRequest& request, SendSlot* slot, bool* zero_based) {
  uint64_t total = 0;
  uint8_t n = 0;
  for (const DAT_LMR_TRIPLET& segment : request.local) {
    if (segment.segment_length == 0) continue;
    if (n == max_iov_) return Code::kInvalidArgument;
    const Code code =
        regions_.Check(device_.regions, segment, progress_.pd, slot->reads, zero_based);
    if (code != Code::kOk) return code;
    uint32_t key = segment.lmr_context;
    if (slot->reads && device_.traits.read_sink_remote_write) {
      const Code opened = device_.sinks.Open(key, &key);
      if (opened != Code::kOk) return opened;
    }
    slot->sge[n++] = {.addr = segment.virtual_address,
                      .length = static_cast<uint32_t>(segment.segment_length),
                      .lkey = key};
    total += segment.segment_length;
  }
  slot->sge_count = n;
  if (total > longest_) return Code::kLength;
  slot->done.length = total;
  return Code::kOk;
}

Code SendQueue::PostData(const SendRequest& request, SendSlot* slot, CqCore::Due* due) {
  bool zero_based = false;
  Code code = FillLocal(request, slot, &zero_based);
  if (code != Code::kOk) return code;
  ibv_send_wr wr;
  code = FillRequest(device_.traits, request, zero_based, slot, &wr);
  if (code != Code::kOk) return code;
  if (WantsSignal(*slot)) wr.send_flags |= IBV_SEND_SIGNALED;
  if (!slot->reads || slot->sge_count <= device_.traits.max_read_sge)
    return PostChain(slot, &wr, due);
  SplitRead parts;
  code = Split(wr, &parts);
  return code == Code::kOk ? PostChain(slot, parts.data(), due) : code;
}

Code SendQueue::PostBind(const SendRequest& request, SendSlot* slot, CqCore::Due* due) {
  Code code = WindowBind::Check(request, progress_.pd);
  if (code != Code::kOk) return code;
  WindowBind bind(device_, request, slot);
  if (WantsSignal(*slot)) bind.last()->send_flags |= IBV_SEND_SIGNALED;
  bind.Enter(qp_);
  code = bind.type2() ? PostChain(slot, bind.first(), due)
                      : BindType1(request, *bind.first(), slot, due);
  if (code == Code::kOk) {
    bind.Posted();
  } else {
    bind.Undo();
  }
  return code;
}

Code SendQueue::PostReadToWindow(const SendRequest& request, SendSlot* slot, CqCore::Due* due) {
  WindowRead read;
  const Code code = read.Fill(device_, request, progress_.pd, slot);
  if (code != Code::kOk) return code;
  if (WantsSignal(*slot)) read.last()->send_flags |= IBV_SEND_SIGNALED;
  return PostChain(slot, read.first(), due);
}

}  // namespace softdat::verbs
