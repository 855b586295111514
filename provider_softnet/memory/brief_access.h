// SPDX-License-Identifier: BSD-3-Clause
// Memory for one copy, and for nothing after it: less than a Pin, which can be kept and asked
// again. The data path copies small payloads so.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_BRIEF_ACCESS_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_BRIEF_ACCESS_H_

#include "provider_softnet/memory/memory_slot.h"
#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

// The rule for holders of a pin holds for its lifetime.
class BriefAccess {
 public:
  [[gnu::always_inline]] BriefAccess(MemoryTable& memory, const AccessRequest& request)
      : error_(memory.Take(request, &grant_)),
        address_(granted() ? grant_.address(request) : nullptr) {}
  [[gnu::always_inline]] ~BriefAccess() {
    if (!granted()) return;
    if (grant_.second != nullptr) [[unlikely]]
      Unpin(grant_.second);
    Unpin(grant_.first);
  }
  BriefAccess(const BriefAccess&) = delete;
  BriefAccess& operator=(const BriefAccess&) = delete;

  bool granted() const { return error_ == AccessError::kNone; }
  AccessError error() const { return error_; }
  uint8_t* address() const { return address_; }  // of the first byte asked for

 private:
  MemoryTable::Grant grant_;
  const AccessError error_;
  uint8_t* const address_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_BRIEF_ACCESS_H_
