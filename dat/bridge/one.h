// SPDX-License-Identifier: BSD-3-Clause
// What libdat.so.1 exports, under names that do not clash with the headers of 2.0. For example
// entry_ep_free is dat_ep_free in the library, with the parameters that dat/api/ep.h gives it.
// entries.cc makes the entry_ functions. What dat_ep_free does is in the function one_ep_free.
#ifndef SOFTDAT_DAT_BRIDGE_ONE_H_
#define SOFTDAT_DAT_BRIDGE_ONE_H_

#include "dat/bridge/dat12.h"

#define EXPORTED(name, kind)                                                                     \
  extern "C"                                                                                     \
      [[gnu::visibility("default")]] decltype(softdat::dat12::dat_##name) kind##_##name __asm__( \
          "dat_" #name)

#define CALL(name)                                                                           \
  EXPORTED(name, entry);                                                                     \
  extern "C"                                                                                 \
      [[gnu::visibility("hidden")]] decltype(softdat::dat12::dat_##name) one_##name __asm__( \
          "softdat_one_" #name);
#include "dat/bridge/calls.inc"
#undef CALL
// Exported directly, because it logs by itself: its arguments depend on the operation.
EXPORTED(extension, one);
#undef EXPORTED

// Declared in no header of 1.2. Translates an IA's number to the provider's own handle, or such a
// handle to the number.
extern "C" [[gnu::visibility("default")]] softdat::dat12::DAT_RETURN one_dats_get_ia_handle(
    softdat::dat12::DAT_IA_HANDLE handle,
    softdat::dat12::DAT_IA_HANDLE* other) __asm__("dats_get_ia_handle");

extern "C" [[gnu::visibility("default")]] decltype(softdat::dat12::softdat_bridge_provider)
    one_softdat_bridge_provider __asm__("softdat_bridge_provider");

#endif  // SOFTDAT_DAT_BRIDGE_ONE_H_
