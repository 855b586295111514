// SPDX-License-Identifier: BSD-3-Clause
// CheckLocalSegments.
#include "provider_softnet/memory/local_segments.h"

#include "provider_softnet/memory/memory_slot.h"

namespace softdat::softnet {

Code CodeFor(AccessError error) {
  switch (error) {
    case AccessError::kNone:
      return Code::kOk;
    case AccessError::kRights:
      return Code::kPrivileges;
    case AccessError::kBounds:
    case AccessError::kWrap:
      return Code::kOutOfBounds;
    case AccessError::kInvalidKey:
    case AccessError::kGone:
    case AccessError::kProtectionDomain:
    case AccessError::kQueuePair:
      return Code::kProtection;
  }
  return Code::kInternal;
}

[[gnu::hot]] Code CheckLocalSegments(const MemoryTable& memory, uint32_t pd, uint32_t qp,
                                     Access access, std::span<const DAT_LMR_TRIPLET> segments) {
  AccessRequest request{0, pd, qp, access, 0, 0};
  for (const DAT_LMR_TRIPLET& s : segments) {
    if (s.segment_length == 0) continue;
    request.key = s.lmr_context;
    request.offset = s.virtual_address;
    request.length = s.segment_length;
    const AccessError error = memory.CheckInline(request);
    if (error != AccessError::kNone) return CodeFor(error);
  }
  return Code::kOk;
}

}  // namespace softdat::softnet
