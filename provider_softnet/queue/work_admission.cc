// SPDX-License-Identifier: BSD-3-Clause
// The part of WorkLedger that takes posts. It refuses what can be refused at once, and copies the
// rest into the queue (semantics 10.1).
#include <algorithm>

#include "provider_softnet/memory/local_segments.h"
#include "provider_softnet/queue/work_kinds.h"
#include "provider_softnet/queue/work_ledger.h"

namespace softdat::softnet {

using transport::Op;

namespace {

constexpr uint64_t kAtomicSize = 8;

// How the request accesses its local segments.
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

// Whether it is immediate data with a write, or an atomic.
bool IsExtension(const transport::SendRequest& request) {
  if (request.op == Op::kRdmaWriteImmediate) return (request.flags & transport::kAsMessage) == 0;
  return request.op == Op::kFetchAdd || request.op == Op::kCompareSwap;
}

// What does not depend on the kind of the request. Nothing of it has been done.
inline void Begin(const transport::SendRequest& request, SendWork* work) {
  work->cookie = request.cookie;
  work->op = request.op;
  work->flags = request.flags;
  work->remote.address = request.remote.virtual_address;
  work->remote.key = request.remote.rmr_context;
  work->key = request.key;
  work->sink_is_window = request.sink_is_window;
  work->invalidate_sink = request.invalidate_sink;
  work->done = false;
  work->status = transport::WorkStatus::kSuccess;
  work->reads_pending = 0;
  work->msn = 0;
  work->all_sent = false;
}

}  // namespace

[[gnu::hot]] Code WorkLedger::Prepare(const transport::SendRequest& request,
                                      const AdmissionRules& rules, SendWork** prepared) {
  SendQueue& queue = sends();
  if (queue.full()) return Code::kQueueFull;
  SendWork& work = queue.Prepare();
  *prepared = &work;
  Begin(request, &work);
  work.confirm = (rules.confirms && rules.can_confirm && IsUnanswered(request.op)) ||
                 ((request.flags & transport::kConfirm) != 0 && IsWrite(request.op));
  if (request.op == Op::kBind) return FillBind(request, &work);
  if (request.op > Op::kBind) return Code::kInvalidArgument;
  if (IsExtension(request) && !rules.extensions) return Code::kNotSupported;
  return FillTransfer(request, rules, &work);
}

[[gnu::hot]] SendWork& WorkLedger::FillAccepted(const transport::SendRequest& request,
                                                const Segment& segment, bool confirm) {
  SendQueue& queue = sends();
  SendWork& work = queue.Prepare();
  Begin(request, &work);
  work.confirm = confirm;
  work.length = segment.segment_length;
  work.segment_count = segment.segment_length > 0 ? 1 : 0;
  queue.PrepareSegments()[0] = segment;
  return work;
}

Code WorkLedger::PrepareDatagram(const transport::SendRequest& request, uint64_t longest) {
  if (request.op != Op::kSendDatagram) return Code::kInvalidArgument;
  SendQueue& queue = sends();
  if (queue.full()) return Code::kQueueFull;
  SendWork& work = queue.Prepare();
  work.cookie = request.cookie;
  work.op = request.op;
  work.flags = request.flags;
  work.datagram = {request.datagram.number, request.datagram.qkey};
  work.confirm = false;
  work.done = false;
  work.status = transport::WorkStatus::kSuccess;
  const Code code = CopySegments(request.local, queue.max_segments(), queue.PrepareSegments(),
                                 &work.segment_count, &work.length);
  if (code != Code::kOk) return code;
  return work.length > longest ? Code::kLength : JudgeLocal(request, work);
}

Code WorkLedger::FillBind(const transport::SendRequest& request, SendWork* work) const {
  const Segment part = request.local.empty() ? Segment{} : request.local[0];
  work->segment_count = 0;
  work->length = part.segment_length;
  work->bind = {};
  work->bind.context = request.bind.context;
  work->bind.offset = part.virtual_address;
  work->bind.region = request.bind.region == nullptr ? 0 : request.bind.region->local_key();
  work->bind.privileges = request.bind.privileges;
  work->bind.zero_based = request.bind.zero_based;
  MemoryTable::BindRequest bind = BindOf(*work);
  const AccessError error = config_.memory->CheckBind(&bind);
  work->bind.window = bind.window;
  return CodeFor(error);
}

// Checks and fills in the lengths of every operation that moves data.
[[gnu::hot]] Code WorkLedger::FillTransfer(const transport::SendRequest& request,
                                           const AdmissionRules& rules, SendWork* work) {
  if (TakesReadCredit(*work) ? !rules.reads : work->confirm && !rules.can_confirm) {
    return Code::kNoResources;
  }
  const Code code = CopySegments(request.local, sends().max_segments(), sends().PrepareSegments(),
                                 &work->segment_count, &work->length);
  if (code != Code::kOk) return code;
  const uint64_t remote_length = request.remote.segment_length;
  switch (request.op) {
    case Op::kRdmaWrite:
    case Op::kRdmaWriteImmediate:
      if (remote_length < work->length) return Code::kLength;
      break;
    case Op::kRdmaRead:
      if (work->length < remote_length && !rules.short_reads) return Code::kLength;
      work->length = std::min(work->length, remote_length);
      break;
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      if (work->length < kAtomicSize) return Code::kLength;
      work->length = kAtomicSize;
      work->remote.compare = request.atomic.compare;
      work->remote.swap_or_add = request.atomic.swap_or_add;
      break;
    default:
      break;
  }
  return work->length > rules.max_message ? Code::kLength : Code::kOk;
}

[[gnu::hot]] Code WorkLedger::JudgeLocal(const transport::SendRequest& request,
                                         const SendWork& work) const {
  if (request.op == Op::kBind) return Code::kOk;
  return CheckLocalSegments(*config_.memory, config_.pd, config_.qp, LocalAccess(request),
                            {sends().PrepareSegments(), work.segment_count});
}

}  // namespace softdat::softnet
