// SPDX-License-Identifier: BSD-3-Clause
// The extension interface of 2005 (dat/dat_extensions.h) by means of the InfiniBand extensions of
// 2.0: which services an IA has, under which names, and the calls.
#ifndef SOFTDAT_DAT_BRIDGE_EXTENSIONS_H_
#define SOFTDAT_DAT_BRIDGE_EXTENSIONS_H_

#include <cstdarg>

#include "dat/bridge/dat12.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/udat.h>

namespace softdat::bridge {

struct Services {
  bool immediate = false;   // natively on the wire, or as a message
  bool as_message = false;  // as a message
  bool fetch_and_add = false;
  bool compare_and_swap = false;
  bool confirm = false;   // SOFTDAT_COMPLETION_CONFIRM_FLAG
  bool foreign = true;    // a provider that does not know that flag
  bool extended = false;  // SOFTDAT_COMPLETION_EXTENSION_FLAG
};

// Asks an IA that has just been opened. May throw std::bad_alloc.
void AskServices(::DAT_IA_HANDLE ia);
// The services that the IA answered; one atomic read. No services when `ia` is not an IA.
Services ServicesOf(::DAT_IA_HANDLE ia);
// The services that every IA has which this process has opened so far. For one of these, nobody
// needs to find out which IA an object belongs to.
Services ServicesOfAll();
// Puts the names of the proposal behind the provider's own attributes. They are valid while the IA
// is open.
void NameServices(::DAT_IA_HANDLE ia, dat12::DAT_PROVIDER_ATTR* attr);

// Corrects an event that To12() has made. On some IAs immediate data come in a message for a
// receive with room for them, and only the IA tells that.
void TellImmediateMessage(::DAT_EVD_HANDLE evd, dat12::DAT_EXTENSION_DATA* data);

// For use around fork(): the child must not inherit a mutex that some other thread holds.
void LockServicesForFork();
void UnlockServicesAfterFork();

// An extended operation on a bridged object.
dat12::DAT_RETURN ExtensionOverTwo(dat12::DAT_HANDLE handle, dat12::DAT_EXT_OP op, va_list args);

}  // namespace softdat::bridge

#endif  // SOFTDAT_DAT_BRIDGE_EXTENSIONS_H_
