// SPDX-License-Identifier: BSD-3-Clause
// Masks of queries and of dat_ep_modify(), from uDAPL 1.2 to 2.0. A bit that 1.2 does not have
// becomes one that 2.0 does not have either, so that the provider refuses it in its turn.
#ifndef SOFTDAT_DAT_BRIDGE_MASKS_H_
#define SOFTDAT_DAT_BRIDGE_MASKS_H_

#include "dat/bridge/dat12.h"
// Behind the types of 1.2.
#include <dat2/udat.h>

namespace softdat::bridge {

::DAT_IA_ATTR_MASK IaMaskTo2(dat12::DAT_IA_ATTR_MASK mask);
::DAT_PROVIDER_ATTR_MASK ProviderMaskTo2(dat12::DAT_PROVIDER_ATTR_MASK mask);
::DAT_EP_PARAM_MASK EpMaskTo2(dat12::DAT_EP_PARAM_MASK mask);
::DAT_LMR_PARAM_MASK LmrMaskTo2(dat12::DAT_LMR_PARAM_MASK mask);
::DAT_RMR_PARAM_MASK RmrMaskTo2(dat12::DAT_RMR_PARAM_MASK mask);
// 2.0's values are no bits: everything is asked for.
::DAT_CNO_PARAM_MASK CnoMaskTo2(dat12::DAT_CNO_PARAM_MASK mask);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_MASKS_H_
