// SPDX-License-Identifier: BSD-3-Clause
// The calls of libdat2.so.2 that the bridge makes, under names of their own: two_ep_free is
// dat_ep_free of version DAT_2.0. libdat.so.1 has functions of the same names, and the version
// tells the linker which one is meant.
#ifndef SOFTDAT_DAT_BRIDGE_TWO_H_
#define SOFTDAT_DAT_BRIDGE_TWO_H_

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/dat_registry.h>
#include <dat2/softdat.h>
#include <dat2/udat.h>

#define TWO(name)                               \
  extern "C" decltype(::dat_##name) two_##name; \
  __asm__(".symver two_" #name ",dat_" #name "@DAT_2.0")

#define CALL(name) TWO(name);
#include "dat/bridge/calls.inc"
#undef CALL
TWO(extension_op);
#undef TWO

// Every libdat2.so.2 exports this function, but only our headers declare it.
extern "C" decltype(::dats_get_ia_handle) two_dats_get_ia_handle;
__asm__(".symver two_dats_get_ia_handle,dats_get_ia_handle@DAT_2.0");

#endif  // SOFTDAT_DAT_BRIDGE_TWO_H_
