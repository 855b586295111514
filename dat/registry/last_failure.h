// SPDX-License-Identifier: BSD-3-Clause
// Who knows why the last DAT call of this thread failed: libdat2 itself or a provider. The text is
// fetched only when somebody asks for it (softdat_last_reason).
#ifndef SOFTDAT_DAT_REGISTRY_LAST_FAILURE_H_
#define SOFTDAT_DAT_REGISTRY_LAST_FAILURE_H_

#include <dat2/dat_registry.h>
#include <dat2/udat.h>

#include <string>

#include "dat/base/thread_local.h"
#include "dat/registry/provider_library.h"

namespace softdat::registry {

// The table of the provider that failed last in this thread. nullptr when the reason chain of
// libdat2 (dat/base/reason.h) is newer. Calls of the data path do not change it.
extern constinit thread_local const DAT_PROVIDER* t_failed_provider SOFTDAT_EARLY_TLS;

// Notes the failure and returns `result`. An empty queue and a timeout are answers, not failures.
DAT_RETURN NoteFailure(const DAT_PROVIDER* table, DAT_RETURN result);

// To be called after a call into a provider.
inline DAT_RETURN NoteResult(const DAT_PROVIDER* table, DAT_RETURN result) {
  return result == DAT_SUCCESS ? result : NoteFailure(table, result);
}

// The chain behind the last failure, outermost reason first; "" when there was none.
std::string LastFailure();

// What a provider says about its last failure in this thread. "" if it cannot tell.
std::string ProviderReason(const ProviderExports& exports);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_LAST_FAILURE_H_
