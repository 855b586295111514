// SPDX-License-Identifier: BSD-3-Clause
// Operations on memory of a socket of the same process, which need no transport.
#ifndef SOFTDAT_RDS_SOCKET_LOCAL_OPERATIONS_H_
#define SOFTDAT_RDS_SOCKET_LOCAL_OPERATIONS_H_

#include "rds/socket/control_messages.h"
#include "rds/socket/socket.h"

namespace softdat::rds {

// Carries the operation out. `region`: what its cookie names, or nullptr. Returns RDS_RDMA_*.
int Carry(const RdmaOperation& operation, const OwnRegion* region);
int Carry(const AtomicOperation& operation, const OwnRegion* region);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_LOCAL_OPERATIONS_H_
