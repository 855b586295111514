// SPDX-License-Identifier: BSD-3-Clause
// Who knows why the last DAT call of this thread failed: libdat2 itself or a provider. The text is
// only fetched when somebody asks (softdat_last_reason).
#ifndef SOFTDAT_DAT_REGISTRY_LAST_FAILURE_H_
#define SOFTDAT_DAT_REGISTRY_LAST_FAILURE_H_

#include <dat2/dat_registry.h>
#include <dat2/udat.h>

#include <string>

#include "dat/registry/provider_library.h"

namespace softdat::registry {

// The table of the provider that failed last in this thread; nullptr when the reason chain of
// libdat2 (dat/base/reason.h) is newer. Initial-exec: one instruction on the path of every failure.
extern constinit thread_local const DAT_PROVIDER* t_failed_provider
    __attribute__((tls_model("initial-exec")));

// After a call into a provider. An empty queue and a timeout are answers, not failures.
inline DAT_RETURN NoteResult(const DAT_PROVIDER* table, DAT_RETURN result) {
  if (result != DAT_SUCCESS) [[unlikely]] {
    const DAT_UINT32 type = DAT_GET_TYPE(result);
    if (type != DAT_QUEUE_EMPTY && type != DAT_TIMEOUT_EXPIRED) t_failed_provider = table;
  }
  return result;
}

// The chain behind the last failure, outermost reason first; "" when there was none.
std::string LastFailure();

// What a provider says about its last failure in this thread; "" if it cannot tell.
std::string ProviderReason(const ProviderExports& exports);

}  // namespace softdat::registry

#endif  // SOFTDAT_DAT_REGISTRY_LAST_FAILURE_H_
