// SPDX-License-Identifier: BSD-3-Clause
// IA handles of the consumer: small integers from 1, the lowest free one first (semantics 2.4).
// Each stands for a pointer of the provider.
//
// Concurrency: a translation reads one atomic. Reserve() and the other writers may be called from
// any thread. Each slot has one writer at a time: the thread that reserved it or won BeginClose().
#ifndef SOFTDAT_DAT_REGISTRY_IA_HANDLES_H_
#define SOFTDAT_DAT_REGISTRY_IA_HANDLES_H_

#include <dat2/udat.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdat::registry {

class IaHandles {
 public:
  static constexpr uintptr_t kLimit = 4096;  // one more than the largest handle

  // Takes the lowest free integer. Returns 0 when all are taken.
  uintptr_t Reserve();

  // Makes a reserved integer valid. `object` is the provider's IA, aligned to 8. `owner` has no
  // meaning here; BeginClose() gives it back.
  void Publish(uintptr_t index, DAT_IA_HANDLE object, void* owner);

  // Frees an integer that was reserved, or whose close succeeded.
  void Release(uintptr_t index);

  // Claims an IA for closing, so that only one thread closes it. The IA stays valid for other calls
  // until Release(). Returns false for a handle that is invalid or is being closed already.
  bool BeginClose(DAT_IA_HANDLE handle, DAT_IA_HANDLE* object, void** owner);
  void CancelClose(uintptr_t index);

  // The provider's IA for a consumer's handle, or nullptr.
  DAT_IA_HANDLE Find(DAT_IA_HANDLE handle) const {
    const auto index = reinterpret_cast<uintptr_t>(handle);
    if (index >= kLimit) return nullptr;
    return reinterpret_cast<DAT_IA_HANDLE>(slots_[index].load(std::memory_order_acquire) & ~kTags);
  }

  // The consumer's handle for a provider's IA; nullptr when it is not open.
  DAT_IA_HANDLE FindObject(DAT_IA_HANDLE object) const;

  // The owner of an IA; nullptr when the handle is invalid.
  void* Owner(DAT_IA_HANDLE handle) const;

  // Some open IA with this owner; nullptr when there is none.
  DAT_IA_HANDLE FindByOwner(const void* owner) const;

  // To be called in a forked child.
  void Clear();

 private:
  static constexpr uintptr_t kReserved = 1;
  static constexpr uintptr_t kClosing = 2;
  static constexpr uintptr_t kTags = 7;

  std::atomic<uintptr_t> slots_[kLimit] = {};  // object | tags; slot 0 is never used
  std::atomic<void*> owners_[kLimit] = {};
  std::atomic<uintptr_t> end_{1};  // one more than the largest integer ever reserved
};

// The IA handles of this process. Constant-initialised.
extern IaHandles g_ia_handles;

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_IA_HANDLES_H_
