// SPDX-License-Identifier: BSD-3-Clause
// The inside of the memory table: one key's record, and the verdict on an access to it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_SLOT_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_SLOT_H_

#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

// One key's record. The fields below `state` change only under the table's mutex, and only while
// `state` names no live key and has no pins. Readers load them between two looks at `state`, as in
// a seqlock. They are atomics because a reader without a pin may look while they change. It then
// drops what it saw.
struct alignas(64) MemoryTable::Slot {
  // The high half is the live key, or 0 while there is none. The low half is the number of pins.
  std::atomic<uint64_t> state{0};
  std::atomic<uint64_t> start{0};  // first valid offset
  std::atomic<uint64_t> length{0};
  std::atomic<uint64_t> delta{0};  // address of an offset, minus the offset
  std::atomic<uint32_t> rights{0};
  std::atomic<uint32_t> pd{0};
  std::atomic<uint32_t> qp{0};      // window of scope EP: the queue pair of its bind; else 0
  std::atomic<uint32_t> region{0};  // window: key of its region; region: 0
  // Guarded by the table's mutex.
  uint32_t window_pd = 0;
  uint32_t window = 0;  // tells apart the windows that have this slot in turn
  enum class Kind : uint8_t { kFree, kRegion, kWindow } kind = Kind::kFree;
  uint8_t key = 0;         // index in MemoryTable::key_bits_ of the last key bits used
  bool exclusive = false;  // window of scope EP
};

// A consistent copy of a slot's fields.
struct MemoryTable::View {
  uint64_t start = 0, length = 0, delta = 0;
  uint32_t rights = 0, pd = 0, qp = 0, region = 0;
};

inline constexpr uint64_t kPinMask = 0xffffffffu;

// The live key in a slot's state word.
inline uint32_t LiveKey(uint64_t state) { return static_cast<uint32_t>(state >> 32); }

inline MemoryTable::Slot* MemoryTable::Find(uint32_t key) const {
  const uint32_t index = key >> 8;
  Slot* chunk = chunks_[index >> kChunkBits].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : &chunk[index & (kChunkSlots - 1)];
}

inline uint32_t MemoryTable::KeyOf(uint32_t index, const Slot& slot) const {
  return index << 8 | key_bits_[slot.key];
}

// The loads are acquire loads so that the second look at `state` cannot move before them. Returns
// false when `key` was not live all the time.
inline bool MemoryTable::Read(const Slot& slot, uint32_t key, View* view) {
  if (key == 0 || LiveKey(slot.state.load(std::memory_order_acquire)) != key) return false;
  view->start = slot.start.load(std::memory_order_acquire);
  view->length = slot.length.load(std::memory_order_acquire);
  view->delta = slot.delta.load(std::memory_order_acquire);
  view->rights = slot.rights.load(std::memory_order_acquire);
  view->pd = slot.pd.load(std::memory_order_acquire);
  view->qp = slot.qp.load(std::memory_order_acquire);
  view->region = slot.region.load(std::memory_order_acquire);
  return LiveKey(slot.state.load(std::memory_order_relaxed)) == key;
}

// What each kind of access needs, in the order of Access.
struct AccessNeeds {
  uint32_t rights;  // one of these; kPrivNone: nothing
  bool region, window;
};
inline constexpr uint32_t kPrivNone = 1u << 31;
inline constexpr AccessNeeds kAccessNeeds[] = {
    {kPrivNone, true, false},                           // kLocalRead
    {kPrivLocalWrite, true, false},                     // kLocalWrite
    {kPrivLocalWrite | kPrivRemoteWrite, false, true},  // kWindowSink
    {kPrivRemoteRead, true, true},                      // kRemoteRead
    {kPrivRemoteWrite, true, true},                     // kRemoteWrite
    {kPrivRemoteAtomic, true, true},                    // kRemoteAtomic
};

// The one validation point. It checks everything except whether the key is live, which the caller
// has found.
inline AccessError MemoryTable::Judge(const View& view, const AccessRequest& r) {
  if (view.pd != r.pd) return AccessError::kProtectionDomain;
  if (view.qp != 0 && view.qp != r.qp) return AccessError::kQueuePair;
  // Own work names regions, unless it says that it means a window.
  const AccessNeeds& needs = kAccessNeeds[static_cast<size_t>(r.kind)];
  if (!(view.region != 0 ? needs.window : needs.region)) return AccessError::kRights;
  if (((view.rights | kPrivNone) & needs.rights) == 0) return AccessError::kRights;
  const uint64_t skip = r.offset - view.start;
  if (r.offset >= view.start && skip <= view.length && r.length <= view.length - skip) [[likely]] {
    return AccessError::kNone;
  }
  // No region passes the end of the address space, so what does is out of bounds as well.
  return r.length != 0 && r.offset + (r.length - 1) < r.offset ? AccessError::kWrap
                                                               : AccessError::kBounds;
}

[[gnu::always_inline]] inline AccessError MemoryTable::CheckInline(
    const AccessRequest& request) const {
  const Slot* slot = Find(request.key);
  View view;
  if (slot == nullptr || !Read(*slot, request.key, &view)) return AccessError::kInvalidKey;
  if (view.region != 0) [[unlikely]] {
    const Slot* region = Find(view.region);
    if (LiveKey(region->state.load(std::memory_order_acquire)) != view.region) {
      return AccessError::kInvalidKey;
    }
  }
  return Judge(view, request);
}

// A pinned slot, and what it says.
struct MemoryTable::Grant {
  View view;
  std::atomic<uint64_t>* first;   // as in Pin
  std::atomic<uint64_t>* second;  // as in Pin
  uint8_t* address(const AccessRequest& request) const {
    return reinterpret_cast<uint8_t*>(request.offset + view.delta);
  }
};

inline void Unpin(std::atomic<uint64_t>* state) { state->fetch_sub(1, std::memory_order_release); }

// Takes a pin if `key` is the live key of that state word.
inline bool TryPin(std::atomic<uint64_t>* state, uint32_t key) {
  uint64_t seen = state->load(std::memory_order_relaxed);
  do {
    if (LiveKey(seen) != key) return false;
  } while (!state->compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                         std::memory_order_relaxed));
  return true;
}

struct MemoryTable::ThoroughGrant {
  Grant grant;
  AccessError error;
};

// Judges an access and pins what it needs if it is granted. Whatever TakeThoroughly() needs goes
// there by value, so that the compiler need not keep it in memory for the common case. The common
// case is inline: a region, whose memory is not asked for.
[[gnu::always_inline]] inline AccessError MemoryTable::Take(const AccessRequest& request,
                                                            Grant* grant) {
  Slot* const slot = request.key == 0 ? nullptr : Find(request.key);
  if (slot == nullptr || !TryPin(&slot->state, request.key)) return AccessError::kInvalidKey;
  // The slot is pinned, so its fields cannot change.
  View view;
  view.start = slot->start.load(std::memory_order_relaxed);
  view.length = slot->length.load(std::memory_order_relaxed);
  view.delta = slot->delta.load(std::memory_order_relaxed);
  view.rights = slot->rights.load(std::memory_order_relaxed);
  view.pd = slot->pd.load(std::memory_order_relaxed);
  view.qp = slot->qp.load(std::memory_order_relaxed);
  view.region = slot->region.load(std::memory_order_relaxed);
  if (view.region != 0 || check_memory_) [[unlikely]] {
    const ThoroughGrant thorough = TakeThoroughly(request, view, &slot->state);
    *grant = thorough.grant;
    return thorough.error;
  }
  *grant = {view, &slot->state, nullptr};
  const AccessError error = Judge(view, request);
  if (error != AccessError::kNone) [[unlikely]]
    Unpin(grant->first);
  return error;
}

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_MEMORY_SLOT_H_
