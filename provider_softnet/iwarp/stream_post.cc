// SPDX-License-Identifier: BSD-3-Clause
// Posts: what can be refused at once is refused here; the rest is copied into the queues
// (semantics 10.1).
#include <algorithm>

#include "provider_softnet/iwarp/stream.h"
#include "provider_softnet/iwarp/work_kinds.h"

namespace softdat::softnet {

using transport::Op;

namespace {

Code CodeFor(AccessError error) {
  switch (error) {
    case AccessError::kNone:
      return Code::kOk;
    case AccessError::kRights:
      return Code::kPrivileges;
    case AccessError::kBounds:
    case AccessError::kWrap:
      return Code::kOutOfBounds;
    case AccessError::kInvalidKey:
    case AccessError::kGone:
    case AccessError::kProtectionDomain:
    case AccessError::kQueuePair:
      return Code::kProtection;
  }
  return Code::kInternal;
}

// What the request does with its local segments.
Access LocalAccess(const transport::SendRequest& request) {
  switch (request.op) {
    case Op::kRdmaRead:
      return request.sink_is_window ? Access::kWindowSink : Access::kLocalWrite;
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      return Access::kLocalWrite;
    default:
      return Access::kLocalRead;
  }
}

// Does it take a message of RFC 7306?
bool IsExtension(const transport::SendRequest& request) {
  if (request.op == Op::kRdmaWriteImmediate) return (request.flags & transport::kAsMessage) == 0;
  return request.op == Op::kFetchAdd || request.op == Op::kCompareSwap;
}

constexpr uint64_t kAtomicSize = 8;

}  // namespace

Code CheckLocalSegments(const MemoryTable& memory, uint32_t pd, uint32_t qp, Access access,
                        std::span<const Segment> segments) {
  AccessRequest request{0, pd, qp, access, 0, 0};
  for (const Segment& s : segments) {
    if (s.segment_length == 0) continue;
    request.key = s.lmr_context;
    request.offset = s.virtual_address;
    request.length = s.segment_length;
    const AccessError error = memory.Check(request);
    if (error != AccessError::kNone) return CodeFor(error);
  }
  return Code::kOk;
}

Code Stream::FillBind(const transport::SendRequest& request, SendWork* work) const {
  const Segment part = request.local.empty() ? Segment{} : request.local[0];
  work->region = request.bind.region == nullptr ? 0 : request.bind.region->local_key();
  work->remote_address = reinterpret_cast<uintptr_t>(request.bind.context);
  work->compare = part.virtual_address;
  work->swap_or_add = part.segment_length;
  work->privileges = request.bind.privileges;
  work->zero_based = request.bind.zero_based;
  work->segment_count = 0;
  work->length = part.segment_length;
  MemoryTable::BindRequest bind;
  bind.key = request.key;
  bind.region = work->region;
  bind.offset = work->compare;
  bind.length = work->swap_or_add;
  bind.privileges = request.bind.privileges;
  bind.zero_based = request.bind.zero_based;
  bind.pd = config_.pd;
  bind.qp = config_.qp;
  const AccessError error = config_.memory->CheckBind(&bind);
  work->remote_key = bind.window;
  return CodeFor(error);
}

// Lengths and keys of everything that moves data.
Code Stream::FillTransfer(const transport::SendRequest& request, SendWork* work,
                          Segment* segments) {
  if (TakesReadCredit(*work)) {
    if (config_.agreement.ord == 0) return Code::kNoResources;
    if (!HavePending()) return Code::kNoMemory;
  } else if (work->confirm) {
    if (!CanConfirm()) return Code::kNoResources;
    if (!HavePending()) return Code::kNoMemory;
  }
  const Code code = CopySegments(request.local, config_.send_queue->max_segments(), segments,
                                 &work->segment_count, &work->length);
  if (code != Code::kOk) return code;
  const uint64_t remote_length = request.remote.segment_length;
  switch (request.op) {
    case Op::kRdmaWrite:
    case Op::kRdmaWriteImmediate:
      if (remote_length < work->length) return Code::kLength;
      break;
    case Op::kRdmaRead:
      if (work->length < remote_length && !config_.short_reads) return Code::kLength;
      work->length = std::min(work->length, remote_length);
      break;
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      if (work->length < kAtomicSize) return Code::kLength;
      work->length = kAtomicSize;
      work->compare = request.atomic.compare;
      work->swap_or_add = request.atomic.swap_or_add;
      break;
    default:
      break;
  }
  if (work->length > kMaxMessage) return Code::kLength;
  if (GathersAtOnce(*work)) return Code::kOk;  // judged when it is copied
  return CheckLocalSegments(*config_.memory, config_.pd, config_.qp, LocalAccess(request),
                            {segments, work->segment_count});
}

// A small message that finds nothing in front of it becomes an FPDU in the post itself: its memory
// is looked up once, and nothing is left to look for when it is transmitted.
bool Stream::GathersAtOnce(const SendWork& work) const {
  return work.length <= kInlinePayload && phase_ == Phase::kOpen && tx_front_ == tx_back_ &&
         send_next_ == config_.send_queue->back() && !ResponseDue() && turn_ == Turn::kNone &&
         !rtr_due_ && (config_.initiator || first_fpdu_seen_) &&
         (work.flags & transport::kFence) == 0 &&
         (work.op == Op::kSend || work.op == Op::kSendInvalidate || work.op == Op::kRdmaWrite);
}

Code Stream::FillWork(const transport::SendRequest& request, SendWork* work, Segment* segments) {
  work->cookie = request.cookie;
  work->op = request.op;
  work->flags = request.flags;
  work->remote_address = request.remote.virtual_address;
  work->remote_key = request.remote.rmr_context;
  work->key = request.key;
  work->sink_is_window = request.sink_is_window;
  work->invalidate_sink = request.invalidate_sink;
  work->confirm = (config_.confirm && CanConfirm() && IsUnanswered(request.op)) ||
                  ((request.flags & transport::kConfirm) != 0 && IsWrite(request.op));
  work->done = false;
  work->status = transport::WorkStatus::kSuccess;
  work->reads_pending = 0;
  work->msn = 0;
  work->all_sent = false;
  if (request.op == Op::kBind) return FillBind(request, work);
  if (request.op > Op::kBind) return Code::kInvalidArgument;
  if (IsExtension(request) && !config_.extensions) return Code::kNotSupported;
  return FillTransfer(request, work, segments);
}

Code Stream::PostSend(const transport::SendRequest& request) {
  if (phase_ == Phase::kEnded) {
    if (FlushPostedSend(request, config_.send_completions, config_.context)) {
      actions_ |= kActNotifySend;
    }
    return Code::kOk;
  }
  if (phase_ == Phase::kDraining) return Code::kInvalidState;
  SendQueue& queue = *config_.send_queue;
  if (queue.full()) return Code::kQueueFull;
  SendWork& work = queue.Prepare();
  Code code = FillWork(request, &work, queue.PrepareSegments());
  if (code != Code::kOk) return code;
  if (arena_ == nullptr && !TakeArena()) return Code::kNoMemory;
  const bool at_once = GathersAtOnce(work);
  queue.Commit();
  if (at_once && !GatherData(&work, /*alone=*/false)) [[unlikely]] {
    // What cannot be read is refused as in any other post.
    code = CheckLocalSegments(*config_.memory, config_.pd, config_.qp, Access::kLocalRead,
                              queue.segments(send_next_));
    if (code != Code::kOk) {
      queue.Withdraw();
      GiveArenaBack();  // nothing was in front of it
    }
  }
  return code;
}

Code Stream::PostReceive(const transport::ReceiveRequest& request) {
  if (config_.receive_queue == nullptr) return Code::kInvalidState;
  if (phase_ != Phase::kEnded) {
    const Code code = CheckLocalSegments(*config_.memory, config_.pd, config_.qp,
                                         Access::kLocalWrite, request.local);
    if (code != Code::kOk) return code;
  }
  const Code code = config_.receive_queue->Post(request);
  if (code != Code::kOk) return code;
  if (phase_ == Phase::kEnded) {
    FlushReceivesOf(Blame::Nobody());
  } else {
    OnReceivePosted();
  }
  return Code::kOk;
}

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
