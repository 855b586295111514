// SPDX-License-Identifier: BSD-3-Clause
// RegionTable.
#include "provider_verbs/region_table.h"

namespace softdat::verbs {
namespace {

constexpr uint32_t kWritable = 1;
constexpr uint32_t kZeroBased = 2;
constexpr size_t kFirstSize = 256;

}  // namespace

RegionTable::RegionTable() {
  tables_.push_back(std::make_unique<Table>(kFirstSize));
  current_.store(tables_.back().get(), std::memory_order_release);
}

// A reader that loads one of our values, with acquire, also sees that the version has become odd.
void RegionTable::Store(Slot& slot, uint32_t key, const RegionEntry& entry) {
  const uint32_t version = slot.version.load(std::memory_order_relaxed);
  slot.version.store(version + 1, std::memory_order_relaxed);
  slot.key.store(key, std::memory_order_release);
  slot.first.store(entry.first, std::memory_order_release);
  slot.length.store(entry.length, std::memory_order_release);
  slot.pd.store(entry.pd, std::memory_order_release);
  slot.flags.store((entry.writable ? kWritable : 0) | (entry.zero_based ? kZeroBased : 0),
                   std::memory_order_release);
  slot.version.store(version + 2, std::memory_order_release);
}

RegionEntry RegionTable::Load(const Slot& slot) {
  const uint32_t flags = slot.flags.load(std::memory_order_acquire);
  return {.first = slot.first.load(std::memory_order_acquire),
          .length = slot.length.load(std::memory_order_acquire),
          .pd = slot.pd.load(std::memory_order_acquire),
          .writable = (flags & kWritable) != 0,
          .zero_based = (flags & kZeroBased) != 0};
}

void RegionTable::AddLocked(Table& table, uint32_t key, const RegionEntry& entry) {
  for (size_t i = Hash(key);; ++i) {
    Slot& slot = table.slots[i & table.mask];
    const uint32_t found = slot.key.load(std::memory_order_relaxed);
    if (found != 0 && found != kRemoved) continue;
    Store(slot, key, entry);
    if (found == 0) ++used_;
    return;
  }
}

void RegionTable::GrowLocked() {
  const Table& old = *current_.load(std::memory_order_relaxed);
  // A table full of removed entries is only cleaned.
  const size_t size = old.slots.size();
  auto table = std::make_unique<Table>(live_ * 4 > size ? size * 2 : size);
  used_ = 0;
  for (const Slot& slot : old.slots) {
    const uint32_t key = slot.key.load(std::memory_order_relaxed);
    if (key != 0 && key != kRemoved) AddLocked(*table, key, Load(slot));
  }
  current_.store(table.get(), std::memory_order_release);
  tables_.push_back(std::move(table));
}

void RegionTable::Add(uint32_t key, const RegionEntry& entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ++live_;
  if ((used_ + 1) * 2 > current_.load(std::memory_order_relaxed)->slots.size()) GrowLocked();
  AddLocked(*current_.load(std::memory_order_relaxed), key, entry);
}

void RegionTable::Remove(uint32_t key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Table& table = *current_.load(std::memory_order_relaxed);
  for (size_t i = Hash(key);; ++i) {
    Slot& slot = table.slots[i & table.mask];
    const uint32_t found = slot.key.load(std::memory_order_relaxed);
    if (found == 0) return;
    if (found != key) continue;
    Store(slot, kRemoved, {});
    generation_.fetch_add(1, std::memory_order_release);
    --live_;
    return;
  }
}

std::optional<RegionEntry> RegionTable::Find(uint32_t key) const {
  if (key == 0 || key == kRemoved) return std::nullopt;
  const Table& table = *current_.load(std::memory_order_acquire);
  for (size_t i = Hash(key);; ++i) {
    const Slot& slot = table.slots[i & table.mask];
    for (;;) {
      const uint32_t version = slot.version.load(std::memory_order_acquire);
      const uint32_t found = slot.key.load(std::memory_order_acquire);
      const RegionEntry entry = Load(slot);
      if ((version & 1) != 0 || slot.version.load(std::memory_order_relaxed) != version) continue;
      if (found == key) return entry;
      if (found == 0) return std::nullopt;
      break;
    }
  }
}

Code RegionTable::Check(const DAT_LMR_TRIPLET& segment, const void* pd, bool write,
                        bool* zero_based) const {
  const std::optional<RegionEntry> region = Find(segment.lmr_context);
  if (!region.has_value()) return Code::kProtection;
  return CheckIn(*region, segment, pd, write, zero_based);
}

bool RegionCache::Fetch(const RegionTable& table, uint32_t key, const void* pd) {
  Forget();
  // The generation is read first. A change during the search then makes the next use search again.
  const uint32_t generation = table.generation();
  const std::optional<RegionEntry> found = table.Find(key);
  if (!found.has_value()) return false;
  key_ = key;
  generation_ = generation;
  entry_ = *found;
  if ((pd == nullptr || found->pd == pd) && !found->zero_based) plain_length_ = found->length;
  return true;
}

}  // namespace softdat::verbs
