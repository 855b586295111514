// SPDX-License-Identifier: BSD-3-Clause
// What libdat.so.1 exports, under names that do not clash with the headers of 2.0: entry_ep_free is
// dat_ep_free in the library, and has the parameters that dat/api/ep.h gives it. It is made by
// entries.cc; what it does stands in the function that is defined as one_ep_free.
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
// Its arguments are those of an operation: it logs by itself.
EXPORTED(extension, one);
#undef EXPORTED

// No header of 1.2 declares it: the provider's own handle behind an IA's number, or the number of
// such a handle.
extern "C" [[gnu::visibility("default")]] softdat::dat12::DAT_RETURN one_dats_get_ia_handle(
    softdat::dat12::DAT_IA_HANDLE handle,
    softdat::dat12::DAT_IA_HANDLE* other) __asm__("dats_get_ia_handle");

extern "C" [[gnu::visibility("default")]] decltype(softdat::dat12::softdat_bridge_provider)
    one_softdat_bridge_provider __asm__("softdat_bridge_provider");

#endif  // SOFTDAT_DAT_BRIDGE_ONE_H_
