// SPDX-License-Identifier: BSD-3-Clause
// Masks of queries and of dat_ep_modify(), from uDAPL 1.2 to 2.0. A bit that 1.2 does not have
// becomes one that 2.0 does not have either, so that the provider refuses it at its usual place.
#ifndef SOFTDAT_DAT_BRIDGE_MASKS_H_
#define SOFTDAT_DAT_BRIDGE_MASKS_H_

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/udat.h>

namespace softdat::bridge {

::DAT_IA_ATTR_MASK IaMaskTo2(dat12::DAT_IA_ATTR_MASK mask);
::DAT_PROVIDER_ATTR_MASK ProviderMaskTo2(dat12::DAT_PROVIDER_ATTR_MASK mask);
::DAT_EP_PARAM_MASK EpMaskTo2(dat12::DAT_EP_PARAM_MASK mask);
::DAT_LMR_PARAM_MASK LmrMaskTo2(dat12::DAT_LMR_PARAM_MASK mask);
::DAT_RMR_PARAM_MASK RmrMaskTo2(dat12::DAT_RMR_PARAM_MASK mask);
// The values of 2.0 are not bits, so any known mask becomes the one for everything.
::DAT_CNO_PARAM_MASK CnoMaskTo2(dat12::DAT_CNO_PARAM_MASK mask);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_MASKS_H_
