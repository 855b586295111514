// SPDX-License-Identifier: BSD-3-Clause
// Consumer notification object (semantics 6).
#include "dat/engine/events/cno.h"

#include <utility>

#include "dat/base/cancel.h"
#include "dat/engine/events/evd.h"
#include "dat/engine/object/consumer_call.h"
#include "dat/engine/object/dat_error.h"
#include "dat/engine/object/ia_core.h"

namespace softdat::engine {

using transport::Clock;
using transport::ProgressResult;

namespace {

// The one place from which the consumer's code runs. No lock is held here.
void CallAgent(const DAT_OS_WAIT_PROXY_AGENT& agent, DAT_EVD_HANDLE evd) {
  if (agent.proxy_agent_func == nullptr) return;
  const ConsumerCall call;
  agent.proxy_agent_func(agent.instance_data, evd);
}

}  // namespace

constinit thread_local const Cno* Cno::collecting_ SOFTDAT_EARLY_TLS = nullptr;

Cno::Cno(IaCore* owner, Kind kind, const DAT_OS_WAIT_PROXY_AGENT& agent, CnoDescriptor descriptor)
    : Object(owner, kHandleType), kind_(kind), descriptor_(std::move(descriptor)), agent_(agent) {}

Cno::~Cno() = default;

DAT_RETURN Cno::Free() {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (sleepers_ != nullptr) {
      return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE, "a thread waits on the CNO");
    }
  }
  if (!Retire()) {
    return Error(DAT_INVALID_STATE, DAT_INVALID_STATE_CNO_IN_USE, "an EVD still names the CNO");
  }
  Destroy(1);
  return DAT_SUCCESS;
}

void Cno::Teardown() {
  if (descriptor_.includes_progress()) ia().ReleaseProgressDescriptor();
  std::lock_guard<std::mutex> lock(mu_);
  rearm_.clear();
}

void Cno::SetTrigger(Evd* evd) {
  if (!triggered_) {
    triggered_ = true;
    hint_ = evd != nullptr ? evd->handle() : DAT_HANDLE_NULL;
    if (descriptor_.open() && collecting_ != this) {
      const CancelOff no_cancellation;
      descriptor_.Set();
      told_ = true;
    }
  }
  // Wakes one waiter per trigger. A waiter whose wake-up is already on its way does not need
  // another.
  for (Sleeper* s = sleepers_; s != nullptr; s = s->next) {
    if (s->waiter.signalled()) continue;
    s->waiter.Signal();
    break;
  }
}

void Cno::TriggerWaiters(Evd* evd) {
  std::lock_guard<std::mutex> lock(mu_);
  SetTrigger(evd);
}

void Cno::Trigger(Evd* evd) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    SetTrigger(evd);
    if (agent_.proxy_agent_func == nullptr) {
      agent_missed_ = true;  // kept for the next agent
      return;
    }
    agent_due_ = true;
    due_hint_ = evd != nullptr ? evd->handle() : DAT_HANDLE_NULL;
  }
  ServeAgent();
}

void Cno::ServeAgent() {
  // A free waits until the agent has returned. (If the CNO is being freed, this may be the end of
  // that free.)
  const UpcallPin pin(this);
  for (;;) {
    DAT_OS_WAIT_PROXY_AGENT agent;
    DAT_EVD_HANDLE hint;
    {
      std::lock_guard<std::mutex> lock(mu_);
      if (agent_running_ || !agent_due_) return;
      // The agent is one-shot.
      agent = std::exchange(agent_, DAT_OS_WAIT_PROXY_AGENT_NULL);
      hint = due_hint_;
      agent_due_ = false;
      agent_running_ = agent.proxy_agent_func != nullptr;
      if (!agent_running_) return;
    }
    CallAgent(agent, hint);
    std::lock_guard<std::mutex> lock(mu_);
    agent_running_ = false;
  }
}

bool Cno::TakeTrigger(DAT_EVD_HANDLE* evd) {
  if (!triggered_) return false;
  triggered_ = false;
  *evd = hint_;
  if (std::exchange(told_, false)) {
    const CancelOff no_cancellation;
    descriptor_.Clear();
  }
  return true;
}

void Cno::SetAgent(const DAT_OS_WAIT_PROXY_AGENT& agent) {
  {
    std::lock_guard<std::mutex> lock(mu_);
    agent_ = agent;
    const bool missed = std::exchange(agent_missed_, false) && triggered_;
    if (agent.proxy_agent_func == nullptr) {
      agent_missed_ = missed || std::exchange(agent_due_, false);
    } else if (missed) {
      agent_due_ = true;
      due_hint_ = hint_;
    }
  }
  ServeAgent();
  RearmEvds(Announce::kArrivals);
}

DAT_RETURN Cno::Query(DAT_CNO_PARAM* param) {
  std::lock_guard<std::mutex> lock(mu_);
  param->ia_handle = ia().consumer_handle();
  if (kind_ == Kind::kFd) {
    param->proxy_type = DAT_PROXY_TYPE_FD;
    param->proxy.fd = descriptor_.consumers();
  } else {
    param->proxy_type = DAT_PROXY_TYPE_AGENT;
    param->proxy.agent = agent_;
  }
  return DAT_SUCCESS;
}

void Cno::RearmLater(Evd* evd) {
  std::lock_guard<std::mutex> lock(mu_);
  if (aborted_) return;
  for (const Ref<Evd>& known : rearm_) {
    if (known.get() == evd) return;
  }
  rearm_.emplace_back(evd);
}

void Cno::RearmEvds(Announce announce) {
  std::vector<Ref<Evd>> pending;
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (rearm_.empty()) return;
    pending.swap(rearm_);
  }
  for (const Ref<Evd>& evd : pending) evd->RearmForCno(announce);
}

void Cno::Attach() {
  std::lock_guard<std::mutex> lock(mu_);
  ++attached_;
}

void Cno::ReleaseAll() {
  ++releases_;
  for (Sleeper* s = sleepers_; s != nullptr; s = s->next) s->waiter.Signal();
  if (agent_.proxy_agent_func == nullptr) return;
  agent_due_ = true;
  due_hint_ = DAT_HANDLE_NULL;
}

void Cno::Detach(Evd* evd) {
  Ref<Evd> forgotten;  // dropped without the lock
  {
    std::lock_guard<std::mutex> lock(mu_);
    for (auto it = rearm_.begin(); it != rearm_.end(); ++it) {
      if (it->get() != evd) continue;
      forgotten = std::move(*it);
      rearm_.erase(it);
      break;
    }
    if (hint_ == evd->handle()) hint_ = DAT_HANDLE_NULL;
    if (due_hint_ == evd->handle()) due_hint_ = DAT_HANDLE_NULL;
    if (--attached_ == 0) ReleaseAll();
  }
  ServeAgent();
}

void Cno::Abort() {
  {
    std::lock_guard<std::mutex> lock(mu_);
    if (aborted_) return;
    aborted_ = true;
    ReleaseAll();
  }
  ServeAgent();
}

// Links a sleeper while its thread is inside Wait, even if the thread is cancelled. Passes on a
// trigger that arrived for a thread which leaves without taking it.
class Cno::SleepScope {
 public:
  explicit SleepScope(Cno* cno) : cno_(cno) {
    std::lock_guard<std::mutex> lock(cno_->mu_);
    sleeper_.next = cno_->sleepers_;
    cno_->sleepers_ = &sleeper_;
    releases_ = cno_->releases_;
  }
  ~SleepScope() {
    std::lock_guard<std::mutex> lock(cno_->mu_);
    Sleeper** link = &cno_->sleepers_;
    while (*link != &sleeper_) link = &(*link)->next;
    *link = sleeper_.next;
    if (cno_->triggered_ && cno_->sleepers_ != nullptr) cno_->sleepers_->waiter.Signal();
  }
  SleepScope(const SleepScope&) = delete;
  SleepScope& operator=(const SleepScope&) = delete;

  transport::Waiter& waiter() { return sleeper_.waiter; }
  // How often everybody had been released when this wait began.
  uint64_t releases() const { return releases_; }

 private:
  Cno* const cno_;
  Sleeper sleeper_;
  uint64_t releases_ = 0;
};

DAT_RETURN Cno::Wait(DAT_TIMEOUT timeout_us, DAT_EVD_HANDLE* evd) {
  SleepScope scope(this);
  const uint64_t releases = scope.releases();
  Clock::time_point deadline{};
  bool last_look = false;
  for (;;) {
    scope.waiter().Clear();
    RearmEvds(Announce::kQueuedToWaiters);
    {
      std::lock_guard<std::mutex> lock(mu_);
      if (TakeTrigger(evd)) return DAT_SUCCESS;
      if (aborted_ || releases_ != releases) {
        *evd = DAT_HANDLE_NULL;
        return DAT_SUCCESS;
      }
    }
    if (last_look) {
      *evd = DAT_HANDLE_NULL;
      return Error(DAT_QUEUE_EMPTY);
    }
    if (timeout_us == 0) {
      ia().adapter().Progress(nullptr, {});
      last_look = true;
      continue;
    }
    if (deadline == Clock::time_point{}) {
      deadline = timeout_us == DAT_TIMEOUT_INFINITE
                     ? transport::kForever
                     : ia().adapter().Now() + std::chrono::microseconds(timeout_us);
    }
    const ProgressResult result = ia().adapter().Progress(&scope.waiter(), deadline);
    if (result == ProgressResult::kTimedOut) last_look = true;
    if (result == ProgressResult::kInterrupted) return Error(DAT_INTERRUPTED_CALL);
  }
}

// Exists while this thread collects a CNO. Scopes nest, because an upcall may collect another CNO.
class Cno::CollectScope {
 public:
  explicit CollectScope(const Cno* cno) : outer_(std::exchange(collecting_, cno)) {}
  ~CollectScope() { collecting_ = outer_; }
  CollectScope(const CollectScope&) = delete;
  CollectScope& operator=(const CollectScope&) = delete;

 private:
  const Cno* const outer_;
};

DAT_RETURN Cno::Collect(DAT_EVD_HANDLE* evd) {
  const DAT_RETURN result = CollectNow(evd);
  // This also collects a trigger that another thread raised after its EVD was looked at. That EVD
  // must be armed now, because nobody else would do it while the consumer sleeps in a loop of its
  // own.
  RearmEvds(Announce::kArrivals);
  return result;
}

DAT_RETURN Cno::CollectNow(DAT_EVD_HANDLE* evd) {
  const CollectScope collecting(this);
  RearmEvds(Announce::kQueuedToWaiters);
  if (descriptor_.includes_progress()) {
    {
      std::lock_guard<std::mutex> lock(mu_);
      if (TakeTrigger(evd)) return DAT_SUCCESS;
    }
    ia().adapter().LookAround();
    // What LookAround() found has disarmed its EVD, but other threads may find what comes next.
    RearmEvds(Announce::kQueuedToWaiters);
  }
  std::lock_guard<std::mutex> lock(mu_);
  if (TakeTrigger(evd)) return DAT_SUCCESS;
  *evd = DAT_HANDLE_NULL;
  return Error(DAT_QUEUE_EMPTY);
}

}  // namespace softdat::engine
