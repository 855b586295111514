// SPDX-License-Identifier: BSD-3-Clause
// QueuePair: carries out one request against the peer. The "wire" of the toy is this copy.
#include <utility>

#include "dat2/dat_ib_extensions.h"
#include "provider_toy/queue_pair.h"

namespace softdat::toy {

using transport::Op;
using transport::SendRequest;
using transport::WorkStatus;

// The program has unmapped or protected memory that is still registered.
QueuePair::Outcome QueuePair::SourceIsGone() {
  return {.status = WorkStatus::kLocalProtection, .why = "the source buffer is not mapped"};
}

QueuePair::Outcome QueuePair::SinkIsGone() {
  return {.status = WorkStatus::kLocalProtection, .why = "the sink is not mapped"};
}

QueuePair::Outcome QueuePair::TargetIsGone() {
  return {.status = WorkStatus::kRemoteAccess, .why = "remote access refused: it is not mapped"};
}

QueuePair::Outcome QueuePair::Execute(SendWork& work, QueuePair& peer) {
  switch (work.request.op) {
    case Op::kSend:
    case Op::kSendInvalidate:
      return ExecuteSend(work.request, peer);
    case Op::kRdmaWrite:
    case Op::kRdmaWriteImmediate:
      return ExecuteWrite(work.request, peer);
    case Op::kRdmaRead:
      return ExecuteRead(work.request, peer);
    case Op::kFetchAdd:
    case Op::kCompareSwap:
      return ExecuteAtomic(work.request, peer);
    default:
      return ExecuteBind(work);
  }
}

// The engine must know that a queue pair is connected before the pair gets its first message.
bool QueuePair::CanReceive() const {
  return established_reported_ && (srq_ != nullptr ? !srq_->empty() : !receives_.empty());
}

bool QueuePair::TakeReceive(ReceiveWork* receive, Outcome* outcome) {
  if (srq_ == nullptr) {
    *receive = receives_.Pop();
    return true;
  }
  *receive = srq_->Take();
  // A message holds its buffer until it is copied, so a queue pair holds one at a time (semantics
  // 11).
  constexpr uint32_t kHeld = 1;
  if (kHeld > soft_watermark_) {
    soft_watermark_ = transport::kNoWatermark;
    dispatcher_.Post(gate_, [sink = attributes_.sink] { sink->OnReceiveWatermark(); });
  }
  if (kHeld <= hard_watermark_) return true;
  FlushReceive(*receive);
  *outcome = {.status = WorkStatus::kRemoteResponder,
              .why = "the peer holds more receives of its SRQ than its hard high watermark"};
  return false;
}

QueuePair::Outcome QueuePair::ExecuteSend(const SendRequest& request, QueuePair& peer) {
  if (!peer.CanReceive()) return {.stalled = true, .why = ""};
  WindowState* window = nullptr;
  if (request.op == Op::kSendInvalidate) {
    window = fabric_.keys().FindWindow(request.key, peer.accessor());
    if (window == nullptr) {
      return {.status = WorkStatus::kRemoteAccess, .why = "nothing to invalidate at the peer"};
    }
  }
  // The memory may have been deregistered since the post.
  Pieces from;
  if (fabric_.keys().ResolveLocal(request.local, attributes_.pd, false, &from) != Code::kOk) {
    return {.status = WorkStatus::kLocalProtection, .why = "the send buffer is not registered"};
  }
  if (!StillThere(from, from.total, false)) return SourceIsGone();
  ReceiveWork receive;
  Outcome refused;
  if (!peer.TakeReceive(&receive, &refused)) return refused;
  const transport::ProtectionDomain* const pd =
      peer.srq_ != nullptr ? peer.srq_->pd() : peer.attributes_.pd;
  Pieces to;
  if (fabric_.keys().ResolveLocal(receive.local(), pd, true, &to) != Code::kOk) {
    peer.CompleteReceive(receive, WorkStatus::kLocalProtection, nullptr, nullptr);
    return {.status = WorkStatus::kRemoteResponder, .why = "the receive buffer is not registered"};
  }
  if (to.total < from.total) {
    peer.CompleteReceive(receive, WorkStatus::kLocalLength, nullptr, nullptr);
    return {.status = WorkStatus::kRemoteResponder,
            .why = "the message is longer than the receive"};
  }
  if (!StillThere(to, from.total, true)) {
    peer.CompleteReceive(receive, WorkStatus::kLocalProtection, nullptr, nullptr);
    return {.status = WorkStatus::kRemoteResponder, .why = "the receive buffer is not mapped"};
  }
  Copy(from, to, from.total);
  if (window != nullptr) KeyTable::Unbind(*window);
  peer.CompleteReceive(receive, WorkStatus::kSuccess, &from, &request);
  return {.length = from.total, .why = ""};
}

QueuePair::Outcome QueuePair::ExecuteWrite(const SendRequest& request, QueuePair& peer) {
  const bool immediate = request.op == Op::kRdmaWriteImmediate;
  if (immediate && !peer.CanReceive()) return {.stalled = true, .why = ""};
  Pieces from, to;
  if (fabric_.keys().ResolveLocal(request.local, attributes_.pd, false, &from) != Code::kOk) {
    return {.status = WorkStatus::kLocalProtection, .why = "the source buffer is not registered"};
  }
  if (!StillThere(from, from.total, false)) return SourceIsGone();
  std::string why;
  if (!fabric_.keys().ResolveRemote(request.remote.rmr_context, request.remote.virtual_address,
                                    from.total, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, peer.accessor(),
                                    &to, &why)) {
    return {.status = WorkStatus::kRemoteAccess, .why = std::move(why)};
  }
  if (!StillThere(to, from.total, true)) return TargetIsGone();
  Copy(from, to, from.total);
  if (immediate) {
    ReceiveWork receive;
    Outcome refused;
    if (!peer.TakeReceive(&receive, &refused)) return refused;
    peer.CompleteReceive(receive, WorkStatus::kSuccess, &from, &request);
  }
  return {.length = from.total, .why = ""};
}

Code QueuePair::ResolveReadSink(const SendRequest& request, Pieces* out) {
  if (!request.sink_is_window) {
    return fabric_.keys().ResolveLocal(request.local, attributes_.pd, true, out);
  }
  const DAT_LMR_TRIPLET& sink = request.local[0];
  std::string why;
  const bool ok =
      fabric_.keys().FindWindow(sink.lmr_context, accessor()) != nullptr &&
      fabric_.keys().ResolveRemote(sink.lmr_context, sink.virtual_address, sink.segment_length,
                                   DAT_MEM_PRIV_REMOTE_WRITE_FLAG, accessor(), out, &why);
  return ok ? Code::kOk : Code::kProtection;
}

QueuePair::Outcome QueuePair::ExecuteRead(const SendRequest& request, QueuePair& peer) {
  Pieces from, to;
  if (ResolveReadSink(request, &to) != Code::kOk) {
    return {.status = WorkStatus::kLocalProtection, .why = "the sink is not accessible"};
  }
  std::string why;
  const uint64_t length = request.remote.segment_length;
  if (!fabric_.keys().ResolveRemote(request.remote.rmr_context, request.remote.virtual_address,
                                    length, DAT_MEM_PRIV_REMOTE_READ_FLAG, peer.accessor(), &from,
                                    &why)) {
    return {.status = WorkStatus::kRemoteAccess, .why = std::move(why)};
  }
  if (!StillThere(from, length, false)) return TargetIsGone();
  if (!StillThere(to, length, true)) return SinkIsGone();
  Copy(from, to, length);
  if (request.sink_is_window && request.invalidate_sink) {
    KeyTable::Unbind(*fabric_.keys().FindWindow(request.local[0].lmr_context, accessor()));
  }
  return {.length = length, .why = ""};
}

QueuePair::Outcome QueuePair::ExecuteAtomic(const SendRequest& request, QueuePair& peer) {
  Pieces from, to;
  if (fabric_.keys().ResolveLocal(request.local, attributes_.pd, true, &to) != Code::kOk) {
    return {.status = WorkStatus::kLocalProtection, .why = "the result buffer is not registered"};
  }
  std::string why;
  if (!fabric_.keys().ResolveRemote(request.remote.rmr_context, request.remote.virtual_address,
                                    sizeof(uint64_t), DAT_IB_MEM_PRIV_REMOTE_ATOMIC,
                                    peer.accessor(), &from, &why)) {
    return {.status = WorkStatus::kRemoteAccess, .why = std::move(why)};
  }
  uint8_t* const at = from.piece[0].data();
  if (reinterpret_cast<uintptr_t>(at) % sizeof(uint64_t) != 0) {
    return {.status = WorkStatus::kRemoteResponder, .why = "atomic operand is not aligned"};
  }
  if (!StillThere(from, sizeof(uint64_t), true)) return TargetIsGone();
  if (!StillThere(to, sizeof(uint64_t), true)) return SinkIsGone();
  // Atomic with respect to the local processors, not only to other connections.
  uint64_t* const operand = reinterpret_cast<uint64_t*>(at);
  uint64_t old = request.atomic.compare;
  if (request.op == Op::kFetchAdd) {
    old = __atomic_fetch_add(operand, request.atomic.swap_or_add, __ATOMIC_SEQ_CST);
  } else {
    __atomic_compare_exchange_n(operand, &old, request.atomic.swap_or_add, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
  }
  Pieces result;
  result.Add({reinterpret_cast<uint8_t*>(&old), sizeof old});
  Copy(result, to, sizeof old);
  return {.length = sizeof old, .why = ""};
}

QueuePair::Outcome QueuePair::ExecuteBind(SendWork& work) {
  if (fabric_.keys().CheckBind(work.request, work.region.get(), *work.window, attributes_.pd) !=
      Code::kOk) {
    return {.status = WorkStatus::kBindFailed, .why = "the memory to bind is not registered"};
  }
  fabric_.keys().Bind(work.request, std::move(work.region), *work.window, number_);
  return {.why = ""};
}

}  // namespace softdat::toy
