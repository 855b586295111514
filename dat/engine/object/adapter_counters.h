// SPDX-License-Identifier: BSD-3-Clause
// The counters of an IA (dat2/api/ib_counters.h says what each counts), and the groups of them that
// can be stopped.
#ifndef SOFTDAT_DAT_ENGINE_OBJECT_ADAPTER_COUNTERS_H_
#define SOFTDAT_DAT_ENGINE_OBJECT_ADAPTER_COUNTERS_H_

#include <atomic>
#include <cstdint>

#include "dat/engine/object/counters.h"
#include "dat2/dat_ib_extensions.h"

namespace softdat::engine {

// Any thread. Nothing here is on the data path.
class AdapterCounters {
 public:
  static constexpr size_t kCount = DCNT_IA_ALL_COUNTERS;

  void Count(DAT_IA_COUNTERS which) {
    if ((running_.load(std::memory_order_relaxed) & GroupOf(which)) != 0) counters_.Add(which);
  }
  // Count that an object of this kind was created, or that its consumer freed it. Kinds without
  // counters are ignored.
  void CountCreated(DAT_HANDLE_TYPE type);
  void CountFreed(DAT_HANDLE_TYPE type);

  // Both are idempotent. A stopped group keeps what it has counted.
  void Start(DAT_IA_COUNTER_TYPE group) {
    running_.fetch_or(Bit(group), std::memory_order_relaxed);
  }
  void Stop(DAT_IA_COUNTER_TYPE group) {
    running_.fetch_and(~Bit(group), std::memory_order_relaxed);
  }

  void Read(size_t which, bool reset, uint64_t* out) {
    reader_.Read(which, reset, out, [this](size_t i) { return counters_.value(i); });
  }

 private:
  static constexpr uint32_t kAlways = uint32_t{1} << 31;
  static constexpr uint32_t Bit(DAT_IA_COUNTER_TYPE group) { return uint32_t{1} << group; }
  static constexpr uint32_t GroupOf(DAT_IA_COUNTERS which) {
    if (which < DCNT_IA_CM_LISTEN) return kAlways;
    if (which < DCNT_IA_LNK_ERR_RCV) return Bit(DCNT_IA_CM);
    return Bit(which < DCNT_IA_DIAG_ERR_RQ_RAE ? DCNT_IA_LNK : DCNT_IA_DIAG);
  }

  // One bit for each group. A count that is made while its group is being stopped may still come
  // through.
  std::atomic<uint32_t> running_{kAlways | Bit(DCNT_IA_CM) | Bit(DCNT_IA_LNK) | Bit(DCNT_IA_DIAG)};
  Counters<kCount> counters_;
  CounterReader<kCount> reader_;
};

}  // namespace softdat::engine

#endif  // SOFTDAT_DAT_ENGINE_OBJECT_ADAPTER_COUNTERS_H_
