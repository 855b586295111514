// SPDX-License-Identifier: BSD-3-Clause
// Converts ibv_wc_status to WorkStatus.
#include "provider_verbs/work_status.h"

namespace softdat::verbs {

transport::WorkStatus ToWorkStatus(ibv_wc_status status) {
  using transport::WorkStatus;
  switch (status) {
    case IBV_WC_SUCCESS:
      return WorkStatus::kSuccess;
    case IBV_WC_WR_FLUSH_ERR:
      return WorkStatus::kFlushed;
    case IBV_WC_LOC_LEN_ERR:
      return WorkStatus::kLocalLength;
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_EEC_OP_ERR:
    case IBV_WC_INV_EECN_ERR:
    case IBV_WC_INV_EEC_STATE_ERR:
      return WorkStatus::kLocalEp;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_LOC_RDD_VIOL_ERR:
      return WorkStatus::kLocalProtection;
    case IBV_WC_MW_BIND_ERR:
      return WorkStatus::kBindFailed;
    case IBV_WC_BAD_RESP_ERR:
      return WorkStatus::kBadResponse;
    case IBV_WC_REM_ACCESS_ERR:
      return WorkStatus::kRemoteAccess;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
    case IBV_WC_REM_ABORT_ERR:
      return WorkStatus::kRemoteResponder;
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
      return WorkStatus::kReceiverNotReady;
    default:
      return WorkStatus::kTransport;
  }
}

}  // namespace softdat::verbs
