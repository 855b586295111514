// SPDX-License-Identifier: BSD-3-Clause
// Consumer notification object: one sticky trigger for many EVDs (semantics 6).
#ifndef SOFTDAT_DAT_ENGINE_EVENTS_CNO_H_
#define SOFTDAT_DAT_ENGINE_EVENTS_CNO_H_

#include <mutex>
#include <vector>

#include "dat/base/thread_local.h"
#include "dat/engine/events/cno_descriptor.h"
#include "dat/engine/object/object.h"
#include "dat/transport/waiter.h"

namespace softdat::engine {

class Evd;

// What an EVD announces at once when it asks for its next notification. Completions that came while
// it had not asked are always announced.
enum class Announce : uint8_t {
  kArrivals,         // nothing
  kQueuedToWaiters,  // whatever is queued, but not to an agent, which hears of arrivals only
  kQueued,           // whatever is queued
};

class Cno final : public Object {
 public:
  static constexpr DAT_HANDLE_TYPE kHandleType = DAT_HANDLE_TYPE_CNO;

  // How the consumer learns of a trigger, besides dat_cno_wait.
  enum class Kind : uint8_t { kAgent, kFd };

  // `descriptor` is open for kFd. If it includes the IA's progress, that is released with the CNO.
  Cno(IaCore* ia, Kind kind, const DAT_OS_WAIT_PROXY_AGENT& agent, CnoDescriptor descriptor);

  // An event arrived at `evd`. Any thread, no engine lock held, because this calls the agent.
  void Trigger(Evd* evd);
  // Something is still queued at `evd`. The same as Trigger, but not for the agent.
  void TriggerWaiters(Evd* evd);

  // dat_cno_wait. Timeout in microseconds, DAT_TIMEOUT_INFINITE for none.
  DAT_RETURN Wait(DAT_TIMEOUT timeout_us, DAT_EVD_HANDLE* evd);
  // dat_cno_trigger: collects the trigger without waiting. QUEUE_EMPTY when there is none. If the
  // consumer's descriptor shows data, it first moves those.
  DAT_RETURN Collect(DAT_EVD_HANDLE* evd);
  // dat_cno_modify_agent.
  void SetAgent(const DAT_OS_WAIT_PROXY_AGENT& agent);
  DAT_RETURN Query(DAT_CNO_PARAM* param);
  // Refused while a thread waits. The caller has pinned the CNO once.
  DAT_RETURN Free();

  // `evd` names this CNO from now on.
  void Attach();
  // `evd` no longer names it. When the last EVD goes, waiters and agent are released with a NULL
  // EVD.
  void Detach(Evd* evd);
  // `evd` has used up its notification while something is still queued. The next wait asks it
  // again.
  void RearmLater(Evd* evd);

  // Wakes every waiter and the agent with a NULL EVD. Later waits return at once (IA close).
  void Abort();

  int fd() const { return descriptor_.consumers(); }
  Kind kind() const { return kind_; }

 private:
  struct Sleeper {
    transport::Waiter waiter;
    Sleeper* next = nullptr;
  };

  DAT_RETURN CollectNow(DAT_EVD_HANDLE* evd);

  class SleepScope;
  class CollectScope;

  ~Cno() override;
  void Teardown() override;
  void EndWaits() override { Abort(); }
  // Takes trigger and hint. The caller holds mu_.
  bool TakeTrigger(DAT_EVD_HANDLE* evd);
  // Releases everybody with a NULL EVD. The caller holds mu_, and calls ServeAgent() after it has
  // released it.
  void ReleaseAll();
  // Sets the trigger and wakes a waiter. The caller holds mu_.
  void SetTrigger(Evd* evd);
  // Calls the agent while it is due. One thread at a time does so, and the others leave their
  // triggers to it. So an agent that sets itself again first thing is not called from within
  // itself.
  void ServeAgent();
  void RearmEvds(Announce announce);

  const Kind kind_;
  const CnoDescriptor descriptor_;
  // The CNO that this thread collects. It will see a trigger that it raises itself.
  static constinit thread_local const Cno* collecting_ SOFTDAT_EARLY_TLS;

  std::mutex mu_;  // protects everything below; never held across an agent
  bool triggered_ = false;
  bool told_ = false;  // whether the trigger was written to the eventfd
  bool aborted_ = false;
  DAT_EVD_HANDLE hint_ = DAT_HANDLE_NULL;
  DAT_OS_WAIT_PROXY_AGENT agent_;
  int attached_ = 0;            // number of EVDs that name this CNO
  uint64_t releases_ = 0;       // how often all waiters were released at once
  bool agent_missed_ = false;   // a trigger came while no agent was set
  bool agent_due_ = false;      // the agent has to be called, with due_hint_
  bool agent_running_ = false;  // some thread is in ServeAgent
  DAT_EVD_HANDLE due_hint_ = DAT_HANDLE_NULL;
  Sleeper* sleepers_ = nullptr;
  std::vector<Ref<Evd>> rearm_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_EVENTS_CNO_H_
