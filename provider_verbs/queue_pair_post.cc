// SPDX-License-Identifier: BSD-3-Clause
// QpCore: the send queue. No allocation, one verbs call per post.
#include <errno.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "dat/base/log.h"
#include "provider_verbs/os_error.h"
#include "provider_verbs/queue_pair.h"

namespace softdat::verbs {

using transport::Completion;
using transport::kEchoed;
using transport::kFence;
using transport::kQuiet;
using transport::kSolicited;
using transport::kSuppress;
using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;

namespace {

constexpr bool ReadsRemote(Op op) {
  return op == Op::kRdmaRead || op == Op::kFetchAdd || op == Op::kCompareSwap;
}

ibv_wr_opcode OpcodeOf(Op op) {
  switch (op) {
    case Op::kSendInvalidate:
      return IBV_WR_SEND_WITH_INV;
    case Op::kRdmaWrite:
      return IBV_WR_RDMA_WRITE;
    case Op::kRdmaWriteImmediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Op::kRdmaRead:
      return IBV_WR_RDMA_READ;
    case Op::kFetchAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case Op::kCompareSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    default:
      return IBV_WR_SEND;
  }
}

// Cuts a read's segments to the length that it moves (semantics 10.1: the remote triplet's).
void TrimTo(uint64_t length, SendSlot* slot) {
  uint8_t n = 0;
  while (n < slot->sge_count && length > 0) {
    if (slot->sge[n].length > length) slot->sge[n].length = static_cast<uint32_t>(length);
    length -= slot->sge[n++].length;
  }
  slot->sge_count = n;
}

}  // namespace

// What most requests are: one segment of the region that the queue used last, sent or written
// without flags. In one piece, because the general way takes three times as many instructions.
// False, and nothing has happened, for every other request, and where the general way will find
// something to complain of.
[[gnu::always_inline]] inline bool QpCore::PostPlain(const SendRequest& request) {
  const bool write = request.op == Op::kRdmaWrite;
  if (!write && request.op != Op::kSend) return false;
  if (request.local.size() != 1 || request.flags != 0) return false;
  const DAT_LMR_TRIPLET& segment = request.local[0];
  const auto length = static_cast<uint32_t>(segment.segment_length);
  const uint32_t sequence = sends_posted_.load(std::memory_order_relaxed);
  if (length - 1 >= plain_limit_ || (write && length > request.remote.segment_length) ||
      !send_regions_.Covers(device_.regions, segment) ||
      sequence - completions.sends_retired.load(std::memory_order_acquire) >= max_send_) {
    return false;
  }
  SendSlot* const slot = &send_slots_[sequence & send_mask_];
  slot->done.context = completions.context;
  slot->done.cookie = request.cookie;
  slot->done.length = length;
  slot->done.op = request.op;
  slot->done.status = transport::WorkStatus::kSuccess;
  slot->done.flags = 0;
  slot->sequence = sequence;
  slot->sge_count = 1;
  slot->plain = true;
  slot->suppressed = slot->marker = slot->reads = false;
  // The same layout (asserted below).
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
  // Before the device can complete it.
  sends_posted_.store(sequence + 1, std::memory_order_relaxed);
  ibv_send_wr* bad;
  if (ibv_post_send(qp_, &wr, &bad) != 0) [[unlikely]] {
    sends_posted_.store(sequence, std::memory_order_relaxed);
    return false;
  }
  unsignalled_ = 0;
  return true;
}
static_assert(sizeof(ibv_sge) == sizeof(DAT_LMR_TRIPLET) &&
              offsetof(ibv_sge, addr) == offsetof(DAT_LMR_TRIPLET, virtual_address) &&
              offsetof(ibv_sge, length) == offsetof(DAT_LMR_TRIPLET, segment_length) &&
              offsetof(ibv_sge, lkey) == offsetof(DAT_LMR_TRIPLET, lmr_context));

Code QpCore::PostSend(const SendRequest& request) {
  send_lock_.lock();
  if (state_.load(std::memory_order_relaxed) == State::kConnected && PostPlain(request))
      [[likely]] {
    send_lock_.unlock();
    return Code::kOk;
  }
  return PostAny(request);
}

Code QpCore::PostAny(const SendRequest& request) {
  CqCore::Due due;
  Code code = Code::kInvalidState;
  {
    const std::lock_guard<SpinLock> lock(send_lock_, std::adopt_lock);
    const State state = state_.load(std::memory_order_relaxed);
    if (state == State::kConnected) {
      code = PostSendLocked(request, &due);
    } else if (state == State::kEnding) {
      code = PostLate(request);
    } else if (state == State::kEnded) {
      send_cq_->Push(FlushOf(request), &due);
      code = Code::kOk;
    }
  }
  if (due.any()) [[unlikely]]
    send_cq_->Carry(due);
  return code;
}

// The connection ends, which the consumer may not know yet: flushed like what it posted before, and
// behind it.
Code QpCore::PostLate(const SendRequest& request) {
  if (SendsInFlight() + late_sends_.size() >= max_send_) return Code::kQueueFull;
  late_sends_.push_back(FlushOf(request));
  return Code::kOk;
}

Completion QpCore::FlushOf(const SendRequest& request) const {
  return {.context = request.op == Op::kBind ? request.bind.context : completions.context,
          .cookie = request.cookie,
          .op = request.op,
          .status = WorkStatus::kFlushed,
          .flags = static_cast<uint8_t>(request.flags & kEchoed)};
}

uint32_t QpCore::SendsInFlight() const {
  return sends_posted_.load(std::memory_order_relaxed) -
         completions.sends_retired.load(std::memory_order_acquire);
}

// The next free place, null when all are taken even after a look at the completion queue.
SendSlot* QpCore::NextSlot(CqCore::Due* due) {
  const uint32_t limit = max_send_ + (marker_pending_ ? 1 : 0);
  if (SendsInFlight() >= limit) [[unlikely]] {
    send_cq_->Drain(due);
    if (SendsInFlight() >= limit) return nullptr;
  }
  return &send_slots_[sends_posted_.load(std::memory_order_relaxed) & send_mask_];
}

Code QpCore::FillLocal(const SendRequest& request, SendSlot* slot, bool* zero_based) {
  uint64_t total = 0;
  uint8_t n = 0;
  for (const DAT_LMR_TRIPLET& segment : request.local) {
    if (segment.segment_length == 0) continue;
    if (n == max_send_iov_) return Code::kInvalidArgument;
    const Code code =
        send_regions_.Check(device_.regions, segment, attributes_.pd, slot->reads, zero_based);
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
  if (total > device_.attributes.max_message) return Code::kLength;
  slot->done.length = total;
  return Code::kOk;
}

// The verbs request but for its signalling; also the rules for lengths (semantics 10.1).
Code QpCore::FillRequest(const SendRequest& request, bool zero_based, SendSlot* slot,
                         ibv_send_wr* wr) {
  wr->wr_id = WorkId(slot, SlotTag::kSend);
  wr->next = nullptr;
  wr->opcode = OpcodeOf(request.op);
  wr->send_flags = 0;
  switch (request.op) {
    case Op::kRdmaRead:
      if (request.remote.segment_length > slot->done.length && !device_.traits.short_reads)
        return Code::kLength;
      slot->done.length = std::min<uint64_t>(slot->done.length, request.remote.segment_length);
      TrimTo(slot->done.length, slot);
      break;
    case Op::kRdmaWrite:
    case Op::kRdmaWriteImmediate:
      if (request.remote.segment_length < slot->done.length) return Code::kLength;
      break;
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      if (slot->done.length != sizeof(uint64_t) || slot->sge_count != 1) return Code::kLength;
      wr->wr.atomic.remote_addr = request.remote.virtual_address;
      wr->wr.atomic.rkey = request.remote.rmr_context;
      wr->wr.atomic.compare_add =
          request.op == Op::kFetchAdd ? request.atomic.swap_or_add : request.atomic.compare;
      wr->wr.atomic.swap = request.atomic.swap_or_add;
      break;
    default:
      break;
  }
  if (request.op == Op::kRdmaRead || request.op == Op::kRdmaWrite ||
      request.op == Op::kRdmaWriteImmediate) {
    wr->wr.rdma.remote_addr = request.remote.virtual_address;
    wr->wr.rdma.rkey = request.remote.rmr_context;
  }
  wr->sg_list = slot->sge;
  wr->num_sge = slot->sge_count;
  wr->imm_data = request.key;  // or the key to invalidate: the same place
  if ((request.flags & kFence) != 0) wr->send_flags |= IBV_SEND_FENCE;
  if ((request.flags & kSolicited) != 0) wr->send_flags |= IBV_SEND_SOLICITED;
  if (!slot->reads && slot->done.length <= device_.traits.max_inline && slot->done.length > 0 &&
      !zero_based) {
    wr->send_flags |= IBV_SEND_INLINE;
  }
  return Code::kOk;
}

// Every so many suppressed requests one is signalled all the same, so that the queue's places
// become free; its completion is swallowed.
bool QpCore::WantsSignal(bool suppressed) {
  if (!suppressed || device_.traits.signal_all || unsignalled_ + 1 >= signal_period_) {
    unsignalled_ = 0;
    return true;
  }
  ++unsignalled_;
  return false;
}

// A post has left the pair in a state that it cannot go on from.
void QpCore::NotePostFailure() {
  if (failure_noted_.exchange(true, std::memory_order_relaxed)) return;
  failure_life_.store(hardware_life(), std::memory_order_relaxed);
  PostFailure();
}

// Gives the chain to the device. All its requests share the slot; only the last one may be
// signalled.
Code QpCore::PostChain(SendSlot* slot, ibv_send_wr* first) {
  slot->sequence = sends_posted_.load(std::memory_order_relaxed);
  // Before the device can complete it.
  sends_posted_.store(slot->sequence + 1, std::memory_order_relaxed);
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp_, first, &bad);
  if (error == 0) [[likely]]
    return Code::kOk;
  if (bad != nullptr && bad != first) {
    // Half of it is under way: the pair cannot go on.
    SOFTDAT_LOG(Error, "ibv_post_send took a part of a request: {}", OsText(error));
    NotePostFailure();
    return Code::kOk;
  }
  const int positive = error < 0 ? -error : error;
  SOFTDAT_LOG(Info, "ibv_post_send: {}", OsText(positive));
  // The connection is ending, of which the consumer knows nothing yet. siw has the request in its
  // queue all the same, and flushes it.
  if (positive == ENOTCONN) return Code::kOk;
  sends_posted_.store(slot->sequence, std::memory_order_relaxed);
  if (positive == ENOMEM || positive == EAGAIN) return Code::kQueueFull;
  return positive == EOPNOTSUPP ? Code::kNotSupported : Code::kInvalidArgument;
}

Code QpCore::PostSendLocked(const SendRequest& request, CqCore::Due* due) {
  SendSlot* const slot = NextSlot(due);
  if (slot == nullptr) [[unlikely]]
    return Code::kQueueFull;
  slot->done = {.context = completions.context,
                .cookie = request.cookie,
                .op = request.op,
                .flags = static_cast<uint8_t>(request.flags & kEchoed)};
  slot->plain = false;
  slot->suppressed = (request.flags & kSuppress) != 0;
  slot->marker = false;
  slot->reads = ReadsRemote(request.op);
  if (request.op == Op::kBind) return PostBind(request, slot);
  if (request.op == Op::kRdmaRead && request.sink_is_window) return PostReadToWindow(request, slot);

  bool zero_based = false;
  Code code = FillLocal(request, slot, &zero_based);
  if (code != Code::kOk) return code;
  ibv_send_wr wr;
  code = FillRequest(request, zero_based, slot, &wr);
  if (code != Code::kOk) return code;
  const uint32_t unsignalled = unsignalled_;
  if (WantsSignal(slot->suppressed)) wr.send_flags |= IBV_SEND_SIGNALED;
  code = slot->reads && slot->sge_count > device_.traits.max_read_sge ? PostSplitRead(slot, wr)
                                                                      : PostChain(slot, &wr);
  if (code != Code::kOk) unsignalled_ = unsignalled;
  return code;
}

// iWARP reads have one sink: a read into several segments becomes several reads, the last one
// counts.
Code QpCore::PostSplitRead(SendSlot* slot, const ibv_send_wr& wr) {
  std::array<ibv_send_wr, 64> parts;
  if (slot->sge_count > parts.size()) return Code::kInvalidArgument;
  uint64_t address = wr.wr.rdma.remote_addr;
  for (uint8_t i = 0; i < slot->sge_count; ++i) {
    const bool last = i + 1 == slot->sge_count;
    parts[i] = wr;
    parts[i].sg_list = &slot->sge[i];
    parts[i].num_sge = 1;
    parts[i].wr.rdma.remote_addr = address;
    parts[i].next = last ? nullptr : &parts[i + 1];
    if (!last) parts[i].send_flags &= ~static_cast<unsigned>(IBV_SEND_SIGNALED);
    address += slot->sge[i].length;
  }
  return PostChain(slot, parts.data());
}

bool QpCore::MarkerInFlight() const {
  const uint32_t retired = completions.sends_retired.load(std::memory_order_acquire);
  return marker_pending_ && static_cast<int32_t>(marker_sequence_ - retired) >= 0;
}

// A request without effect, whose completion tells that all before it are complete: an RDMA write
// of no bytes, for which no key is looked at (IBTA vol. 1 §9.7.5.2.8).
void QpCore::PostMarkerLocked() {
  if (MarkerInFlight()) return;
  marker_pending_ = false;
  if (qp_ == nullptr || unsignalled_ == 0 || device_.traits.signal_all) return;
  SendSlot* const slot = &send_slots_[sends_posted_.load(std::memory_order_relaxed) & send_mask_];
  slot->done = {.op = Op::kRdmaWrite, .flags = kQuiet};
  slot->marker = slot->suppressed = true;
  slot->plain = slot->reads = false;
  slot->sge_count = 0;
  ibv_send_wr wr{};
  wr.wr_id = WorkId(slot, SlotTag::kSend);
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  marker_sequence_ = sends_posted_.load(std::memory_order_relaxed);
  if (PostChain(slot, &wr) != Code::kOk) return;
  marker_pending_ = true;
  unsignalled_ = 0;
}

uint32_t QpCore::OutstandingSends() {
  CqCore::Due due;
  uint32_t outstanding = 0;
  CqCore* cq = nullptr;
  {
    const std::lock_guard<SpinLock> lock(send_lock_);
    const auto late = static_cast<uint32_t>(late_sends_.size());
    outstanding = SendsInFlight() + late;
    if (outstanding == 0 || send_cq_ == nullptr) return 0;
    cq = send_cq_;
    // Suppressed requests at the tail: only a marker can tell, by the time of the next question.
    if (state_.load(std::memory_order_relaxed) == State::kConnected) PostMarkerLocked();
    cq->Drain(&due);
    outstanding = SendsInFlight() + late;
    if (outstanding > 0 && MarkerInFlight()) --outstanding;
  }
  cq->Carry(due);
  return outstanding;
}

}  // namespace softdat::verbs
