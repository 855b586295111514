// SPDX-License-Identifier: BSD-3-Clause
// The number of a 2.0 IA, as programs have it.
#ifndef SOFTDAT_DAT_BRIDGE_IA_NUMBER_H_
#define SOFTDAT_DAT_BRIDGE_IA_NUMBER_H_

#include "dat/bridge/handles.h"
#include "dat/bridge/two.h"

namespace softdat::bridge {

// Of what a query named as the IA: other providers may answer with their own pointer. NULL if it is
// none.
inline ::DAT_IA_HANDLE NumberOf(::DAT_IA_HANDLE ia) {
  if (reinterpret_cast<uintptr_t>(ia) < kIaMark) return ia;
  ::DAT_IA_HANDLE number = nullptr;
  return two_dats_get_ia_handle(ia, &number) == ::DAT_SUCCESS ? number : nullptr;
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_IA_NUMBER_H_
