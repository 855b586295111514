// SPDX-License-Identifier: BSD-3-Clause
// Agents of CNOs: a 2.0 provider calls them with a 2.0 handle, so it is given one of ours, which
// calls the consumer's with the handle of 1.2.
#ifndef SOFTDAT_DAT_BRIDGE_AGENTS_H_
#define SOFTDAT_DAT_BRIDGE_AGENTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "dat/bridge/dat12.h"
// Behind the types of 1.2.
#include <dat2/udat.h>

namespace softdat::bridge {

// All agents that CNOs of this process have had, each once, until the CNO is freed: the provider
// may be about to call one that was replaced.
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
  // A CNO was made, with this agent. Handles are those of 2.0.
  void Keep(void* ia, void* cno, std::unique_ptr<Of12> record);
  // Ours for `agent` of `cno`: the one that it had before, if it had it. False when the CNO is not
  // one that was kept.
  bool MakeFor(void* cno, const Of12& agent, Of2* ours);
  // What was kept before Now() was asked, before a CNO was freed or an IA closed: by now another
  // may have its handle.
  uint64_t Now();
  void Forget(void* cno, uint64_t before);
  void ForgetIa(void* ia, uint64_t before);
  // The consumer's behind ours.
  static Of12 Original(const Of2& agent);

  // Around fork(): the child must not inherit a mutex that some other thread holds.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  // By what a record says, not by where it is.
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Of12& agent) const {
      return std::hash<void*>()(agent.instance_data) * 31 +
             std::hash<void*>()(reinterpret_cast<void*>(agent.proxy_agent_func));
    }
    size_t operator()(const std::unique_ptr<Of12>& record) const { return (*this)(*record); }
  };
  struct Same {
    using is_transparent = void;
    static const Of12& Get(const Of12& agent) { return agent; }
    static const Of12& Get(const std::unique_ptr<Of12>& record) { return *record; }
    bool operator()(const auto& a, const auto& b) const {
      return Get(a).instance_data == Get(b).instance_data &&
             Get(a).proxy_agent_func == Get(b).proxy_agent_func;
    }
  };
  struct Kept {
    void* ia;
    uint64_t number;
    std::unordered_set<std::unique_ptr<Of12>, Hash, Same> records;
  };
  std::mutex mutex_;                        // protects what follows; never held across an agent
  std::unordered_map<void*, Kept> by_cno_;  // handles are those of 2.0
  uint64_t next_number_ = 0;
};

Agents& TheAgents();

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_AGENTS_H_
