// SPDX-License-Identifier: BSD-3-Clause
// The extension interface of 2005 (dat/dat_extensions.h) on the InfiniBand extensions of 2.0: which
// services an IA has, under which names, and the calls.
#ifndef SOFTDAT_DAT_BRIDGE_EXTENSIONS_H_
#define SOFTDAT_DAT_BRIDGE_EXTENSIONS_H_

#include <cstdarg>

#include "dat/bridge/dat12.h"
// Behind the types of 1.2.
#include <dat2/udat.h>

namespace softdat::bridge {

struct Services {
  bool immediate = false;   // by the wire's own means, or as a message
  bool as_message = false;  // the latter
  bool fetch_and_add = false;
  bool compare_and_swap = false;
  bool confirm = false;   // SOFTDAT_COMPLETION_CONFIRM_FLAG
  bool foreign = true;    // a provider that does not know that flag
  bool extended = false;  // SOFTDAT_COMPLETION_EXTENSION_FLAG
};

// Asks an IA that was opened just now. May throw std::bad_alloc.
void AskServices(::DAT_IA_HANDLE ia);
// What it answered; one atomic read. Nothing for what is no IA.
Services ServicesOf(::DAT_IA_HANDLE ia);
// What every IA that this process has opened so far has: then nobody needs to ask of which an
// object is.
Services ServicesOfAll();
// Puts the names of the proposal behind the provider's own attributes. They are good as long as the
// IA is open.
void NameServices(::DAT_IA_HANDLE ia, dat12::DAT_PROVIDER_ATTR* attr);

// Of an event that To12() has made: a message for a receive with room for immediate data, which
// such data come in on some IAs.
void TellImmediateMessage(::DAT_EVD_HANDLE evd, dat12::DAT_EXTENSION_DATA* data);

// Around fork(): the child must not inherit a mutex that some other thread holds.
void LockServicesForFork();
void UnlockServicesAfterFork();

// An extended operation on a bridged object.
dat12::DAT_RETURN ExtensionOverTwo(dat12::DAT_HANDLE handle, dat12::DAT_EXT_OP op, va_list args);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_EXTENSIONS_H_
