// SPDX-License-Identifier: BSD-3-Clause
// The part of WorkLedger that completes requests, receives and binds.
#include "provider_softnet/queue/work_ledger.h"

#include "provider_softnet/memory/local_segments.h"
#include "provider_softnet/queue/flush.h"

namespace softdat::softnet {

using transport::WorkStatus;

// -------------------------------------------------------------------------------------------------
// Requests

void WorkLedger::FlushPosted(const transport::SendRequest& request) {
  if (FlushPostedSend(request, config_.send_completions, config_.context)) notices_.send = true;
}

MemoryTable::BindRequest WorkLedger::BindOf(const SendWork& work) const {
  MemoryTable::BindRequest bind;
  bind.key = work.key;
  bind.region = work.bind.region;
  bind.offset = work.bind.offset;
  bind.length = work.length;
  bind.privileges = work.bind.privileges;
  bind.zero_based = work.bind.zero_based;
  bind.pd = config_.pd;
  bind.qp = config_.qp;
  bind.window = work.bind.window;
  return bind;
}

AccessError WorkLedger::CarryOutBind(const SendWork& work) {
  return config_.memory->Bind(BindOf(work));
}

// Takes the oldest send out of its queue and reports it. The slot is free before anybody can see
// the completion, because the consumer may post again at once.
[[gnu::hot]] void WorkLedger::CompleteOldestSend(WorkStatus status) {
  SendQueue& queue = sends();
  const SendWork& work = queue.at(queue.front());
  const bool suppressed =
      status == WorkStatus::kSuccess && (work.flags & transport::kSuppress) != 0;
  if (suppressed || config_.send_completions == nullptr) return queue.PopFront();
  transport::Completion c;
  c.context = work.op == transport::Op::kBind ? work.bind.context : config_.context;
  c.cookie = work.cookie;
  c.length = work.length;
  c.op = work.op;
  c.status = status;
  c.flags = work.flags & transport::kEchoed;
  queue.PopFront();
  if (config_.send_completions->Push(c)) notices_.send = true;
}

void WorkLedger::FlushSends(const Blame& blame, uint64_t confirmed_to) {
  SendQueue& queue = sends();
  bool failed = false;
  while (!queue.empty()) {
    const SendWork& work = queue.at(queue.front());
    WorkStatus status = WorkStatus::kFlushed;
    if (blame.send && queue.front() == blame.position) {
      status = blame.status;
    } else if (work.done && !failed && (!work.confirm || queue.front() < confirmed_to)) {
      status = work.status;
    }
    failed |= status != WorkStatus::kSuccess;
    CompleteOldestSend(status);
  }
}

// -------------------------------------------------------------------------------------------------
// Receives

[[gnu::hot]] Code WorkLedger::PostReceive(const transport::ReceiveRequest& request, bool judge) {
  if (config_.receive_queue == nullptr) return Code::kInvalidState;
  if (judge) {
    const Code code = CheckLocalSegments(*config_.memory, config_.pd, config_.qp,
                                         Access::kLocalWrite, request.local);
    if (code != Code::kOk) return code;
  }
  return config_.receive_queue->Post(request);
}

[[gnu::hot]] bool WorkLedger::TakeReceive() {
  if (config_.shared_receives != nullptr) {
    bool limit = false;
    held_ = config_.shared_receives->Take(&limit);
    if (limit) notices_.shared_limit = true;
  } else {
    held_ = config_.receive_queue->Front();
  }
  return held_ != nullptr;
}

[[gnu::hot]] bool WorkLedger::WithinWatermarks() {
  if (config_.watermarks == nullptr) return true;
  ReceiveWatermarks& marks = *config_.watermarks;
  if (held_receives() > marks.soft) {
    marks.soft = transport::kNoWatermark;
    notices_.watermark = true;
  }
  return held_receives() <= marks.hard;
}

void WorkLedger::ReleaseHeld() {
  if (config_.shared_receives != nullptr) {
    config_.shared_receives->Release(held_);
  } else {
    config_.receive_queue->PopFront();
  }
  held_ = nullptr;
}

[[gnu::hot]] void WorkLedger::CompleteReceive(transport::Op op, uint64_t length, uint32_t key,
                                              bool solicited) {
  transport::Completion c;
  c.context = config_.context;
  c.cookie = held_->cookie;
  c.flags = held_->flags & transport::kEchoed;
  if (config_.solicited_receives && !solicited) c.flags |= transport::kQuiet;
  c.length = length;
  c.key = key;
  c.op = op;
  c.solicited = solicited;
  // The slot is free before anybody can see the completion, because the consumer may post again at
  // once.
  ReleaseHeld();
  PushReceive(c);
}

[[gnu::hot]] void WorkLedger::CompleteNextOfOwn(uint64_t length) {
  held_ = config_.receive_queue->Front();
  CompleteReceive(transport::Op::kReceive, length, 0, /*solicited=*/false);
}

void WorkLedger::FailReceive(transport::Op op, WorkStatus status) {
  transport::Completion c;
  c.context = config_.context;
  c.cookie = held_->cookie;
  c.flags = held_->flags & transport::kEchoed;
  c.op = op;
  c.status = status;
  ReleaseHeld();
  PushReceive(c);
}

void WorkLedger::FlushReceivesOf(const Blame& blame) {
  if (held_ != nullptr) {
    transport::Completion c;
    c.context = config_.context;
    c.cookie = held_->cookie;
    c.flags = held_->flags & transport::kEchoed;
    c.op = transport::Op::kReceive;
    c.status = blame.receive ? blame.status : WorkStatus::kFlushed;
    PushReceive(c);
    ReleaseHeld();
  }
  if (config_.receive_queue != nullptr &&
      FlushReceives(config_.receive_queue, config_.receive_completions, config_.context)) {
    notices_.receive = true;
  }
}

}  // namespace softdat::softnet
