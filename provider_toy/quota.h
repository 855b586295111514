// SPDX-License-Identifier: BSD-3-Clause
// Limits the number of objects of a kind to what the adapter's attributes promise.
#ifndef SOFTDAT_PROVIDER_TOY_QUOTA_H_
#define SOFTDAT_PROVIDER_TOY_QUOTA_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "dat/base/status.h"

namespace softdat::toy {

class Quota {
 public:
  // One object's share. It is returned when the last copy is destroyed.
  using Slot = std::shared_ptr<void>;

  Quota(const char* kind, uint32_t limit) : kind_(kind), limit_(limit) {}

  // The slot must not outlive the quota.
  Result<Slot> Take() {
    if (used_.fetch_add(1, std::memory_order_relaxed) >= limit_) {
      used_.fetch_sub(1, std::memory_order_relaxed);
      return Status(Code::kNoResources,
                    "the adapter has all its " + std::to_string(limit_) + " " + kind_ + " in use");
    }
    return Slot(this, [](void* quota) {
      static_cast<Quota*>(quota)->used_.fetch_sub(1, std::memory_order_relaxed);
    });
  }

 private:
  const char* const kind_;
  const uint32_t limit_;
  std::atomic<uint32_t> used_{0};  // objects alive
};

}  // namespace softdat::toy

#endif  // SOFTDAT_PROVIDER_TOY_QUOTA_H_
