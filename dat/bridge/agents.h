// SPDX-License-Identifier: BSD-3-Clause
// Agents of CNOs: a 2.0 provider calls them with a 2.0 handle, so it is given one of ours, which
// calls the consumer's with the handle of 1.2.
#ifndef SOFTDAT_DAT_BRIDGE_AGENTS_H_
#define SOFTDAT_DAT_BRIDGE_AGENTS_H_

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "dat/bridge/dat12.h"
// Behind the types of 1.2.
#include <dat2/udat.h>

namespace softdat::bridge {

// All agents that CNOs of this process have had, until the CNO is freed: the provider may be about
// to call one that was replaced.
class Agents {
 public:
  using Of12 = dat12::DAT_OS_WAIT_PROXY_AGENT;
  using Of2 = ::DAT_OS_WAIT_PROXY_AGENT;

  // Ours for `agent`; belongs to nobody until Keep(). An agent without a function is passed on.
  struct Made {
    Of2 agent{};
    std::unique_ptr<Of12> record;
  };
  static Made Make(const Of12& agent);
  // What a CNO and its agents are known by; handles are those of 2.0.
  using Records = std::vector<std::unique_ptr<Of12>>;
  struct Kept {
    void* ia = nullptr;
    Records records;
  };
  // A CNO was made, with this agent.
  void Keep(void* ia, void* cno, std::unique_ptr<Of12> record);
  // Ours for `agent` of `cno`: the one that it had before, if it had it. False when the CNO is not
  // one that was kept.
  bool MakeFor(void* cno, const Of12& agent, Of2* ours);
  // Before the CNO is freed, since its handle may be another's as soon as it is; and when it was
  // not freed after all.
  Kept Take(void* cno);
  void PutBack(void* cno, Kept kept);
  // The IA is closed.
  void ForgetIa(void* ia);
  // The consumer's behind ours.
  static Of12 Original(const Of2& agent);

 private:
  std::mutex mutex_;  // protects by_cno_; never held across an agent
  std::unordered_map<void*, Kept> by_cno_;
};

Agents& TheAgents();

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_AGENTS_H_
