// SPDX-License-Identifier: BSD-3-Clause
// HotSet has two slots. A stream is replaced when it falls silent while others deliver.
#include "provider_softnet/driver/hot_set.h"

#include <algorithm>
#include <utility>

namespace softdat::softnet {

void HotSet::Clear() {
  for (Slot& slot : slots_) Put(&slot, nullptr, Kind::kOwn);
}

void HotSet::Close() {
  closed_.store(true, std::memory_order_seq_cst);
  Clear();
}

[[gnu::hot]] bool HotSet::empty() const {
  return std::ranges::all_of(slots_, [](const Slot& slot) {
    return slot.hint.load(std::memory_order_relaxed) == nullptr;
  });
}

[[gnu::hot]] bool HotSet::SilentFor(uint32_t polls) const {
  return std::ranges::all_of(slots_, [polls](const Slot& slot) {
    return slot.hint.load(std::memory_order_relaxed) == nullptr ||
           slot.misses.load(std::memory_order_relaxed) >= polls;
  });
}

void HotSet::Put(Slot* slot, Channel* channel, Kind kind) {
  const bool adopted = channel != nullptr && kind == Kind::kAdopted;
  const uint32_t own_polls = adopted ? channel->OwnPolls() : 0;
  if (channel != nullptr) {
    channel->Ref();
    if (tells_ == Tells::kYes) channel->SetHot(true);
  }
  while (slot->busy.test_and_set(std::memory_order_acquire)) {
  }
  Channel* before = channel;  // stays outside, if the set has been closed meanwhile
  if (channel == nullptr || !closed_.load(std::memory_order_seq_cst)) {
    before = std::exchange(slot->channel, channel);
    slot->hint.store(channel, std::memory_order_relaxed);
    slot->misses.store(0, std::memory_order_relaxed);
    slot->adopted.store(adopted, std::memory_order_relaxed);
    slot->own_polls.store(own_polls, std::memory_order_relaxed);
  }
  slot->busy.clear(std::memory_order_release);
  if (before == nullptr) return;
  if (tells_ == Tells::kYes) before->SetHot(false);
  before->Unref();
}

// Null also when another thread is at it.
[[gnu::hot]] RefPtr<Channel> HotSet::Get(Slot* slot) {
  if (slot->hint.load(std::memory_order_relaxed) == nullptr) return {};
  if (slot->busy.test_and_set(std::memory_order_acquire)) return {};
  RefPtr<Channel> channel(slot->channel);
  slot->busy.clear(std::memory_order_release);
  return channel;
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

[[gnu::hot]] HotSet::Polled HotSet::Poll() {
  if (interval() < kPointlessBelow) return Polled::kNothing;
  bool moved = false, looked = false, rests = false;
  for (Slot& slot : slots_) {
    const RefPtr<Channel> channel = Get(&slot);
    if (!channel) continue;
    if (channel->TryReceive()) {
      slot.misses.store(0, std::memory_order_relaxed);
      if (interval() < kMaxInterval) {
        interval_.store(std::min(interval() * 2, kMaxInterval), std::memory_order_relaxed);
      }
      moved = true;
    } else if (channel->rests()) [[unlikely]] {
      rests = true;
    } else {
      looked = true;
      const uint32_t misses = slot.misses.load(std::memory_order_relaxed) + 1;
      slot.misses.store(misses, std::memory_order_relaxed);
      if (misses >= kSilent && OtherIsActive(slot)) Put(&slot, nullptr, Kind::kOwn);
    }
  }
  if (moved) return Polled::kMoved;
  return rests && !looked ? Polled::kRested : Polled::kNothing;
}

void HotSet::OnFoundByTurn(Channel* channel, Kind kind) {
  for (Slot& slot : slots_) {
    if (slot.hint.load(std::memory_order_relaxed) != channel) continue;
    slot.misses.store(0, std::memory_order_relaxed);
    interval_.store(std::min(interval() * 2, kMaxInterval), std::memory_order_relaxed);
    return;
  }
  Slot* victim = &slots_[0];
  for (Slot& slot : slots_) {
    if (slot.hint.load(std::memory_order_relaxed) == nullptr) {  // the first streams replace nobody
      Put(&slot, channel, kind);
      return;
    }
    const uint32_t misses = slot.misses.load(std::memory_order_relaxed) + kReplaceable / 2;
    slot.misses.store(misses, std::memory_order_relaxed);
    if (misses > victim->misses.load(std::memory_order_relaxed)) victim = &slot;
  }
  interval_.store(std::max(interval() / 4, 1u), std::memory_order_relaxed);
  if (victim->misses.load(std::memory_order_relaxed) >= kReplaceable) Put(victim, channel, kind);
}

void HotSet::Drop(Channel* channel) {
  for (Slot& slot : slots_) {
    if (slot.hint.load(std::memory_order_relaxed) == channel) Put(&slot, nullptr, Kind::kOwn);
  }
}

[[gnu::hot]] void HotSet::DropServed() {
  for (Slot& slot : slots_) {
    if (!slot.adopted.load(std::memory_order_relaxed)) continue;
    const RefPtr<Channel> channel = Get(&slot);
    if (!channel) continue;
    const uint32_t polls = channel->OwnPolls();
    if (polls != slot.own_polls.load(std::memory_order_relaxed)) Drop(channel.get());
  }
}

void AdopterList::Add(HotSet* set) {
  if (std::exchange(set->adopts_, true)) return;
  ForgetClosed();
  set->Ref();
  set->next_adopter_ = std::exchange(first_, set);
}

void AdopterList::Drop(Channel* channel) {
  for (HotSet* set = first_; set != nullptr; set = set->next_adopter_) set->Drop(channel);
}

// A closed set is empty and stays so.
void AdopterList::ForgetClosed() {
  for (HotSet** link = &first_; *link != nullptr;) {
    HotSet* const set = *link;
    if (!set->closed_.load(std::memory_order_relaxed)) {
      link = &set->next_adopter_;
      continue;
    }
    *link = set->next_adopter_;
    set->Unref();
  }
}

size_t AdopterList::size() const {
  size_t count = 0;
  for (const HotSet* set = first_; set != nullptr; set = set->next_adopter_) ++count;
  return count;
}

void AdopterList::Clear() {
  while (first_ != nullptr) {
    HotSet* const set = std::exchange(first_, first_->next_adopter_);
    set->Clear();
    set->adopts_ = false;
    set->Unref();
  }
}

}  // namespace softdat::softnet
