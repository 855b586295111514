// SPDX-License-Identifier: BSD-3-Clause
// Registration of regions, and the slots that keys name.
#include <algorithm>
#include <thread>

#include "provider_softnet/memory/memory_slot.h"

namespace softdat::softnet {

std::function<uint64_t()> MemoryTable::Replayed() {
  return [state = uint64_t{0}]() mutable {
    state += 0x9E3779B97F4A7C15u;  // SplitMix64
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
}

uint32_t MemoryTable::Below(uint32_t bound) {
  // The remainder prefers low numbers by less than 2^-32.
  return static_cast<uint32_t>(random_() % bound);
}

// Makes room for more indices, in a random part of their whole range.
bool MemoryTable::AddChunk() {
  if (chunk_count_ == kChunks) return false;
  uint32_t at = Below(kChunks);
  while (chunks_[at].load(std::memory_order_relaxed) != nullptr) at = (at + 1) % kChunks;
  fresh_.reserve(kChunkSlots);
  auto chunk = std::make_unique<Slot[]>(kChunkSlots);
  for (uint32_t i = 0; i < kChunkSlots; ++i) {
    chunk[i].key = static_cast<uint8_t>(random_());
    // No key is 0 or 1, nor all ones.
    const uint32_t index = at * kChunkSlots + i;
    if (index == 0 || index == kChunks * kChunkSlots - 1) continue;
    fresh_.push_back(index);
    std::swap(fresh_.back(), fresh_[Below(static_cast<uint32_t>(fresh_.size()))]);
  }
  chunks_[at].store(chunk.release(), std::memory_order_release);
  ++chunk_count_;
  return true;
}

uint32_t MemoryTable::TakeSlot() {
  // New indices are used first while few are resting, so that a freed one comes back late.
  if (free_.size() < kResting && (!fresh_.empty() || AddChunk())) {
    const uint32_t index = fresh_.back();
    fresh_.pop_back();
    return index;
  }
  if (free_.empty()) return 0;
  const size_t oldest = std::min(free_.size(), kOldest);
  std::swap(free_.front(), free_[Below(static_cast<uint32_t>(oldest))]);
  const uint32_t index = free_.front();
  free_.pop_front();
  return index;
}

// Waits until no pin is left on a slot whose key is dead. The wait is short, because a pin is held
// only around one copy or one non-blocking system call.
void MemoryTable::Drain(Slot* slot) {
  while ((slot->state.load(std::memory_order_acquire) & kPinMask) != 0) std::this_thread::yield();
}

// Makes `key` live. The stores are release stores, so that a reader that sees a new field also sees
// that the old key is dead.
void MemoryTable::Publish(Slot* slot, uint32_t key, const View& view) {
  slot->start.store(view.start, std::memory_order_release);
  slot->length.store(view.length, std::memory_order_release);
  slot->delta.store(view.delta, std::memory_order_release);
  slot->rights.store(view.rights, std::memory_order_release);
  slot->pd.store(view.pd, std::memory_order_release);
  slot->qp.store(view.qp, std::memory_order_release);
  slot->region.store(view.region, std::memory_order_release);
  slot->state.store(static_cast<uint64_t>(key) << 32, std::memory_order_release);
}

// Makes the slot's live key dead, if it has one, and waits until nobody uses it.
void MemoryTable::Kill(Slot* slot) {
  slot->state.fetch_and(kPinMask, std::memory_order_acq_rel);
  Drain(slot);
}

uint32_t MemoryTable::RegisterRegion(void* address, uint64_t length, uint32_t privileges,
                                     bool zero_based, uint32_t pd) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const uint32_t index = TakeSlot();
  if (index == 0) return 0;
  Slot* slot = Find(index << 8);
  const uint64_t base = reinterpret_cast<uintptr_t>(address);
  slot->kind = Slot::Kind::kRegion;
  ++slot->key;
  const uint32_t key = KeyOf(index, *slot);
  View view;
  view.start = zero_based ? 0 : base;
  view.length = length;
  view.delta = zero_based ? base : 0;
  view.rights = privileges;
  view.pd = pd;
  Publish(slot, key, view);
  regions_.fetch_add(1, std::memory_order_relaxed);
  return key;
}

bool MemoryTable::DeregisterRegion(uint32_t key) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Slot* slot = Find(key);
  if (slot == nullptr || slot->kind != Slot::Kind::kRegion ||
      LiveKey(slot->state.load(std::memory_order_relaxed)) != key) {
    return false;
  }
  Kill(slot);  // accesses through windows pin the region as well
  slot->kind = Slot::Kind::kFree;
  free_.push_back(key >> 8);
  regions_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

}  // namespace softdat::softnet
