// SPDX-License-Identifier: BSD-3-Clause
// The provider table: which function stands in which slot.
#include "dat/engine/registration.h"
#include "dat/engine/slots.h"

namespace softdat::engine {

void FillProviderTable(DAT_PROVIDER* table) {
  table->device_name = nullptr;
  table->extension = nullptr;
  table->ia_open_func = slots::IaOpen;
  table->ia_query_func = slots::IaQuery;
  table->ia_close_func = slots::IaClose;
  table->set_consumer_context_func = slots::SetConsumerContext;
  table->get_consumer_context_func = slots::GetConsumerContext;
  table->get_handle_type_func = slots::GetHandleType;
  table->cno_create_func = slots::CnoCreate;
  table->cno_modify_agent_func = slots::CnoModifyAgent;
  table->cno_query_func = slots::CnoQuery;
  table->cno_free_func = slots::CnoFree;
  table->cno_wait_func = slots::CnoWait;
  table->cr_query_func = slots::CrQuery;
  table->cr_accept_func = slots::CrAccept;
  table->cr_reject_func = slots::CrReject;
  table->cr_handoff_func = slots::CrHandoff;
  table->evd_create_func = slots::EvdCreate;
  table->evd_query_func = slots::EvdQuery;
  table->evd_modify_cno_func = slots::EvdModifyCno;
  table->evd_enable_func = slots::EvdEnable;
  table->evd_disable_func = slots::EvdDisable;
  table->evd_wait_func = slots::EvdWait;
  table->evd_resize_func = slots::EvdResize;
  table->evd_post_se_func = slots::EvdPostSe;
  table->evd_dequeue_func = slots::EvdDequeue;
  table->evd_free_func = slots::EvdFree;
  table->ep_create_func = slots::EpCreate;
  table->ep_query_func = slots::EpQuery;
  table->ep_modify_func = slots::EpModify;
  table->ep_connect_func = slots::EpConnect;
  table->ep_dup_connect_func = slots::EpDupConnect;
  table->ep_disconnect_func = slots::EpDisconnect;
  table->ep_post_send_func = slots::EpPostSend;
  table->ep_post_recv_func = slots::EpPostRecv;
  table->ep_post_rdma_read_func = slots::EpPostRdmaRead;
  table->ep_post_rdma_write_func = slots::EpPostRdmaWrite;
  table->ep_get_status_func = slots::EpGetStatus;
  table->ep_free_func = slots::EpFree;
  table->lmr_create_func = slots::LmrCreate;
  table->lmr_query_func = slots::LmrQuery;
  table->lmr_free_func = slots::LmrFree;
  table->rmr_create_func = slots::RmrCreate;
  table->rmr_query_func = slots::RmrQuery;
  table->rmr_bind_func = slots::RmrBind;
  table->rmr_free_func = slots::RmrFree;
  table->psp_create_func = slots::PspCreate;
  table->psp_query_func = slots::PspQuery;
  table->psp_free_func = slots::PspFree;
  table->rsp_create_func = slots::RspCreate;
  table->rsp_query_func = slots::RspQuery;
  table->rsp_free_func = slots::RspFree;
  table->pz_create_func = slots::PzCreate;
  table->pz_query_func = slots::PzQuery;
  table->pz_free_func = slots::PzFree;
  table->psp_create_any_func = slots::PspCreateAny;
  table->ep_reset_func = slots::EpReset;
  table->evd_set_unwaitable_func = slots::EvdSetUnwaitable;
  table->evd_clear_unwaitable_func = slots::EvdClearUnwaitable;
  table->lmr_sync_rdma_read_func = slots::LmrSyncRdmaRead;
  table->lmr_sync_rdma_write_func = slots::LmrSyncRdmaWrite;
  table->ep_create_with_srq_func = slots::EpCreateWithSrq;
  table->ep_recv_query_func = slots::EpRecvQuery;
  table->ep_set_watermark_func = slots::EpSetWatermark;
  table->srq_create_func = slots::SrqCreate;
  table->srq_free_func = slots::SrqFree;
  table->srq_post_recv_func = slots::SrqPostRecv;
  table->srq_query_func = slots::SrqQuery;
  table->srq_resize_func = slots::SrqResize;
  table->srq_set_lw_func = slots::SrqSetLw;
  table->csp_create_func = slots::CspCreate;
  table->csp_query_func = slots::CspQuery;
  table->csp_free_func = slots::CspFree;
  table->ep_common_connect_func = slots::EpCommonConnect;
  table->rmr_create_for_ep_func = slots::RmrCreateForEp;
  table->ep_post_send_with_invalidate_func = slots::EpPostSendWithInvalidate;
  table->ep_post_rdma_read_to_rmr_func = slots::EpPostRdmaReadToRmr;
  table->cno_fd_create_func = slots::CnoFdCreate;
  table->cno_trigger_func = slots::CnoTrigger;
  table->ia_ha_related_func = slots::IaHaRelated;
  table->handle_extendedop_func = slots::HandleExtendedop;
}

}  // namespace softdat::engine
