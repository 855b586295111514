// SPDX-License-Identifier: BSD-3-Clause
// Which region a context names: dat_rmr_bind() of 1.2 says it by the context in the triplet, that
// of 2.0 by the handle as well.
#ifndef SOFTDAT_DAT_BRIDGE_REGIONS_H_
#define SOFTDAT_DAT_BRIDGE_REGIONS_H_

#include <dat2/udat.h>

#include <functional>
#include <shared_mutex>
#include <unordered_map>

namespace softdat::bridge {

// Regions that were made by 1.2. Adapters may give the same context to two regions; the adapter of
// the window then says which is meant.
class Regions {
 public:
  void Add(DAT_LMR_CONTEXT context, DAT_IA_HANDLE ia, DAT_LMR_HANDLE lmr);
  // Before the region is freed, since its handle may be another's as soon as it is; and when it was
  // not freed after all.
  struct Known {
    DAT_IA_HANDLE ia = nullptr;
    DAT_LMR_CONTEXT context = 0;
  };
  Known Take(DAT_LMR_HANDLE lmr);
  void PutBack(DAT_LMR_HANDLE lmr, const Known& known);
  // The IA is closed.
  void ForgetIa(DAT_IA_HANDLE ia);
  // NULL when there is none. `ia_of_window` is asked only if there are several.
  DAT_LMR_HANDLE Find(DAT_LMR_CONTEXT context,
                      const std::function<DAT_IA_HANDLE()>& ia_of_window) const;

 private:
  struct Region {
    DAT_IA_HANDLE ia;
    DAT_LMR_HANDLE lmr;
  };
  mutable std::shared_mutex mutex_;  // protects what follows
  std::unordered_multimap<DAT_LMR_CONTEXT, Region> by_context_;
  std::unordered_map<DAT_LMR_HANDLE, DAT_LMR_CONTEXT> contexts_;
};

Regions& TheRegions();

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_REGIONS_H_
