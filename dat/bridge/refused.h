// SPDX-License-Identifier: BSD-3-Clause
// Calls that the bridge refuses by itself, with the reason.
#ifndef SOFTDAT_DAT_BRIDGE_REFUSED_H_
#define SOFTDAT_DAT_BRIDGE_REFUSED_H_

#include "dat/base/no_memory.h"
#include "dat/base/reason.h"
#include "dat/bridge/dat12.h"

namespace softdat::bridge {

// Starts a new reason chain for the calling thread. Returns `word`.
[[gnu::cold]] inline dat12::DAT_RETURN Refused(dat12::DAT_RETURN word, const char* why) {
  return OrNoMemory(
      [&] {
        SetReason(why);
        return word;
      },
      word);
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_REFUSED_H_
