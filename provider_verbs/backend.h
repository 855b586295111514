// SPDX-License-Identifier: BSD-3-Clause
// The back end for RDMA hardware (and the kernel's soft-RoCE and soft-iWARP), through libibverbs
// and librdmacm.
#ifndef SOFTDAT_PROVIDER_VERBS_BACKEND_H_
#define SOFTDAT_PROVIDER_VERBS_BACKEND_H_

#include <memory>

#include "dat/transport/transport.h"

namespace softdat::verbs {

// Opens verbs-<network interface>, verbs-<RDMA device> and verbs-<RDMA device>-<port>.
std::unique_ptr<transport::Backend> MakeBackend();

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_BACKEND_H_
