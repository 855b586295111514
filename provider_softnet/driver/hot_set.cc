// SPDX-License-Identifier: BSD-3-Clause
// HotSet has two slots. A stream is replaced when it falls silent while others deliver.
#include "provider_softnet/driver/hot_set.h"

#include <algorithm>

namespace softdat::softnet {

void HotSet::Clear() {
  for (Slot& slot : slots_) Put(&slot, nullptr);
}

void HotSet::Put(Slot* slot, Channel* channel) {
  if (channel != nullptr) {
    channel->Ref();
    channel->SetHot(true);
  }
  while (slot->busy.test_and_set(std::memory_order_acquire)) {
  }
  Channel* before = slot->channel;
  slot->channel = channel;
  slot->hint.store(channel, std::memory_order_relaxed);
  slot->misses.store(0, std::memory_order_relaxed);
  slot->busy.clear(std::memory_order_release);
  if (before == nullptr) return;
  before->SetHot(false);
  before->Unref();
}

bool HotSet::OtherIsActive(const Slot& slot) const {
  for (const Slot& other : slots_) {
    if (&other != &slot && other.hint.load(std::memory_order_relaxed) != nullptr &&
        other.misses.load(std::memory_order_relaxed) < kSilent / 2) {
      return true;
    }
  }
  return false;
}

bool HotSet::Poll() {
  if (interval() < kPointlessBelow) return false;
  bool worked = false;
  for (Slot& slot : slots_) {
    if (slot.hint.load(std::memory_order_relaxed) == nullptr) continue;
    if (slot.busy.test_and_set(std::memory_order_acquire)) continue;  // another poller is at it
    const RefPtr<Channel> channel(slot.channel);
    slot.busy.clear(std::memory_order_release);
    if (!channel) continue;
    if (channel->TryReceive()) {
      slot.misses.store(0, std::memory_order_relaxed);
      if (interval() < kMaxInterval) {
        interval_.store(std::min(interval() * 2, kMaxInterval), std::memory_order_relaxed);
      }
      worked = true;
    } else {
      const uint32_t misses = slot.misses.load(std::memory_order_relaxed) + 1;
      slot.misses.store(misses, std::memory_order_relaxed);
      if (misses >= kSilent && OtherIsActive(slot)) Put(&slot, nullptr);
    }
  }
  return worked;
}

void HotSet::OnFoundByTurn(Channel* channel) {
  for (Slot& slot : slots_) {
    if (slot.hint.load(std::memory_order_relaxed) != channel) continue;
    slot.misses.store(0, std::memory_order_relaxed);
    interval_.store(std::min(interval() * 2, kMaxInterval), std::memory_order_relaxed);
    return;
  }
  Slot* victim = &slots_[0];
  for (Slot& slot : slots_) {
    if (slot.hint.load(std::memory_order_relaxed) == nullptr) {  // the first streams replace nobody
      Put(&slot, channel);
      return;
    }
    const uint32_t misses = slot.misses.load(std::memory_order_relaxed) + kReplaceable / 2;
    slot.misses.store(misses, std::memory_order_relaxed);
    if (misses > victim->misses.load(std::memory_order_relaxed)) victim = &slot;
  }
  interval_.store(std::max(interval() / 4, 1u), std::memory_order_relaxed);
  if (victim->misses.load(std::memory_order_relaxed) >= kReplaceable) Put(victim, channel);
}

void HotSet::Drop(Channel* channel) {
  for (Slot& slot : slots_) {
    if (slot.hint.load(std::memory_order_relaxed) == channel) Put(&slot, nullptr);
  }
}

}  // namespace softdat::softnet
