// SPDX-License-Identifier: BSD-3-Clause
// QueuePair: posting, configuration and the states. transfer.cc moves the data, and connect.cc
// makes the connections.
#include "provider_toy/queue_pair.h"

#include <algorithm>
#include <utility>

#include "provider_toy/registered_memory.h"

namespace softdat::toy {
namespace {

uint64_t TotalLength(std::span<const DAT_LMR_TRIPLET> local) {
  uint64_t total = 0;
  for (const DAT_LMR_TRIPLET& segment : local) total += segment.segment_length;
  return total;
}

// RDMA lengths (semantics 10.1): a write moves the local total, a read the remote length.
Code CheckLengths(const transport::SendRequest& request) {
  const uint64_t local = TotalLength(request.local);
  if (local > kMaxMessage) return Code::kLength;
  switch (request.op) {
    case transport::Op::kRdmaWrite:
    case transport::Op::kRdmaWriteImmediate:
      return request.remote.segment_length < local ? Code::kLength : Code::kOk;
    case transport::Op::kRdmaRead:
      return local < request.remote.segment_length ? Code::kLength : Code::kOk;
    case transport::Op::kFetchAdd:
    case transport::Op::kCompareSwap:
      return local != sizeof(uint64_t) ? Code::kLength : Code::kOk;
    default:
      return Code::kOk;
  }
}

}  // namespace

QueuePair::QueuePair(Fabric& fabric, Dispatcher& dispatcher, uint32_t device, Quota::Slot slot,
                     const transport::QueuePairAttributes& attributes)
    : fabric_(fabric),
      dispatcher_(dispatcher),
      device_(device),
      slot_(std::move(slot)),
      number_(fabric.NextQueuePairNumber()) {
  Apply(attributes);
}

QueuePair::~QueuePair() {
  if (fabric_.abandoned()) return;
  gate_->Close();
  const Fabric::Lock lock(fabric_);
  QueuePair* const peer = Peer();
  CloseConnection();
  // A queue pair that is gone gets no new completions. Those that are queued stay.
  if (peer != nullptr) {
    peer->EndSide(transport::EndReason::kDisconnected, "the peer destroyed its queue pair");
  }
  if (srq_ != nullptr) srq_->RemoveUser(this);
}

void QueuePair::Apply(const transport::QueuePairAttributes& attributes) {
  const auto state_of = [](transport::CompletionQueue* cq) {
    return cq != nullptr ? static_cast<CompletionQueue*>(cq)->state() : nullptr;
  };
  if (srq_ != nullptr) srq_->RemoveUser(this);
  attributes_ = attributes;
  send_cq_ = state_of(attributes.send_cq);
  recv_cq_ = state_of(attributes.recv_cq);
  srq_ = static_cast<SharedReceiveQueue*>(attributes.srq);
  if (srq_ != nullptr) srq_->AddUser(this);
  sends_.Resize(attributes.max_send);
  receives_.Resize(attributes.max_recv);
}

Status QueuePair::Configure(const transport::QueuePairAttributes& attributes) {
  const Fabric::Lock lock(fabric_);
  if (state_ != State::kIdle && state_ != State::kEnded) {
    return Status(Code::kInvalidState, "a connected queue pair cannot be reconfigured");
  }
  if (attributes.max_recv < receives_.size()) {
    return Status(Code::kInvalidState, "more receives are posted than the new size holds");
  }
  Apply(attributes);
  return Status::Ok();
}

Code QueuePair::PostReceive(const transport::ReceiveRequest& request) {
  const Fabric::Lock lock(fabric_);
  if (srq_ != nullptr) return Code::kInvalidState;
  if (request.local.size() > std::min(attributes_.max_recv_iov, kMaxIov)) {
    return Code::kInvalidArgument;
  }
  Pieces unused;
  const Code code = fabric_.keys().ResolveLocal(request.local, attributes_.pd, true, &unused);
  if (code != Code::kOk) return code;
  if (state_ != State::kEnded && receives_.full()) return Code::kQueueFull;
  ReceiveWork work;
  work.cookie = request.cookie;
  work.flags = request.flags;
  if (state_ == State::kEnded) {
    FlushReceive(work);
    return Code::kOk;
  }
  work.count = static_cast<uint32_t>(request.local.size());
  std::copy(request.local.begin(), request.local.end(), work.segments.begin());
  receives_.Push(work);
  if (QueuePair* const peer = Peer()) peer->Pump();
  return Code::kOk;
}

Code QueuePair::CheckSend(const transport::SendRequest& request, SendWork* work) const {
  if (request.local.size() > std::min(attributes_.max_send_iov, kMaxIov)) {
    return Code::kInvalidArgument;
  }
  if (const Code code = CheckLengths(request); code != Code::kOk) return code;
  Pieces unused;
  switch (request.op) {
    case transport::Op::kBind:
      if (request.local.size() != 1 || request.bind.window == nullptr)
        return Code::kInvalidArgument;
      // An unbind names no region.
      if (request.bind.region != nullptr) {
        work->region = static_cast<const MemoryRegion*>(request.bind.region)->state();
      }
      work->window = static_cast<const MemoryWindow*>(request.bind.window)->state();
      return fabric_.keys().CheckBind(request, work->region.get(), *work->window, attributes_.pd);
    case transport::Op::kRdmaRead:
      if (request.sink_is_window) {
        return request.local.size() == 1 ? Code::kOk : Code::kInvalidArgument;
      }
      [[fallthrough]];
    case transport::Op::kFetchAdd:
    case transport::Op::kCompareSwap:
      return fabric_.keys().ResolveLocal(request.local, attributes_.pd, true, &unused);
    case transport::Op::kSend:
    case transport::Op::kSendInvalidate:
    case transport::Op::kRdmaWrite:
    case transport::Op::kRdmaWriteImmediate:
      return fabric_.keys().ResolveLocal(request.local, attributes_.pd, false, &unused);
    default:
      return Code::kInvalidArgument;  // a receive kind
  }
}

Code QueuePair::PostSend(const transport::SendRequest& request) {
  const Fabric::Lock lock(fabric_);
  if (state_ != State::kConnected && state_ != State::kEnded) return Code::kInvalidState;
  SendWork work;
  const Code code = CheckSend(request, &work);
  if (code != Code::kOk) return code;
  if (state_ == State::kEnded) {
    CompleteSend(request, transport::WorkStatus::kFlushed, 0);
    return Code::kOk;
  }
  if (sends_.full()) return Code::kQueueFull;
  work.request = request;
  work.count = static_cast<uint32_t>(request.local.size());
  std::copy(request.local.begin(), request.local.end(), work.segments.begin());
  sends_.Push(std::move(work));
  Pump();
  return Code::kOk;
}

void QueuePair::Pump() {
  while ((state_ == State::kConnected || state_ == State::kDraining) && !sends_.empty()) {
    SendWork& front = sends_.front();
    front.request.local = {front.segments.data(), front.count};
    const Outcome outcome = Execute(front, *Peer());
    if (outcome.stalled) return;
    const SendWork done = sends_.Pop();
    CompleteSend(done.request, outcome.status, outcome.length);
    if (outcome.status != transport::WorkStatus::kSuccess) {
      EndBoth(transport::EndReason::kBroken, outcome.why);
    }
  }
  if (state_ == State::kDraining) {
    EndBoth(transport::EndReason::kDisconnected, "graceful disconnect");
  }
}

void QueuePair::CompleteSend(const transport::SendRequest& request, transport::WorkStatus status,
                             uint64_t length) {
  const bool succeeded = status == transport::WorkStatus::kSuccess;
  if (succeeded && (request.flags & transport::kSuppress) != 0) return;
  transport::Completion completion;
  completion.context =
      request.op == transport::Op::kBind ? request.bind.context : attributes_.context;
  completion.cookie = request.cookie;
  completion.length = length;
  completion.op = request.op;
  completion.status = status;
  completion.flags = request.flags & transport::kEchoed;
  fabric_.Complete(send_cq_, completion);
}

void QueuePair::CompleteReceive(const ReceiveWork& work, transport::WorkStatus status,
                                const Pieces* data, const transport::SendRequest* sent) {
  transport::Completion completion;
  completion.context = attributes_.context;
  completion.cookie = work.cookie;
  completion.flags = work.flags & transport::kEchoed;
  completion.op = transport::Op::kReceive;
  completion.status = status;
  if (data != nullptr) completion.length = data->total;
  if (sent != nullptr) {
    completion.solicited = (sent->flags & transport::kSolicited) != 0;
    if (sent->op == transport::Op::kSendInvalidate) {
      completion.op = transport::Op::kReceiveInvalidate;
    } else if (sent->op == transport::Op::kRdmaWriteImmediate) {
      completion.op = transport::Op::kReceiveImmediate;
    }
    completion.key = sent->key;
  }
  if (attributes_.solicited_receives && !completion.solicited)
    completion.flags |= transport::kQuiet;
  fabric_.Complete(recv_cq_, completion);
}

void QueuePair::FlushReceive(const ReceiveWork& work) {
  CompleteReceive(work, transport::WorkStatus::kFlushed, nullptr, nullptr);
}

void QueuePair::Flush() {
  while (!sends_.empty()) {
    const SendWork work = sends_.Pop();
    CompleteSend(work.request, transport::WorkStatus::kFlushed, 0);
  }
  while (!receives_.empty()) FlushReceive(receives_.Pop());
}

uint32_t QueuePair::OutstandingSends() const {
  const Fabric::Lock lock(fabric_);
  return static_cast<uint32_t>(sends_.size());
}

uint32_t QueuePair::OutstandingReceives() const {
  const Fabric::Lock lock(fabric_);
  // A message takes a buffer of an SRQ and completes it in one step, so the pair never holds one.
  return static_cast<uint32_t>(receives_.size());
}

Status QueuePair::SetReceiveWatermarks(uint32_t soft, uint32_t hard) {
  const Fabric::Lock lock(fabric_);
  soft_watermark_ = soft;
  hard_watermark_ = hard;
  return Status::Ok();
}

}  // namespace softdat::toy
