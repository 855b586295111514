// SPDX-License-Identifier: BSD-3-Clause
// The functions that programs of 1.2 call. Each checks whether failed calls are logged, and jumps
// on.
#include "dat/bridge/logged_call.h"
#include "dat/bridge/one.h"

using namespace softdat::dat12;   // NOLINT: the types in what is generated
using namespace softdat::bridge;  // NOLINT: this file is the C API of libdat.so.1

#define PASS(...) __VA_ARGS__
#define ENTRY(name, parameters, arguments)                      \
  DAT_RETURN entry_##name parameters {                          \
    if (MayLogCalls()) [[unlikely]]                             \
      return Logged("dat_" #name, &one_##name, PASS arguments); \
    return one_##name arguments;                                \
  }
#include "dat/bridge/entries.inc"
#undef ENTRY
#undef PASS
