// SPDX-License-Identifier: BSD-3-Clause
// How many receives of an SRQ are outstanding, that is posted, and their completion not reaped
// (semantics 11). The SRQ counts posts. Reaping happens at the EVDs, so each EVD that such
// completions can reach knows to which SRQ they belong. Only EVDs that an EP with an SRQ feeds pay
// for this.
#ifndef SOFTDAT_DAT_ENGINE_RECEIVE_COUNT_H_
#define SOFTDAT_DAT_ENGINE_RECEIVE_COUNT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dat2/udat.h"

namespace softdat::engine {

// The count of one SRQ. It lives as long as an EVD can hold completions of the SRQ. Any thread.
class ReceiveCount {
 public:
  void OnPost() { count_.fetch_add(1, std::memory_order_relaxed); }
  void OnReaped() { count_.fetch_sub(1, std::memory_order_relaxed); }
  int64_t value() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> count_{0};
};

// For one EVD, whose lock guards it: which EPs take their receives from which SRQ. An entry
// outlives its EP, because completions do.
class ReceiveOwners {
 public:
  bool empty() const { return owners_.empty(); }
  void Add(DAT_EP_HANDLE ep, std::shared_ptr<ReceiveCount> count);
  // No more completions of `ep` come to this EVD. Those in it still belong to the EP.
  void Retire(DAT_EP_HANDLE ep);
  std::vector<const void*> Retired() const;
  // The EVD was found empty after these EPs were retired.
  void Forget(const std::vector<const void*>& retired);
  // On the data path, unless empty(). An event leaves the EVD.
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
