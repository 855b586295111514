// SPDX-License-Identifier: BSD-3-Clause
// Agents of CNOs. A 2.0 provider calls them with a 2.0 handle. So it is given an agent of ours,
// which calls the consumer's agent with the handle of 1.2.
#ifndef SOFTDAT_DAT_BRIDGE_AGENTS_H_
#define SOFTDAT_DAT_BRIDGE_AGENTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/udat.h>

namespace softdat::bridge {

// All agents that the CNOs of this process have had, each once. They are kept until the CNO is
// freed, because the provider may be about to call an agent that was replaced.
class Agents {
 public:
  using Of12 = dat12::DAT_OS_WAIT_PROXY_AGENT;
  using Of2 = ::DAT_OS_WAIT_PROXY_AGENT;

  // Makes our agent for `agent`. The caller owns the record until Keep(). An agent without a
  // function is passed on as it is.
  struct Made {
    Of2 agent{};
    std::unique_ptr<Of12> record;
  };
  static Made Make(const Of12& agent);
  // Notes that a CNO was made with this agent. Handles are those of 2.0.
  void Keep(void* ia, void* cno, std::unique_ptr<Of12> record);
  // Makes our agent for `agent` of `cno`, or returns the one that the CNO had before for the same
  // `agent`. Returns false when the CNO was never kept.
  bool MakeFor(void* cno, const Of12& agent, Of2* ours);
  // Forgets what was kept before `before`. The caller asks Now() before it frees the CNO or closes
  // the IA, because afterwards another object may have the handle.
  uint64_t Now();
  void Forget(void* cno, uint64_t before);
  void ForgetIa(void* ia, uint64_t before);
  // The consumer's agent behind ours.
  static Of12 Original(const Of2& agent);

  // For use around fork(): the child must not inherit a mutex that some other thread holds.
  void LockForFork() { mutex_.lock(); }
  void UnlockAfterFork() { mutex_.unlock(); }

 private:
  // Compares records by their contents, not by their addresses.
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
