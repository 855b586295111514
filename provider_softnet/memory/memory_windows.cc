// SPDX-License-Identifier: BSD-3-Clause
// Memory windows: bind, unbind, remote invalidation (semantics 7.3).
#include "provider_softnet/memory/memory_slot.h"

namespace softdat::softnet {

MemoryTable::Slot* MemoryTable::FindWindow(uint32_t key) const {
  Slot* slot = Find(key);
  return slot != nullptr && slot->kind == Slot::Kind::kWindow ? slot : nullptr;
}

uint32_t MemoryTable::CreateWindow(uint32_t pd, bool exclusive_to_qp) {
  const std::lock_guard<std::mutex> guard(mutex_);
  const uint32_t index = TakeSlot();
  if (index == 0) return 0;
  Slot* slot = Find(index << 8);
  slot->kind = Slot::Kind::kWindow;
  slot->window_pd = pd;
  slot->window = ++last_window_;
  slot->exclusive = exclusive_to_qp;
  windows_.fetch_add(1, std::memory_order_relaxed);
  return KeyOf(index, *slot);
}

bool MemoryTable::DestroyWindow(uint32_t window) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Slot* slot = FindWindow(window);
  if (slot == nullptr) return false;
  Kill(slot);
  slot->kind = Slot::Kind::kFree;
  free_.push_back(window >> 8);
  windows_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

uint32_t MemoryTable::NextWindowKey(uint32_t window) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Slot* slot = FindWindow(window);
  if (slot == nullptr) return 0;
  const uint32_t live = LiveKey(slot->state.load(std::memory_order_relaxed));
  do {
    ++slot->key;
  } while (KeyOf(window >> 8, *slot) == live);
  return KeyOf(window >> 8, *slot);
}

// On success `window` describes the binding to be made.
AccessError MemoryTable::JudgeBind(const BindRequest& r, View* window) const {
  const Slot* slot = FindWindow(r.key);
  if (slot == nullptr) return AccessError::kInvalidKey;
  if (slot->window_pd != r.pd) return AccessError::kProtectionDomain;
  if (r.length == 0) return AccessError::kNone;
  const Slot* region_slot = Find(r.region);
  View region;
  if (region_slot == nullptr || !Read(*region_slot, r.region, &region) || region.region != 0) {
    return AccessError::kInvalidKey;
  }
  const AccessError error =
      Judge(region, {r.region, r.pd, r.qp, Access::kLocalRead, r.offset, r.length});
  if (error != AccessError::kNone) return error;
  if ((r.privileges & (kPrivRemoteWrite | kPrivRemoteAtomic)) != 0 &&
      (region.rights & kPrivLocalWrite) == 0) {
    return AccessError::kRights;
  }
  const uint64_t address = r.offset + region.delta;
  window->start = r.zero_based ? 0 : r.offset;
  window->length = r.length;
  window->delta = address - window->start;
  window->rights = r.privileges;
  window->pd = r.pd;
  window->qp = slot->exclusive ? r.qp : 0;
  window->region = r.region;
  return AccessError::kNone;
}

AccessError MemoryTable::CheckBind(BindRequest* request) const {
  const std::lock_guard<std::mutex> guard(mutex_);
  View window;
  const AccessError error = JudgeBind(*request, &window);
  if (error == AccessError::kNone) request->window = FindWindow(request->key)->window;
  return error;
}

AccessError MemoryTable::Bind(const BindRequest& request) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Slot* const slot = FindWindow(request.key);
  if (request.window != 0 && (slot == nullptr || slot->window != request.window)) {
    return AccessError::kNone;
  }
  View window;
  const AccessError error = JudgeBind(request, &window);
  // If a later bind was posted since, the region may be freed although this bind is still to come.
  const bool superseded = request.window != 0 && KeyOf(request.key >> 8, *slot) != request.key;
  const bool bound_to_nothing = error == AccessError::kInvalidKey && superseded;
  if (error != AccessError::kNone && !bound_to_nothing) return error;
  Kill(slot);
  if (request.length != 0 && !bound_to_nothing) Publish(slot, request.key, window);
  return AccessError::kNone;
}

AccessError MemoryTable::Invalidate(uint32_t key, uint32_t pd, uint32_t qp) {
  const std::lock_guard<std::mutex> guard(mutex_);
  Slot* slot = Find(key);
  View view;
  if (slot == nullptr || !Read(*slot, key, &view)) return AccessError::kInvalidKey;
  if (view.region == 0) return AccessError::kRights;
  if (view.pd != pd) return AccessError::kProtectionDomain;
  if (view.qp != 0 && view.qp != qp) return AccessError::kQueuePair;
  Kill(slot);
  return AccessError::kNone;
}

}  // namespace softdat::softnet
