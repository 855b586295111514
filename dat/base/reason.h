// SPDX-License-Identifier: BSD-3-Clause
// The chain of reasons behind the calling thread's last failure. Each layer that passes a failure
// up adds a sentence, so that a reader can follow "dat_ep_connect: INVALID_ADDRESS" down to the
// system call.
#ifndef SOFTDAT_DAT_BASE_REASON_H_
#define SOFTDAT_DAT_BASE_REASON_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "dat/base/status.h"

namespace softdat {

// Starts a new chain with its innermost reason. Earlier reasons of this thread are dropped.
void SetReason(std::string_view reason);

// Adds a reason that stands further out ("dat_psp_create refused"). Starts a chain when there is
// none.
void AddReason(std::string_view reason);

// The chain, outermost reason first, one per line; empty when this thread had no failure yet.
std::string LastReasons();

void ClearReasons();

// When the last reason was added, in nanoseconds of CLOCK_MONOTONIC; 0 while the chain is empty.
// Several libraries of one process have a chain each, and this time tells which of them failed
// last.
uint64_t LastReasonTime();

// Records the reason of a failed status (nothing for success) and returns its code.
Code Record(const Status& status);

}  // namespace softdat

#endif  // SOFTDAT_DAT_BASE_REASON_H_
