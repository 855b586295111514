// SPDX-License-Identifier: BSD-3-Clause
#include "rds/link/errors.h"

#include <gtest/gtest.h>

namespace softdat::rds {
namespace {

// rds-rdma(7), "RDMA_OTHER_ERROR" and its neighbours.
TEST(ErrorsTest, StatusOfEachCompletion) {
  EXPECT_EQ(StatusOf(DAT_DTO_SUCCESS), RDS_RDMA_SUCCESS);
  EXPECT_EQ(StatusOf(DAT_DTO_ERR_REMOTE_ACCESS), RDS_RDMA_REMOTE_ERROR);
  for (const auto status :
       {DAT_DTO_ERR_FLUSHED, DAT_DTO_ERR_TRANSPORT, DAT_DTO_ERR_RECEIVER_NOT_READY}) {
    EXPECT_EQ(StatusOf(status), RDS_RDMA_DROPPED);
  }
  for (const auto status :
       {DAT_DTO_ERR_LOCAL_LENGTH, DAT_DTO_ERR_LOCAL_EP, DAT_DTO_ERR_LOCAL_PROTECTION,
        DAT_DTO_ERR_BAD_RESPONSE, DAT_DTO_ERR_REMOTE_RESPONDER}) {
    EXPECT_EQ(StatusOf(status), RDS_RDMA_OTHER_ERROR);
  }
}

// rds-rdma(7), EAGAIN and EBUSY: a limit, and no mapping.
TEST(ErrorsTest, ErrnoOfEachRegistration) {
  EXPECT_EQ(ErrnoOfRegistration(DAT_SUCCESS), 0);
  EXPECT_EQ(ErrnoOfRegistration(DAT_INSUFFICIENT_RESOURCES), EAGAIN);
  EXPECT_EQ(ErrnoOfRegistration(DAT_MODEL_NOT_SUPPORTED), EOPNOTSUPP);
  for (const DAT_RETURN type : {DAT_PRIVILEGES_VIOLATION, DAT_INVALID_PARAMETER,
                                DAT_PROTECTION_VIOLATION, DAT_INTERNAL_ERROR}) {
    EXPECT_EQ(ErrnoOfRegistration(type), EBUSY);
  }
}

}  // namespace
}  // namespace softdat::rds
