// SPDX-License-Identifier: BSD-3-Clause
// Flags of uDAPL 1.2 in 2.0: the same bits. One that 1.2 does not have becomes one that 2.0 does
// not have either, so that the provider refuses it in its turn.
#ifndef SOFTDAT_DAT_BRIDGE_FLAGS_H_
#define SOFTDAT_DAT_BRIDGE_FLAGS_H_

#include <cstdint>

#include "dat/bridge/dat12.h"
// Behind the types of 1.2.
#include <dat2/dat_ib_extensions.h>

namespace softdat::bridge {

inline constexpr uint32_t kUnknownFlag = 0x40000000;

inline constexpr uint32_t kCompletionFlags = uint32_t{dat12::DAT_COMPLETION_SUPPRESS_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_SOLICITED_WAIT_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_UNSIGNALLED_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_BARRIER_FENCE_FLAG} |
                                             uint32_t{dat12::DAT_COMPLETION_EVD_THRESHOLD_FLAG};

// Whether a post has no other flags.
[[gnu::always_inline]] inline bool AreKnown(dat12::DAT_COMPLETION_FLAGS flags) {
  return (static_cast<uint32_t>(flags) & ~kCompletionFlags) == 0;
}

inline ::DAT_COMPLETION_FLAGS CompletionFlagsTo2(dat12::DAT_COMPLETION_FLAGS flags) {
  const auto bits = static_cast<uint32_t>(flags);
  return static_cast<::DAT_COMPLETION_FLAGS>((bits & kCompletionFlags) |
                                             (AreKnown(flags) ? 0 : kUnknownFlag));
}

// Another implementation's 1.2 has a flag that switches relaxed ordering off. There is none to
// switch off.
inline constexpr uint32_t kNoRelaxedOrdering = 0x100;

inline ::DAT_MEM_PRIV_FLAGS PrivilegesTo2(dat12::DAT_MEM_PRIV_FLAGS privileges) {
  const auto bits = static_cast<uint32_t>(privileges);
  constexpr uint32_t kAll = dat12::DAT_MEM_PRIV_ALL_FLAG;
  const bool known = (bits & ~(kAll | kNoRelaxedOrdering)) == 0;
  return static_cast<::DAT_MEM_PRIV_FLAGS>((bits & kAll) | (known ? 0 : kUnknownFlag));
}

// 1.2 has no privilege of its own for atomics, 2.0 has: memory that the peer may read and write is
// for its atomics too, where the provider has them.
inline bool IsForAtomics(::DAT_MEM_PRIV_FLAGS privileges) {
  constexpr uint32_t kBoth =
      uint32_t{::DAT_MEM_PRIV_REMOTE_READ_FLAG} | uint32_t{::DAT_MEM_PRIV_REMOTE_WRITE_FLAG};
  return (static_cast<uint32_t>(privileges) & kBoth) == kBoth;
}

inline ::DAT_MEM_PRIV_FLAGS WithAtomics(::DAT_MEM_PRIV_FLAGS privileges) {
  return static_cast<::DAT_MEM_PRIV_FLAGS>(static_cast<uint32_t>(privileges) |
                                           uint32_t{::DAT_IB_MEM_PRIV_REMOTE_ATOMIC});
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_FLAGS_H_
