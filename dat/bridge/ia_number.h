// SPDX-License-Identifier: BSD-3-Clause
// The number of a 2.0 IA, which is its handle in programs.
#ifndef SOFTDAT_DAT_BRIDGE_IA_NUMBER_H_
#define SOFTDAT_DAT_BRIDGE_IA_NUMBER_H_

#include "dat/bridge/handles.h"
#include "dat/bridge/two.h"

namespace softdat::bridge {

// The number of the IA that a query returned. Foreign providers may return their own pointer
// instead of the number. NULL if it is not an IA.
inline ::DAT_IA_HANDLE NumberOf(::DAT_IA_HANDLE ia) {
  if (reinterpret_cast<uintptr_t>(ia) < kIaMark) return ia;
  ::DAT_IA_HANDLE number = nullptr;
  return two_dats_get_ia_handle(ia, &number) == ::DAT_SUCCESS ? number : nullptr;
}

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_IA_NUMBER_H_
