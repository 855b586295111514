// SPDX-License-Identifier: BSD-3-Clause
// Agents of CNOs.
#include "dat/bridge/agents.h"

#include <cstddef>
#include <utility>

#include "dat/bridge/handles.h"

namespace softdat::bridge {
namespace {

extern "C" void CallAgentOf12(::DAT_PVOID record, ::DAT_EVD_HANDLE evd) {
  const auto* agent = static_cast<const Agents::Of12*>(record);
  agent->proxy_agent_func(agent->instance_data, To12(evd));
}

Agents::Of2 Ours(Agents::Of12* record) { return {record, &CallAgentOf12}; }

}  // namespace

Agents::Made Agents::Make(const Of12& agent) {
  if (agent.proxy_agent_func == nullptr) return {{agent.instance_data, nullptr}, nullptr};
  auto record = std::make_unique<Of12>(agent);
  return {Ours(record.get()), std::move(record)};
}

void Agents::Keep(void* ia, void* cno, std::unique_ptr<Of12> record) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Kept kept{ia, next_number_++, {}};
  if (record != nullptr) kept.records.insert(std::move(record));
  by_cno_[cno] = std::move(kept);
}

bool Agents::MakeFor(void* cno, const Of12& agent, Of2* ours) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_cno_.find(cno);
  if (found == by_cno_.end()) return false;
  *ours = {agent.instance_data, nullptr};
  if (agent.proxy_agent_func == nullptr) return true;
  auto& records = found->second.records;
  auto record = records.find(agent);
  if (record == records.end()) record = records.insert(std::make_unique<Of12>(agent)).first;
  *ours = Ours(record->get());
  return true;
}

uint64_t Agents::Now() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return next_number_;
}

void Agents::Forget(void* cno, uint64_t before) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = by_cno_.find(cno);
  if (found != by_cno_.end() && found->second.number < before) by_cno_.erase(found);
}

void Agents::ForgetIa(void* ia, uint64_t before) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(by_cno_, [ia, before](const auto& entry) {
    return entry.second.ia == ia && entry.second.number < before;
  });
}

Agents::Of12 Agents::Original(const Of2& agent) {
  if (agent.proxy_agent_func == &CallAgentOf12) return *static_cast<Of12*>(agent.instance_data);
  return {agent.instance_data, nullptr};
}

// Never destroyed, because providers may call agents while the process exits.
Agents& TheAgents() {
  alignas(Agents) static std::byte storage[sizeof(Agents)];
  static Agents& only = *new (storage) Agents;
  return only;
}

}  // namespace softdat::bridge
