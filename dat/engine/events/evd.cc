// SPDX-License-Identifier: BSD-3-Clause
// Event dispatcher: creation, configuration, and the producers' side. evd_consumer.cc has the
// consumer's.
#include "dat/engine/events/evd.h"

#include <string>
#include <utility>

#include "dat/engine/events/dto_event.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

Evd::Evd(IaCore* owner, Cell* cell, DAT_COUNT qlen, DAT_EVD_FLAGS flags)
    : Object(owner, kHandleType, cell),
      flags_(flags),
      qlen_(static_cast<uint32_t>(qlen)),
      mu_(cell->mutex) {
  ring_.emplace(static_cast<size_t>(qlen));
}

DAT_RETURN Evd::Create(IaCore* ia, DAT_COUNT min_qlen, Cno* cno, DAT_EVD_FLAGS flags, Evd** out) {
  const uint32_t limit = ia->attributes().max_cq_depth;
  if (static_cast<uint32_t>(min_qlen) > limit) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD,
                 "an event queue of " + std::to_string(min_qlen) +
                     " entries was asked for; this IA has at most " + std::to_string(limit));
  }
  std::unique_ptr<Cell, void (*)(Cell*)> cell(AllocateCell(), &ReleaseCell);
  if (cell == nullptr) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD, NoHandleReason());
  }
  Draft<Evd> draft(new Evd(ia, cell.get(), min_qlen, flags));
  static_cast<void>(cell.release());
  const Ref<Evd> evd(draft.get());  // once it is published, others may free it
  if (!evd->ring_->valid()) {
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, "no memory for the event queue");
  }
  if ((flags & (DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG)) != 0) {
    auto cq = ia->adapter().CreateCompletionQueue(static_cast<uint32_t>(min_qlen), evd.get());
    if (!cq.ok()) return Fail(cq.status(), Subject::kEvd);
    evd->cq_ = cq.Take();
  }
  if (cno != nullptr) {
    evd->cno_ = Use<Cno>(cno);
    if (!evd->cno_) return BadHandle(DAT_INVALID_HANDLE_CNO);
  }
  draft.Publish();  // cannot fail: the handle is reserved
  draft.Finish();
  if (cno != nullptr) {
    cno->Attach();
    evd->RearmForCno(Announce::kQueued);
  }
  *out = evd.get();
  return DAT_SUCCESS;
}

DAT_RETURN Evd::Free() {
  {
    std::lock_guard<FastMutex> lock(mu_);
    if (waiting_.load(std::memory_order_relaxed)) {
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER, "a thread waits on the EVD");
    }
  }
  if (!Retire()) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
                 "an endpoint, service point or IA still feeds the EVD");
  }
  Destroy(1);
  return DAT_SUCCESS;
}

void Evd::Teardown() {
  Use<Cno> cno;
  {
    std::lock_guard<FastMutex> lock(mu_);
    std::swap(cno, cno_);
  }
  if (cno) cno->Detach(this);
  DropUnseenCompletions();
  cq_.reset();
  DropUnseenEvents();
}

void Evd::DropUnseenEvents() {
  DAT_EVENT event;
  while (ring_ && !ring_->empty()) {
    ring_->Pop(&event);
    if (tallies_.any_srq()) tallies_.OnReaped(event);
    const int number = static_cast<int>(event.event_number);
    if (number != DAT_CONNECTION_REQUEST_EVENT && number != DAT_IB_UD_CONNECTION_REQUEST_EVENT)
      continue;
    const AnyPinned request(event.event_data.cr_arrival_event_data.cr_handle);
    if (request) request->OnUnseen();
  }
}

void Evd::DropUnseenCompletions() {
  if (!tallies_.any_srq() || cq_ == nullptr) return;
  transport::Completion completion;
  while (cq_->Poll({&completion, 1}) == 1) {
    DAT_EVENT event;
    FillDtoEvent(completion, handle(), &event);
    tallies_.OnReaped(event);
  }
}

void Evd::AttachReceives(DAT_EP_HANDLE ep, const std::shared_ptr<ReceiveTally>& tally) {
  const std::lock_guard lock(mu_);
  tallies_.ForgetEnded(false);
  if (tallies_.some_ended()) {
    if (cq_ != nullptr) DrainCompletions();
    tallies_.ForgetEnded(ring_->empty());
  }
  tallies_.Attach(ep, tally);
}

void Evd::DetachReceives(DAT_EP_HANDLE ep) {
  const std::lock_guard lock(mu_);
  tallies_.Detach(ep);
}

void Evd::ShareReceives(ReceiveTally& tally) {
  const std::lock_guard lock(mu_);
  tally.Share();
}

void Evd::Abort() {
  {
    std::lock_guard<FastMutex> lock(mu_);
    aborted_ = true;
  }
  waiter_.Signal();
}

bool Evd::aborted() {
  const std::lock_guard lock(mu_);
  return aborted_;
}

uint64_t Evd::Counted(size_t which) const {
  const uint64_t from_ring = dequeued_from_ring_.load(std::memory_order_relaxed);
  const uint64_t found = counters_.value(DCNT_EVD_DEQUEUE_FOUND);
  switch (which) {
    case DCNT_EVD_DEQUEUE:
      return found + counters_.value(DCNT_EVD_DEQUEUE_NOT_FOUND);
    case DCNT_EVD_DEQUEUE_POLL:  // the calls that looked into the completion queue
      return cq_ == nullptr ? 0 : found - from_ring + counters_.value(DCNT_EVD_DEQUEUE_NOT_FOUND);
    case DCNT_EVD_DEQUEUE_POLL_FOUND:
      return found - from_ring;
    default:
      return counters_.value(which);
  }
}

void Evd::Query(DAT_EVD_PARAM* param) {
  std::lock_guard<FastMutex> lock(mu_);
  param->ia_handle = ia().consumer_handle();
  param->evd_qlen = qlen();
  param->cno_handle = cno_ ? cno_->handle() : DAT_HANDLE_NULL;
  param->evd_flags = flags_;
  int state = enabled_ ? DAT_EVD_STATE_ENABLED : DAT_EVD_STATE_DISABLED;
  state |= waitable_ ? DAT_EVD_STATE_WAITABLE : DAT_EVD_STATE_UNWAITABLE;
  if (solicited_only()) {
    state |= DAT_EVD_STATE_CONFIG_SOLICITED;
  } else if (all_may_be_quiet()) {
    state |= DAT_EVD_STATE_CONFIG_NOTIFY;
  } else {
    state |= DAT_EVD_STATE_CONFIG_THRESHOLD;
  }
  param->evd_state = static_cast<DAT_EVD_STATE>(state);
}

DAT_RETURN Evd::ModifyCno(Cno* cno) {
  Use<Cno> fresh(cno);
  if (cno != nullptr && !fresh) return BadHandle(DAT_INVALID_HANDLE_CNO);
  {
    std::lock_guard<FastMutex> lock(mu_);
    std::swap(fresh, cno_);
  }
  if (cno != nullptr) cno->Attach();
  if (fresh) fresh->Detach(this);  // `fresh` is the old one now
  RearmForCno(Announce::kQueued);
  return DAT_SUCCESS;
}

void Evd::SetEnabled(bool enabled) {
  {
    std::lock_guard<FastMutex> lock(mu_);
    enabled_ = enabled;
  }
  if (enabled) RearmForCno(Announce::kQueued);
}

void Evd::SetWaitable(bool waitable) {
  {
    std::lock_guard<FastMutex> lock(mu_);
    waitable_ = waitable;
  }
  if (!waitable) waiter_.Signal();
}

DAT_RETURN Evd::Resize(DAT_COUNT min_qlen) {
  std::lock_guard<FastMutex> lock(mu_);
  if (waiting_.load(std::memory_order_relaxed)) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_WAITER, "a thread waits on the EVD");
  }
  const auto capacity = static_cast<size_t>(min_qlen);
  if (ring_->size() > capacity) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE,
                 "more events are queued than would fit");
  }
  EventRing larger(capacity);
  if (!larger.valid())
    return Error(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY, "no memory for the event queue");
  if (cq_ != nullptr) {
    const Status status = cq_->Resize(static_cast<uint32_t>(min_qlen));
    if (!status.ok()) return Fail(status, Subject::kEvd);
  }
  while (!ring_->empty()) ring_->Pop(larger.Push());
  ring_.emplace(std::move(larger));
  qlen_.store(static_cast<uint32_t>(min_qlen), std::memory_order_relaxed);
  return DAT_SUCCESS;
}

void Evd::CountStream(DAT_COMPLETION_FLAGS flags, int n) {
  streams_ += n;
  if ((flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG) != 0) {
    solicited_streams_ += n;
  } else if ((flags & DAT_COMPLETION_UNSIGNALLED_FLAG) != 0) {
    unsignalled_streams_ += n;
  }
}

void Evd::AttachStream(DAT_COMPLETION_FLAGS flags) {
  {
    const std::lock_guard lock(mu_);
    CountStream(flags, 1);
    // Nothing is armed for the first one, or what streams of other flags wanted.
    if (std::exchange(fed_, true) && armed_for_solicited_ == solicited_only()) return;
    if (!waiting_.load(std::memory_order_relaxed)) {
      if (cno_ && enabled_ && ArmForCno()) arrived_ = true;
      return;
    }
  }
  waiter_.Signal();  // arms anew
}

void Evd::DetachStream(DAT_COMPLETION_FLAGS flags) {
  std::lock_guard<FastMutex> lock(mu_);
  CountStream(flags, -1);
}

bool Evd::Append(const DAT_EVENT& event) {
  DAT_EVENT* const slot = ring_->Push();
  if (slot == nullptr) return false;
  *slot = event;
  slot->evd_handle = handle();
  if (event.event_number >= DAT_CONNECTION_EVENT_ESTABLISHED &&
      event.event_number <= DAT_CONNECTION_EVENT_UNREACHABLE)
    counters_.AddAlone(DCNT_EVD_CONN_CALLBACK);
  return true;
}

void Evd::Push(const DAT_EVENT& event, bool after_completions) {
  const UpcallPin pin(this);
  if (!pin) return;
  bool lost = false;
  {
    std::lock_guard<FastMutex> lock(mu_);
    if (aborted_) return;  // closed: nobody can look at it any more
    if (after_completions && cq_ != nullptr) DrainCompletions();
    if (!Append(event)) {
      lost = !overflowed_;
      overflowed_ = true;
      if (!lost) return;
    }
  }
  if (lost) {
    PostOverflow();
  } else {
    Notify();
  }
}

bool Evd::TryPush(const DAT_EVENT& event) {
  const UpcallPin pin(this);
  if (!pin) return false;
  {
    std::lock_guard<FastMutex> lock(mu_);
    if (aborted_ || !Append(event)) return false;
  }
  Notify();
  return true;
}

DAT_RETURN Evd::PostSoftwareEvent(const DAT_EVENT& event) {
  if (TryPush(event)) return DAT_SUCCESS;
  return Error(DAT_QUEUE_FULL, DAT_NO_SUBTYPE, "the EVD holds as many events as it has entries");
}

void Evd::Notify() {
  Ref<Cno> cno;
  {
    std::lock_guard<FastMutex> lock(mu_);
    if (!waiting_.load(std::memory_order_relaxed)) {
      if (enabled_) cno = Ref<Cno>(cno_.get());
    }
  }
  if (cno) {
    cno->Trigger(this);
  } else {
    waiter_.Signal();
  }
}

void Evd::OnCompletion() {
  counters_.Add(DCNT_EVD_DTO_CALLBACK);
  if (waiting_.load(std::memory_order_acquire)) {
    waiter_.Signal();
    return;
  }
  const UpcallPin pin(this);
  if (!pin) return;
  Ref<Cno> cno;
  {
    std::lock_guard<FastMutex> lock(mu_);
    if (enabled_) cno = Ref<Cno>(cno_.get());
  }
  if (!cno) return;
  cno->RearmLater(this);
  cno->Trigger(this);
}

void Evd::OnOverflow() {
  const UpcallPin pin(this);
  if (!pin) return;
  {
    std::lock_guard<FastMutex> lock(mu_);
    if (overflowed_) return;
    overflowed_ = true;
  }
  PostOverflow();
}

void Evd::PostOverflow() {
  ia().PostAsync(DAT_ASYNC_ERROR_EVD_OVERFLOW, handle(), DAT_EVD_OVERFLOW_ERROR);
}

bool Evd::ArmForCno() {
  bool arrivals = false;
  rearm_when_room_ = false;
  // A completion queue can be armed only when it is empty.
  while (cq_ != nullptr && fed_ && !rearm_when_room_ && !ArmCompletions()) {
    rearm_when_room_ = ring_->full();
    if (DrainCompletions() > 0) arrivals = true;
  }
  return arrivals;
}

void Evd::RearmForCno(Announce announce) {
  const UpcallPin pin(this);
  if (!pin) return;
  Ref<Cno> cno;
  bool arrivals = false;
  {
    std::lock_guard<FastMutex> lock(mu_);
    if (!cno_ || !enabled_ || waiting_.load(std::memory_order_relaxed)) return;
    arrivals = ArmForCno();
    if (std::exchange(arrived_, false)) arrivals = true;
    if (ring_->empty()) return;
    cno = Ref<Cno>(cno_.get());
  }
  cno->RearmLater(this);
  if (arrivals || announce == Announce::kQueued) {
    cno->Trigger(this);
  } else if (announce == Announce::kQueuedToWaiters) {
    cno->TriggerWaiters(this);
  }
}

}  // namespace softdat::engine
