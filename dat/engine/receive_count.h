// SPDX-License-Identifier: BSD-3-Clause
// How many receives of an SRQ are outstanding: posted, and their completion not reaped (semantics
// 11). The SRQ counts posts; what is reaped shows at the EVDs, so each EVD that such completions
// can come to knows whose they are. Only EVDs that an EP with an SRQ feeds pay for it.
#ifndef SOFTDAT_DAT_ENGINE_RECEIVE_COUNT_H_
#define SOFTDAT_DAT_ENGINE_RECEIVE_COUNT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dat2/udat.h"

namespace softdat::engine {

// Of one SRQ; lives as long as an EVD can hold completions of it. Any thread.
class ReceiveCount {
 public:
  void OnPost() { count_.fetch_add(1, std::memory_order_relaxed); }
  void OnReaped() { count_.fetch_sub(1, std::memory_order_relaxed); }
  int64_t value() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> count_{0};
};

// Of one EVD, guarded by its lock: which EPs take their receives from which SRQ. An entry outlives
// its EP, because completions do.
class ReceiveOwners {
 public:
  bool empty() const { return owners_.empty(); }
  void Add(DAT_EP_HANDLE ep, std::shared_ptr<ReceiveCount> count);
  // Nothing more of `ep` comes to this EVD; what is in it stays the EP's.
  void Retire(DAT_EP_HANDLE ep);
  std::vector<const void*> Retired() const;
  // The EVD was found empty after these were retired.
  void Forget(const std::vector<const void*>& retired);
  // Data path, unless empty(). An event leaves the EVD.
  void OnReaped(const DAT_EVENT& event);

 private:
  struct Owner {
    std::shared_ptr<ReceiveCount> count;
    bool retired = false;
  };
  std::unordered_map<const void*, Owner> owners_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_RECEIVE_COUNT_H_
