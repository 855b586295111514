// SPDX-License-Identifier: BSD-3-Clause
// Table of open IAs.
#include "dat/registry/ia_handles.h"

namespace softdat::registry {

constinit IaHandles g_ia_handles;

uintptr_t IaHandles::Reserve() {
  for (uintptr_t index = 1; index < kLimit; ++index) {
    uintptr_t expected = 0;
    if (!slots_[index].compare_exchange_strong(expected, kReserved)) continue;
    uintptr_t end = end_.load(std::memory_order_relaxed);
    while (end <= index && !end_.compare_exchange_weak(end, index + 1)) {
    }
    return index;
  }
  return 0;
}

void IaHandles::Publish(uintptr_t index, DAT_IA_HANDLE object, void* owner) {
  owners_[index].store(owner, std::memory_order_release);
  slots_[index].store(reinterpret_cast<uintptr_t>(object), std::memory_order_release);
}

void IaHandles::Release(uintptr_t index) {
  owners_[index].store(nullptr, std::memory_order_release);
  slots_[index].store(0, std::memory_order_release);
}

bool IaHandles::BeginClose(DAT_IA_HANDLE handle, DAT_IA_HANDLE* object, void** owner) {
  const auto index = reinterpret_cast<uintptr_t>(handle);
  if (index >= kLimit) return false;
  uintptr_t value = slots_[index].load(std::memory_order_acquire);
  if (value == 0 || (value & kTags) != 0) return false;
  *object = reinterpret_cast<DAT_IA_HANDLE>(value);
  *owner = owners_[index].load(std::memory_order_acquire);
  return slots_[index].compare_exchange_strong(value, value | kClosing);
}

void IaHandles::CancelClose(uintptr_t index) { slots_[index].fetch_and(~kClosing); }

DAT_IA_HANDLE IaHandles::FindObject(DAT_IA_HANDLE object) const {
  const auto value = reinterpret_cast<uintptr_t>(object);
  if (value < kLimit || (value & kTags) != 0) return nullptr;
  // An IA that is being closed comes second, because a new IA may already live at its address.
  for (uintptr_t wanted : {value, value | kClosing}) {
    for (uintptr_t index = 1; index < end_.load(std::memory_order_acquire); ++index) {
      if (slots_[index].load(std::memory_order_acquire) == wanted) {
        return reinterpret_cast<DAT_IA_HANDLE>(index);
      }
    }
  }
  return nullptr;
}

void* IaHandles::Owner(DAT_IA_HANDLE handle) const {
  if (Find(handle) == nullptr) return nullptr;
  return owners_[reinterpret_cast<uintptr_t>(handle)].load(std::memory_order_acquire);
}

DAT_IA_HANDLE IaHandles::FindByOwner(const void* owner) const {
  for (uintptr_t index = 1; index < end_.load(std::memory_order_acquire); ++index) {
    auto* handle = reinterpret_cast<DAT_IA_HANDLE>(index);
    if (owner != nullptr && owners_[index].load(std::memory_order_acquire) == owner &&
        Find(handle) != nullptr) {
      return handle;
    }
  }
  return nullptr;
}

void IaHandles::Clear() {
  for (uintptr_t index = 1; index < kLimit; ++index) Release(index);
}

}  // namespace softdat::registry
