// SPDX-License-Identifier: BSD-3-Clause
// Structures with handles between uDAPL 1.2 and 2.0: what queries answer, and events.
#ifndef SOFTDAT_DAT_BRIDGE_PARAMS_H_
#define SOFTDAT_DAT_BRIDGE_PARAMS_H_

#include "dat/bridge/dat12.h"
// Behind the types of 1.2.
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

// The states that 1.2 does not have are kinds of CONNECTED.
dat12::DAT_EP_STATE To12(::DAT_EP_STATE state);

// An event; one whose number 1.2 does not have keeps it, and its data are empty.
void To12(const ::DAT_EVENT& from, dat12::DAT_EVENT* to);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_PARAMS_H_
