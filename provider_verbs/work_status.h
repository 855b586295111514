// SPDX-License-Identifier: BSD-3-Clause
// Verbs completion statuses as the engine knows them.
#ifndef SOFTDAT_PROVIDER_VERBS_WORK_STATUS_H_
#define SOFTDAT_PROVIDER_VERBS_WORK_STATUS_H_

#include <infiniband/verbs.h>

#include "dat/transport/transport.h"

namespace softdat::verbs {

// What a status of libibverbs means to DAT (semantics 10.5).
transport::WorkStatus ToWorkStatus(ibv_wc_status status);

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_WORK_STATUS_H_
