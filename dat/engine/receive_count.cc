// SPDX-License-Identifier: BSD-3-Clause
// ReceiveOwners.
#include "dat/engine/receive_count.h"

#include <utility>

#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {
namespace {

bool CompletesReceive(const DAT_EVENT& event) {
  const int number = static_cast<int>(event.event_number);
  if (number != DAT_DTO_COMPLETION_EVENT && number != DAT_IB_DTO_EVENT) return false;
  const int operation = static_cast<int>(event.event_data.dto_completion_event_data.operation);
  return operation == DAT_DTO_RECEIVE || operation == DAT_DTO_RECEIVE_WITH_INVALIDATE ||
         operation == DAT_IB_DTO_RECV_IMMED || operation == DAT_IB_DTO_RECV_UD;
}

}  // namespace

void ReceiveOwners::Add(DAT_EP_HANDLE ep, std::shared_ptr<ReceiveCount> count) {
  owners_.insert_or_assign(ep, Owner{std::move(count)});
}

void ReceiveOwners::Retire(DAT_EP_HANDLE ep) {
  const auto found = owners_.find(ep);
  if (found != owners_.end()) found->second.retired = true;
}

std::vector<const void*> ReceiveOwners::Retired() const {
  std::vector<const void*> retired;
  for (const auto& [ep, owner] : owners_) {
    if (owner.retired) retired.push_back(ep);
  }
  return retired;
}

void ReceiveOwners::Forget(const std::vector<const void*>& retired) {
  for (const void* ep : retired) owners_.erase(ep);
}

void ReceiveOwners::OnReaped(const DAT_EVENT& event) {
  if (!CompletesReceive(event)) return;
  const auto found = owners_.find(event.event_data.dto_completion_event_data.ep_handle);
  if (found != owners_.end()) found->second.count->OnReaped();
}

}  // namespace softdat::engine
