// SPDX-License-Identifier: BSD-3-Clause
// Every status of libibverbs must have a meaning here (semantics 10.5).
#include "provider_verbs/work_status.h"

#include <gtest/gtest.h>

namespace softdat::verbs {
namespace {

using transport::WorkStatus;

// covers: semantics 10.5
TEST(WorkStatusTest, EveryStatus) {
  struct Row {
    ibv_wc_status from;
    WorkStatus to;
  };
  for (const Row& row : {Row{IBV_WC_SUCCESS, WorkStatus::kSuccess},
                         Row{IBV_WC_LOC_LEN_ERR, WorkStatus::kLocalLength},
                         Row{IBV_WC_LOC_QP_OP_ERR, WorkStatus::kLocalEp},
                         Row{IBV_WC_LOC_PROT_ERR, WorkStatus::kLocalProtection},
                         Row{IBV_WC_LOC_ACCESS_ERR, WorkStatus::kLocalProtection},
                         Row{IBV_WC_WR_FLUSH_ERR, WorkStatus::kFlushed},
                         Row{IBV_WC_MW_BIND_ERR, WorkStatus::kBindFailed},
                         Row{IBV_WC_BAD_RESP_ERR, WorkStatus::kBadResponse},
                         Row{IBV_WC_REM_INV_REQ_ERR, WorkStatus::kRemoteResponder},
                         Row{IBV_WC_REM_ACCESS_ERR, WorkStatus::kRemoteAccess},
                         Row{IBV_WC_REM_OP_ERR, WorkStatus::kRemoteResponder},
                         Row{IBV_WC_RETRY_EXC_ERR, WorkStatus::kTransport},
                         Row{IBV_WC_RNR_RETRY_EXC_ERR, WorkStatus::kReceiverNotReady},
                         Row{IBV_WC_RESP_TIMEOUT_ERR, WorkStatus::kReceiverNotReady},
                         Row{IBV_WC_FATAL_ERR, WorkStatus::kTransport},
                         Row{IBV_WC_GENERAL_ERR, WorkStatus::kTransport}}) {
    EXPECT_EQ(ToWorkStatus(row.from), row.to) << ibv_wc_status_str(row.from);
  }
  for (int status = IBV_WC_LOC_LEN_ERR; status <= IBV_WC_TM_RNDV_INCOMPLETE; ++status) {
    EXPECT_NE(ToWorkStatus(static_cast<ibv_wc_status>(status)), WorkStatus::kSuccess) << status;
  }
}

}  // namespace
}  // namespace softdat::verbs
