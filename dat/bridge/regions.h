// SPDX-License-Identifier: BSD-3-Clause
// Which region a context names. dat_rmr_bind() of 1.2 names the region by the context in the
// triplet. That of 2.0 takes its handle as well.
#ifndef SOFTDAT_DAT_BRIDGE_REGIONS_H_
#define SOFTDAT_DAT_BRIDGE_REGIONS_H_

#include <dat2/udat.h>

#include <cstdint>
#include <new>
#include <shared_mutex>
#include <unordered_map>

namespace softdat::bridge {

// Regions that were made through 1.2. Two adapters may give the same context, and then the window's
// adapter says which region is meant.
class Regions {
 public:
  void Add(DAT_LMR_CONTEXT context, DAT_IA_HANDLE ia, DAT_LMR_HANDLE lmr);
  // Forgets what was added before `before`. The caller asks Now() before it frees the region or
  // closes the IA, because afterwards another object may have the handle.
  uint64_t Now() const;
  void Forget(DAT_LMR_HANDLE lmr, uint64_t before);
  void ForgetIa(DAT_IA_HANDLE ia, uint64_t before);
  struct Found {
    DAT_LMR_HANDLE lmr = nullptr;
    DAT_IA_HANDLE ia = nullptr;
  };
  // The one region that has this context. Nothing when none or several have it.
  Found FindOnly(DAT_LMR_CONTEXT context) const;
  // The region of an adapter that was the last to get this context. Nothing when there is none.
  Found Find(DAT_LMR_CONTEXT context, DAT_IA_HANDLE ia) const;

  // For use around fork(): the child must not inherit a mutex that some other thread holds. The
  // thread of the child has another number than the thread that locked, and only that one may
  // unlock a shared mutex. So the child makes a new mutex.
  void LockForFork() { mutex_.lock(); }
  void UnlockInParent() { mutex_.unlock(); }
  void UnlockInChild() { new (&mutex_) std::shared_mutex; }

 private:
  struct Region {
    DAT_IA_HANDLE ia;
    DAT_LMR_HANDLE lmr;
    uint64_t number;
  };
  void ForgetLocked(DAT_LMR_HANDLE lmr, uint64_t before);

  mutable std::shared_mutex mutex_;  // protects what follows
  std::unordered_multimap<DAT_LMR_CONTEXT, Region> by_context_;
  std::unordered_map<DAT_LMR_HANDLE, DAT_LMR_CONTEXT> contexts_;
  uint64_t next_number_ = 0;
};

Regions& TheRegions();

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_REGIONS_H_
