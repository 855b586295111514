// SPDX-License-Identifier: BSD-3-Clause
// The bridge as a provider of uDAPL 1.2: its table, for programs that call through the macros of
// dat/udat_redirection.h.
#include "dat/bridge/extensions.h"
#include "dat/bridge/native.h"
#include "dat/bridge/one.h"

using softdat::bridge::Table;
namespace dat12 = softdat::dat12;

namespace {

dat12::DAT_RETURN OpenForTable(const dat12::DAT_NAME_PTR name, dat12::DAT_COUNT async_qlen,
                               dat12::DAT_EVD_HANDLE* async_evd, dat12::DAT_IA_HANDLE* ia) {
  return entry_ia_openv(name, async_qlen, async_evd, ia, dat12::kDAT_VERSION_MAJOR,
                        dat12::kDAT_VERSION_MINOR, dat12::DAT_FALSE);
}

constexpr Table kTable = {
    .device_name = "bridge",
    .extension = nullptr,
    .ia_open_func = OpenForTable,
    .ia_query_func = entry_ia_query,
    .ia_close_func = entry_ia_close,
    .set_consumer_context_func = entry_set_consumer_context,
    .get_consumer_context_func = entry_get_consumer_context,
    .get_handle_type_func = entry_get_handle_type,
    .cno_create_func = entry_cno_create,
    .cno_modify_agent_func = entry_cno_modify_agent,
    .cno_query_func = entry_cno_query,
    .cno_free_func = entry_cno_free,
    .cno_wait_func = entry_cno_wait,
    .cr_query_func = entry_cr_query,
    .cr_accept_func = entry_cr_accept,
    .cr_reject_func = entry_cr_reject,
    .cr_handoff_func = entry_cr_handoff,
    .evd_create_func = entry_evd_create,
    .evd_query_func = entry_evd_query,
    .evd_modify_cno_func = entry_evd_modify_cno,
    .evd_enable_func = entry_evd_enable,
    .evd_disable_func = entry_evd_disable,
    .evd_wait_func = entry_evd_wait,
    .evd_resize_func = entry_evd_resize,
    .evd_post_se_func = entry_evd_post_se,
    .evd_dequeue_func = entry_evd_dequeue,
    .evd_free_func = entry_evd_free,
    .ep_create_func = entry_ep_create,
    .ep_query_func = entry_ep_query,
    .ep_modify_func = entry_ep_modify,
    .ep_connect_func = entry_ep_connect,
    .ep_dup_connect_func = entry_ep_dup_connect,
    .ep_disconnect_func = entry_ep_disconnect,
    .ep_post_send_func = entry_ep_post_send,
    .ep_post_recv_func = entry_ep_post_recv,
    .ep_post_rdma_read_func = entry_ep_post_rdma_read,
    .ep_post_rdma_write_func = entry_ep_post_rdma_write,
    .ep_get_status_func = entry_ep_get_status,
    .ep_free_func = entry_ep_free,
    .lmr_create_func = entry_lmr_create,
    .lmr_query_func = entry_lmr_query,
    .lmr_free_func = entry_lmr_free,
    .rmr_create_func = entry_rmr_create,
    .rmr_query_func = entry_rmr_query,
    .rmr_bind_func = entry_rmr_bind,
    .rmr_free_func = entry_rmr_free,
    .psp_create_func = entry_psp_create,
    .psp_query_func = entry_psp_query,
    .psp_free_func = entry_psp_free,
    .rsp_create_func = entry_rsp_create,
    .rsp_query_func = entry_rsp_query,
    .rsp_free_func = entry_rsp_free,
    .pz_create_func = entry_pz_create,
    .pz_query_func = entry_pz_query,
    .pz_free_func = entry_pz_free,
    .psp_create_any_func = entry_psp_create_any,
    .ep_reset_func = entry_ep_reset,
    .evd_set_unwaitable_func = entry_evd_set_unwaitable,
    .evd_clear_unwaitable_func = entry_evd_clear_unwaitable,
    .lmr_sync_rdma_read_func = entry_lmr_sync_rdma_read,
    .lmr_sync_rdma_write_func = entry_lmr_sync_rdma_write,
    .ep_create_with_srq_func = entry_ep_create_with_srq,
    .ep_recv_query_func = entry_ep_recv_query,
    .ep_set_watermark_func = entry_ep_set_watermark,
    .srq_create_func = entry_srq_create,
    .srq_free_func = entry_srq_free,
    .srq_post_recv_func = entry_srq_post_recv,
    .srq_query_func = entry_srq_query,
    .srq_resize_func = entry_srq_resize,
    .srq_set_lw_func = entry_srq_set_lw,
    .extension_func = softdat::bridge::ExtensionOverTwo,
};

}  // namespace

// Not const, because programs keep the pointer in a type without const.
Table* one_softdat_bridge_provider() { return const_cast<Table*>(&kTable); }
