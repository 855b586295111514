// SPDX-License-Identifier: BSD-3-Clause
// What errno of a verbs or rdma_cm call means to the engine.
#ifndef SOFTDAT_PROVIDER_VERBS_OS_ERROR_H_
#define SOFTDAT_PROVIDER_VERBS_OS_ERROR_H_

#include <string>

#include "dat/base/status.h"

namespace softdat::verbs {

// `error` is an errno value (siw reports some negated; both signs are understood). `what` names the
// call and its facts. Memory failures under a finite RLIMIT_MEMLOCK say how to raise the limit.
Status OsStatus(int error, const std::string& what);
// Same, for making a queue whose size the device allows. EINVAL then means that no queue is left
// (siw of Linux 6.1, when a process has as many queue pages as it may). So does no error: the
// library of siw sets errno for some of its failures only. The caller sets it to 0 before the call.
Status ExhaustionStatus(int error, const std::string& what);

// For example "Cannot allocate memory".
std::string OsText(int error);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_OS_ERROR_H_
