// SPDX-License-Identifier: BSD-3-Clause
// Structures without handles between uDAPL 1.2 and 2.0: attributes and triplets.
#ifndef SOFTDAT_DAT_BRIDGE_ATTRIBUTES_H_
#define SOFTDAT_DAT_BRIDGE_ATTRIBUTES_H_

#include <cstdint>

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/udat.h>

namespace softdat::bridge {

// Leaves out what 1.2 does not have.
void To12(const ::DAT_IA_ATTR& from, dat12::DAT_IA_ATTR* to);
void To12(const ::DAT_PROVIDER_ATTR& from, dat12::DAT_PROVIDER_ATTR* to);
void To12(const ::DAT_EP_ATTR& from, dat12::DAT_EP_ATTR* to);
// Sizes have 32 bits in 2.0. One that does not fit becomes the largest that does, and the provider
// judges it.
void To2(const dat12::DAT_EP_ATTR& from, ::DAT_EP_ATTR* to);

// The two states have each other's number in 2.0.
dat12::DAT_SRQ_STATE To12(::DAT_SRQ_STATE state);

// The addresses are those of 1.2, which does not have the choice of 2.0's va_type. Returns false
// when the length does not fit into 32 bits: nothing that a provider has is that long.
[[nodiscard]] inline bool To2(const dat12::DAT_LMR_TRIPLET& from, ::DAT_LMR_TRIPLET* to) {
  to->virtual_address = from.virtual_address;
  to->segment_length = static_cast<::DAT_SEG_LENGTH>(from.segment_length);
  to->lmr_context = from.lmr_context;
  return from.segment_length <= UINT32_MAX;
}

[[nodiscard]] inline bool To2(const dat12::DAT_RMR_TRIPLET& from, ::DAT_RMR_TRIPLET* to) {
  to->virtual_address = from.target_address;
  to->segment_length = static_cast<::DAT_SEG_LENGTH>(from.segment_length);
  to->rmr_context = from.rmr_context;
  return from.segment_length <= UINT32_MAX;
}

void To12(const ::DAT_LMR_TRIPLET& from, dat12::DAT_LMR_TRIPLET* to);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_ATTRIBUTES_H_
