// SPDX-License-Identifier: BSD-3-Clause
// ReceiveTallies.
#include "dat/engine/events/receive_tally.h"

#include <bit>

#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {
namespace {

bool CompletesReceive(const DAT_EVENT& event) {
  const int number = static_cast<int>(event.event_number);
  if (number != DAT_DTO_COMPLETION_EVENT && number != DAT_IB_DTO_EVENT) return false;
  const int operation = static_cast<int>(event.event_data.dto_completion_event_data.operation);
  return operation == DAT_DTO_RECEIVE || operation == DAT_DTO_RECEIVE_WITH_INVALIDATE ||
         operation == DAT_IB_DTO_RECV_IMMED || operation == DAT_IB_DTO_RECV_UD ||
         operation == DAT_IB_DTO_RECV_UD_IMMED;
}

}  // namespace

void ReceiveTallies::Attach(DAT_EP_HANDLE ep, const std::shared_ptr<ReceiveTally>& tally) {
  const auto found = entries_.find(ep);
  if (found != entries_.end()) {
    if (found->second.tally == tally) {
      ++found->second.streams;
      return;
    }
    Erase(found);  // of an earlier EP with this handle; events name this one from now on
  }
  GrowSlots();
  entries_.emplace(ep, Entry{tally, 1});
  if (tally->srq() != nullptr) ++srqs_;
  SlotOf(ep) = {ep, tally.get()};
}

void ReceiveTallies::Detach(DAT_EP_HANDLE ep) {
  const auto found = entries_.find(ep);
  if (found == entries_.end() || --found->second.streams > 0) return;
  if (found->second.tally->needed()) {
    some_ended_ = true;
  } else {
    Erase(found);
  }
}

void ReceiveTallies::ForgetEnded(bool empty) {
  if (!some_ended_) return;
  some_ended_ = false;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const bool ended = entry->second.streams == 0;
    if (ended && (empty || !entry->second.tally->needed())) {
      entry = Erase(entry);
    } else {
      some_ended_ |= ended;
      ++entry;
    }
  }
}

ReceiveTally* ReceiveTallies::FindAnywhere(const void* ep) {
  const auto found = entries_.find(ep);
  if (found == entries_.end()) return nullptr;
  ReceiveTally* const tally = found->second.tally.get();
  SlotOf(ep) = {ep, tally};
  return tally;
}

void ReceiveTallies::OnReaped(const DAT_EVENT& event) {
  if (!CompletesReceive(event)) return;
  ReceiveTally* const tally = Find(event.event_data.dto_completion_event_data.ep_handle);
  if (tally != nullptr && tally->srq() != nullptr) tally->srq()->OnReaped();
}

ReceiveTallies::Entries::iterator ReceiveTallies::Erase(Entries::iterator entry) {
  if (entry->second.tally->srq() != nullptr) --srqs_;
  Slot& slot = SlotOf(entry->first);
  if (slot.ep == entry->first) slot = {};
  return entries_.erase(entry);
}

void ReceiveTallies::GrowSlots() {
  const size_t wanted = kSlotsPerEp * (entries_.size() + 1);
  if (wanted <= slots_.size()) return;
  slots_.assign(std::bit_ceil(wanted), {});
  slot_mask_ = slots_.size() - 1;
}

}  // namespace softdat::engine
