// SPDX-License-Identifier: BSD-3-Clause
// Flags of uDAPL 1.2 in 2.0, where they have the same bits. A flag that 1.2 does not have becomes
// one that 2.0 does not have either, so that the provider refuses it at its usual place.
#ifndef SOFTDAT_DAT_BRIDGE_FLAGS_H_
#define SOFTDAT_DAT_BRIDGE_FLAGS_H_

#include <cstdint>

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/dat_ib_extensions.h>

namespace softdat::bridge {

inline constexpr uint32_t kUnknownFlag = 0x40000000;

inline constexpr uint32_t kCompletionFlags = uint32_t{dat12::DAT_COMPLETION_SUPPRESS_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_SOLICITED_WAIT_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_UNSIGNALLED_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_BARRIER_FENCE_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_EVD_THRESHOLD_FLAG};

// Whether a post has no flags that 1.2 does not have.
[[gnu::always_inline]] inline bool AreKnown(dat12::DAT_COMPLETION_FLAGS flags) {
  return (static_cast<uint32_t>(flags) & ~kCompletionFlags) == 0;
}

inline ::DAT_COMPLETION_FLAGS CompletionFlagsTo2(dat12::DAT_COMPLETION_FLAGS flags) {
  const auto bits = static_cast<uint32_t>(flags);
  return static_cast<::DAT_COMPLETION_FLAGS>((bits & kCompletionFlags) |
                                             (AreKnown(flags) ? 0 : kUnknownFlag));
}

// Another implementation's 1.2 has a flag that switches relaxed ordering off. It is accepted, and
// there is nothing to switch off.
inline constexpr uint32_t kNoRelaxedOrdering = 0x100;

// The extension of 2005 has a right to atomics, and so has the extension of 2.0, with the same bit.
static_assert(int{dat12::DAT_EXT_MEM_PRIV_REMOTE_ATOMIC} == int{::DAT_IB_MEM_PRIV_REMOTE_ATOMIC});

inline ::DAT_MEM_PRIV_FLAGS PrivilegesTo2(dat12::DAT_MEM_PRIV_FLAGS privileges) {
  const auto bits = static_cast<uint32_t>(privileges);
  constexpr uint32_t kAll =
      uint32_t{dat12::DAT_MEM_PRIV_ALL_FLAG} | uint32_t{dat12::DAT_EXT_MEM_PRIV_REMOTE_ATOMIC};
  const bool known = (bits & ~(kAll | kNoRelaxedOrdering)) == 0;
  return static_cast<::DAT_MEM_PRIV_FLAGS>((bits & kAll) | (known ? 0 : kUnknownFlag));
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_FLAGS_H_
