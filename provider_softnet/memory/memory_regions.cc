// SPDX-License-Identifier: BSD-3-Clause
// Registration of regions, and the slots that keys name.
#include <thread>

#include "provider_softnet/memory/memory_slot.h"

namespace softdat::softnet {

namespace {

// Freed indices that rest before the oldest is used again.
constexpr size_t kResting = 64;

}  // namespace

uint32_t MemoryTable::TakeSlot() {
  uint32_t index = 0;
  // New indices first while few are resting, so that a freed one comes back late.
  if (used_slots_ < kChunks * kChunkSlots && free_.size() < kResting) {
    index = used_slots_;
    std::atomic<Slot*>& chunk = chunks_[index >> kChunkBits];
    if (chunk.load(std::memory_order_relaxed) == nullptr) {
      chunk.store(new Slot[kChunkSlots], std::memory_order_release);
    }
    ++used_slots_;
    return index;
  }
  if (free_.empty()) return 0;
  index = free_.front();
  free_.pop_front();
  return index;
}

// Waits until no pin is left on a slot whose key is dead. Pins are held around one copy or one
// non-blocking system call only, so this is short.
void MemoryTable::Drain(Slot* slot) {
  while ((slot->state.load(std::memory_order_acquire) & kPinMask) != 0) std::this_thread::yield();
}

// Makes `key` live. Release stores: a reader that sees a new field also sees that the old key is
// dead.
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

// Makes the slot's live key dead, if there is one, and waits until nobody uses it.
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
  const uint32_t key = index << 8 | ++slot->key;
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
