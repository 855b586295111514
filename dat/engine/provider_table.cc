// SPDX-License-Identifier: BSD-3-Clause
// The provider table: which function stands in which slot. Those of the data path catch a failed
// allocation themselves, where that costs no further call.
#include "dat/engine/guarded_slot.h"
#include "dat/engine/registration.h"
#include "dat/engine/slots.h"

namespace softdat::engine {

void FillProviderTable(DAT_PROVIDER* table) {
  table->device_name = nullptr;
  table->extension = nullptr;
  table->ia_open_func = kGuarded<slots::IaOpen>;
  table->ia_query_func = kGuarded<slots::IaQuery>;
  table->ia_close_func = kGuarded<slots::IaClose>;
  table->set_consumer_context_func = kGuarded<slots::SetConsumerContext>;
  table->get_consumer_context_func = kGuarded<slots::GetConsumerContext>;
  table->get_handle_type_func = kGuarded<slots::GetHandleType>;
  table->cno_create_func = kGuarded<slots::CnoCreate>;
  table->cno_modify_agent_func = kGuarded<slots::CnoModifyAgent>;
  table->cno_query_func = kGuarded<slots::CnoQuery>;
  table->cno_free_func = kGuarded<slots::CnoFree>;
  table->cno_wait_func = kGuarded<slots::CnoWait>;
  table->cr_query_func = kGuarded<slots::CrQuery>;
  table->cr_accept_func = kGuarded<slots::CrAccept>;
  table->cr_reject_func = kGuarded<slots::CrReject>;
  table->cr_handoff_func = kGuarded<slots::CrHandoff>;
  table->evd_create_func = kGuarded<slots::EvdCreate>;
  table->evd_query_func = kGuarded<slots::EvdQuery>;
  table->evd_modify_cno_func = kGuarded<slots::EvdModifyCno>;
  table->evd_enable_func = kGuarded<slots::EvdEnable>;
  table->evd_disable_func = kGuarded<slots::EvdDisable>;
  table->evd_wait_func = kGuarded<slots::EvdWait>;
  table->evd_resize_func = kGuarded<slots::EvdResize>;
  table->evd_post_se_func = kGuarded<slots::EvdPostSe>;
  table->evd_dequeue_func = slots::EvdDequeue;
  table->evd_free_func = kGuarded<slots::EvdFree>;
  table->ep_create_func = kGuarded<slots::EpCreate>;
  table->ep_query_func = kGuarded<slots::EpQuery>;
  table->ep_modify_func = kGuarded<slots::EpModify>;
  table->ep_connect_func = kGuarded<slots::EpConnect>;
  table->ep_dup_connect_func = kGuarded<slots::EpDupConnect>;
  table->ep_disconnect_func = kGuarded<slots::EpDisconnect>;
  table->ep_post_send_func = slots::EpPostSend;
  table->ep_post_recv_func = slots::EpPostRecv;
  table->ep_post_rdma_read_func = slots::EpPostRdmaRead;
  table->ep_post_rdma_write_func = slots::EpPostRdmaWrite;
  table->ep_get_status_func = kGuarded<slots::EpGetStatus>;
  table->ep_free_func = kGuarded<slots::EpFree>;
  table->lmr_create_func = kGuarded<slots::LmrCreate>;
  table->lmr_query_func = kGuarded<slots::LmrQuery>;
  table->lmr_free_func = kGuarded<slots::LmrFree>;
  table->rmr_create_func = kGuarded<slots::RmrCreate>;
  table->rmr_query_func = kGuarded<slots::RmrQuery>;
  table->rmr_bind_func = kGuarded<slots::RmrBind>;
  table->rmr_free_func = kGuarded<slots::RmrFree>;
  table->psp_create_func = kGuarded<slots::PspCreate>;
  table->psp_query_func = kGuarded<slots::PspQuery>;
  table->psp_free_func = kGuarded<slots::PspFree>;
  table->rsp_create_func = kGuarded<slots::RspCreate>;
  table->rsp_query_func = kGuarded<slots::RspQuery>;
  table->rsp_free_func = kGuarded<slots::RspFree>;
  table->pz_create_func = kGuarded<slots::PzCreate>;
  table->pz_query_func = kGuarded<slots::PzQuery>;
  table->pz_free_func = kGuarded<slots::PzFree>;
  table->psp_create_any_func = kGuarded<slots::PspCreateAny>;
  table->ep_reset_func = kGuarded<slots::EpReset>;
  table->evd_set_unwaitable_func = kGuarded<slots::EvdSetUnwaitable>;
  table->evd_clear_unwaitable_func = kGuarded<slots::EvdClearUnwaitable>;
  table->lmr_sync_rdma_read_func = kGuarded<slots::LmrSyncRdmaRead>;
  table->lmr_sync_rdma_write_func = kGuarded<slots::LmrSyncRdmaWrite>;
  table->ep_create_with_srq_func = kGuarded<slots::EpCreateWithSrq>;
  table->ep_recv_query_func = kGuarded<slots::EpRecvQuery>;
  table->ep_set_watermark_func = kGuarded<slots::EpSetWatermark>;
  table->srq_create_func = kGuarded<slots::SrqCreate>;
  table->srq_free_func = kGuarded<slots::SrqFree>;
  table->srq_post_recv_func = slots::SrqPostRecv;
  table->srq_query_func = kGuarded<slots::SrqQuery>;
  table->srq_resize_func = kGuarded<slots::SrqResize>;
  table->srq_set_lw_func = kGuarded<slots::SrqSetLw>;
  table->csp_create_func = kGuarded<slots::CspCreate>;
  table->csp_query_func = kGuarded<slots::CspQuery>;
  table->csp_free_func = kGuarded<slots::CspFree>;
  table->ep_common_connect_func = kGuarded<slots::EpCommonConnect>;
  table->rmr_create_for_ep_func = kGuarded<slots::RmrCreateForEp>;
  table->ep_post_send_with_invalidate_func = slots::EpPostSendWithInvalidate;
  table->ep_post_rdma_read_to_rmr_func = slots::EpPostRdmaReadToRmr;
  table->cno_fd_create_func = kGuarded<slots::CnoFdCreate>;
  table->cno_trigger_func = kGuarded<slots::CnoTrigger>;
  table->ia_ha_related_func = kGuarded<slots::IaHaRelated>;
  table->handle_extendedop_func = kGuarded<slots::HandleExtendedop>;
}

}  // namespace softdat::engine
