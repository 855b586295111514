// SPDX-License-Identifier: BSD-3-Clause
// The check of a post's local segments, at the time of the post.
#ifndef SOFTDAT_PROVIDER_SOFTNET_MEMORY_LOCAL_SEGMENTS_H_
#define SOFTDAT_PROVIDER_SOFTNET_MEMORY_LOCAL_SEGMENTS_H_

#include <cstdint>
#include <span>

#include "dat/transport/transport.h"
#include "provider_softnet/memory/memory_table.h"

namespace softdat::softnet {

// The Code that a post returns for a verdict about its memory: kOk, kProtection, kPrivileges,
// kOutOfBounds.
Code CodeFor(AccessError error);

// Checks key, domain, rights and bounds of each segment that is not empty. `qp` may be 0 except for
// window sinks. Returns the values of CodeFor().
Code CheckLocalSegments(const MemoryTable& memory, uint32_t pd, uint32_t qp, Access access,
                        std::span<const DAT_LMR_TRIPLET> segments);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_MEMORY_LOCAL_SEGMENTS_H_
