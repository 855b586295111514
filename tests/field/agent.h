// SPDX-License-Identifier: BSD-3-Clause
// A proxy agent for the tests of agents.
#ifndef SOFTDAT_TESTS_FIELD_AGENT_H_
#define SOFTDAT_TESTS_FIELD_AGENT_H_

#include <atomic>
#include <functional>
#include <mutex>
#include <utility>

#include "tests/field/field.h"
#include "tests/field/process.h"

namespace softdat::field {

// A CNO whose agent runs a function of the test once. Set() gives it the next function.
class Agent {
 public:
  explicit Agent(const Ia& ia) { EXPECT_DAT_OK(cno_.Create(ia)); }
  ~Agent() { EXPECT_DAT_OK(cno_.Free()); }
  void Set(std::function<void(DAT_EVD_HANDLE)> function) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      std::swap(function_, function);
    }
    EXPECT_DAT_OK(dat_cno_modify_agent(cno_, Proxy()));
  }
  // Called from inside the agent. The same function runs again at the next trigger.
  void Again() { EXPECT_DAT_OK(dat_cno_modify_agent(cno_, Proxy())); }
  void Remove() { EXPECT_DAT_OK(dat_cno_modify_agent(cno_, DAT_OS_WAIT_PROXY_AGENT_NULL)); }
  DAT_CNO_HANDLE cno() const { return cno_; }
  int calls() const { return calls_; }
  // Gives up the CNO, for an agent that frees it.
  DAT_CNO_HANDLE Release() { return cno_.Release(); }

 private:
  DAT_OS_WAIT_PROXY_AGENT Proxy() {
    DAT_OS_WAIT_PROXY_AGENT proxy{};
    proxy.instance_data = this;
    proxy.proxy_agent_func = [](DAT_PVOID self, DAT_EVD_HANDLE evd) {
      auto* const agent = static_cast<Agent*>(self);
      std::function<void(DAT_EVD_HANDLE)> function;
      {
        const std::lock_guard<std::mutex> lock(agent->mutex_);
        function = agent->function_;
      }
      function(evd);
      ++agent->calls_;  // last, so that whoever sees it may look at the function's results
    };
    return proxy;
  }

  client::Cno cno_;
  std::mutex mutex_;  // protects function_: a call from the trigger before may still be on its way
  std::function<void(DAT_EVD_HANDLE)> function_;
  std::atomic<int> calls_{0};
};

// Waits until `n` calls of the agent have returned. Moves data meanwhile.
inline bool Called(const Agent& agent, int n, DAT_EVD_HANDLE any_evd) {
  return Eventually([&] {
    DAT_EVENT ignored{};
    if (agent.calls() < n && any_evd != DAT_HANDLE_NULL) dat_evd_dequeue(any_evd, &ignored);
    return agent.calls() >= n;
  });
}

}  // namespace softdat::field

#endif  // SOFTDAT_TESTS_FIELD_AGENT_H_
