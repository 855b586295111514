// SPDX-License-Identifier: BSD-3-Clause
// What failures of DAT are in RDS.
#ifndef SOFTDAT_RDS_LINK_ERRORS_H_
#define SOFTDAT_RDS_LINK_ERRORS_H_

#include <linux/rds.h>

#include <cerrno>

#include "dat2/udat.h"

namespace softdat::rds {

// The status of an operation: RDS_RDMA_*.
inline int StatusOf(DAT_DTO_COMPLETION_STATUS status) {
  switch (status) {
    case DAT_DTO_SUCCESS:
      return RDS_RDMA_SUCCESS;
    case DAT_DTO_ERR_REMOTE_ACCESS:
      return RDS_RDMA_REMOTE_ERROR;
    // The connection ended. What that means for the operation is decided when there is a new one.
    case DAT_DTO_ERR_FLUSHED:
    case DAT_DTO_ERR_TRANSPORT:
    case DAT_DTO_ERR_RECEIVER_NOT_READY:
      return RDS_RDMA_DROPPED;
    default:
      return RDS_RDMA_OTHER_ERROR;
  }
}

// Of memory that was to be opened. `type`: DAT_GET_TYPE of what the registration returned.
inline int ErrnoOfRegistration(DAT_RETURN type) {
  switch (type) {
    case DAT_SUCCESS:
      return 0;
    case DAT_INSUFFICIENT_RESOURCES:
      return EAGAIN;
    case DAT_MODEL_NOT_SUPPORTED:
      return EOPNOTSUPP;
    default:
      return EBUSY;
  }
}

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_LINK_ERRORS_H_
