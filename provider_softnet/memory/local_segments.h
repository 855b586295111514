// SPDX-License-Identifier: BSD-3-Clause
// The local segments of posted work, judged when it is posted.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_LOCAL_SEGMENTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_LOCAL_SEGMENTS_H_

#include <cstdint>
#include <span>

#include "dat/transport/transport.h"
#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

// What a post returns for a verdict about its memory: kOk, kProtection, kPrivileges, kOutOfBounds.
Code CodeFor(AccessError error);

// Key, domain, rights and bounds of each segment that is not empty. `qp` may be 0 except for window
// sinks. The return values of CodeFor().
Code CheckLocalSegments(const MemoryTable& memory, uint32_t pd, uint32_t qp, Access access,
                        std::span<const DAT_LMR_TRIPLET> segments);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_LOCAL_SEGMENTS_H_
