// SPDX-License-Identifier: BSD-3-Clause
// What libdat.so.1 exports, under names that do not clash with the headers of 2.0: a function that
// is defined as one_ep_free is dat_ep_free in the library, and has the parameters that
// dat/api/ep.h gives it.
#ifndef SOFTDAT_DAT_BRIDGE_ONE_H_
#define SOFTDAT_DAT_BRIDGE_ONE_H_

#include "dat/bridge/dat12.h"

#define ONE(name)                                                                             \
  extern "C"                                                                                  \
      [[gnu::visibility("default")]] decltype(softdat::dat12::dat_##name) one_##name __asm__( \
          "dat_" #name)

ONE(ia_openv);
ONE(ia_query);
ONE(ia_close);
ONE(set_consumer_context);
ONE(get_consumer_context);
ONE(get_handle_type);
ONE(registry_add_provider);
ONE(registry_remove_provider);
ONE(registry_list_providers);
ONE(strerror);
ONE(evd_create);
ONE(evd_query);
ONE(evd_modify_cno);
ONE(evd_resize);
ONE(evd_wait);
ONE(evd_dequeue);
ONE(evd_post_se);
ONE(evd_enable);
ONE(evd_disable);
ONE(evd_set_unwaitable);
ONE(evd_clear_unwaitable);
ONE(evd_free);
ONE(cno_create);
ONE(cno_modify_agent);
ONE(cno_query);
ONE(cno_wait);
ONE(cno_free);
ONE(pz_create);
ONE(pz_query);
ONE(pz_free);
ONE(lmr_create);
ONE(lmr_query);
ONE(lmr_free);
ONE(lmr_sync_rdma_read);
ONE(lmr_sync_rdma_write);
ONE(rmr_create);
ONE(rmr_query);
ONE(rmr_bind);
ONE(rmr_free);
ONE(ep_create);
ONE(ep_create_with_srq);
ONE(ep_query);
ONE(ep_modify);
ONE(ep_get_status);
ONE(ep_reset);
ONE(ep_free);
ONE(ep_connect);
ONE(ep_dup_connect);
ONE(ep_disconnect);
ONE(ep_post_send);
ONE(ep_post_recv);
ONE(ep_post_rdma_read);
ONE(ep_post_rdma_write);
ONE(ep_recv_query);
ONE(ep_set_watermark);
ONE(srq_create);
ONE(srq_query);
ONE(srq_post_recv);
ONE(srq_resize);
ONE(srq_set_lw);
ONE(srq_free);
ONE(psp_create);
ONE(psp_create_any);
ONE(psp_query);
ONE(psp_free);
ONE(rsp_create);
ONE(rsp_query);
ONE(rsp_free);
ONE(cr_query);
ONE(cr_accept);
ONE(cr_reject);
ONE(cr_handoff);
ONE(extension);

#undef ONE

// No header of 1.2 declares it: the provider's own handle behind an IA's number, or the number of
// such a handle.
extern "C" [[gnu::visibility("default")]] softdat::dat12::DAT_RETURN one_dats_get_ia_handle(
    softdat::dat12::DAT_IA_HANDLE handle,
    softdat::dat12::DAT_IA_HANDLE* other) __asm__("dats_get_ia_handle");

extern "C" [[gnu::visibility("default")]] decltype(softdat::dat12::softdat_bridge_provider)
    one_softdat_bridge_provider __asm__("softdat_bridge_provider");

#endif  // SOFTDAT_DAT_BRIDGE_ONE_H_
