// SPDX-License-Identifier: BSD-3-Clause
// Structures with handles, from uDAPL 2.0 to 1.2: what queries answer, and events.
#ifndef SOFTDAT_DAT_BRIDGE_PARAMS_H_
#define SOFTDAT_DAT_BRIDGE_PARAMS_H_

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/udat.h>

namespace softdat::bridge {

void To12(const ::DAT_EVD_PARAM& from, dat12::DAT_EVD_PARAM* to);
void To12(const ::DAT_PZ_PARAM& from, dat12::DAT_PZ_PARAM* to);
void To12(const ::DAT_LMR_PARAM& from, dat12::DAT_LMR_PARAM* to);
void To12(const ::DAT_RMR_PARAM& from, dat12::DAT_RMR_PARAM* to);
void To12(const ::DAT_EP_PARAM& from, dat12::DAT_EP_PARAM* to);
void To12(const ::DAT_SRQ_PARAM& from, dat12::DAT_SRQ_PARAM* to);
void To12(const ::DAT_PSP_PARAM& from, dat12::DAT_PSP_PARAM* to);
void To12(const ::DAT_RSP_PARAM& from, dat12::DAT_RSP_PARAM* to);
void To12(const ::DAT_CR_PARAM& from, dat12::DAT_CR_PARAM* to);
void To2(const dat12::DAT_EP_PARAM& from, ::DAT_EP_PARAM* to);

// States that 1.2 does not have become CONNECTED, of which they are kinds.
dat12::DAT_EP_STATE To12(::DAT_EP_STATE state);

// Translates an event. If 1.2 does not have its number, the event keeps the number and its data are
// empty.
void To12(const ::DAT_EVENT& from, dat12::DAT_EVENT* to);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_PARAMS_H_
