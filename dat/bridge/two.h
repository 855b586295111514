// SPDX-License-Identifier: BSD-3-Clause
// The calls of libdat2.so.2 that the bridge makes, under names of their own: two_ep_free is
// dat_ep_free of version DAT_2.0. libdat.so.1 has functions of the same names as libdat2.so.2; the
// version tells the linker which one is meant.
#ifndef SOFTDAT_DAT_BRIDGE_TWO_H_
#define SOFTDAT_DAT_BRIDGE_TWO_H_

#include "dat/bridge/dat12.h"
// Behind the types of 1.2.
#include <dat2/dat_registry.h>
#include <dat2/softdat.h>
#include <dat2/udat.h>

#define TWO(name)                               \
  extern "C" decltype(::dat_##name) two_##name; \
  __asm__(".symver two_" #name ",dat_" #name "@DAT_2.0")

TWO(ia_openv);
TWO(ia_query);
TWO(ia_close);
TWO(set_consumer_context);
TWO(get_consumer_context);
TWO(get_handle_type);
TWO(registry_add_provider);
TWO(registry_remove_provider);
TWO(registry_list_providers);
TWO(strerror);
TWO(evd_create);
TWO(evd_query);
TWO(evd_modify_cno);
TWO(evd_resize);
TWO(evd_wait);
TWO(evd_dequeue);
TWO(evd_post_se);
TWO(evd_enable);
TWO(evd_disable);
TWO(evd_set_unwaitable);
TWO(evd_clear_unwaitable);
TWO(evd_free);
TWO(cno_create);
TWO(cno_modify_agent);
TWO(cno_query);
TWO(cno_wait);
TWO(cno_free);
TWO(pz_create);
TWO(pz_query);
TWO(pz_free);
TWO(lmr_create);
TWO(lmr_query);
TWO(lmr_free);
TWO(lmr_sync_rdma_read);
TWO(lmr_sync_rdma_write);
TWO(rmr_create);
TWO(rmr_query);
TWO(rmr_bind);
TWO(rmr_free);
TWO(ep_create);
TWO(ep_create_with_srq);
TWO(ep_query);
TWO(ep_modify);
TWO(ep_get_status);
TWO(ep_reset);
TWO(ep_free);
TWO(ep_connect);
TWO(ep_dup_connect);
TWO(ep_disconnect);
TWO(ep_post_send);
TWO(ep_post_recv);
TWO(ep_post_rdma_read);
TWO(ep_post_rdma_write);
TWO(ep_recv_query);
TWO(ep_set_watermark);
TWO(srq_create);
TWO(srq_query);
TWO(srq_post_recv);
TWO(srq_resize);
TWO(srq_set_lw);
TWO(srq_free);
TWO(psp_create);
TWO(psp_create_any);
TWO(psp_query);
TWO(psp_free);
TWO(rsp_create);
TWO(rsp_query);
TWO(rsp_free);
TWO(cr_query);
TWO(cr_accept);
TWO(cr_reject);
TWO(cr_handoff);
TWO(extension_op);

#undef TWO

// Every libdat2.so.2 exports it, and only our headers declare it.
extern "C" decltype(::dats_get_ia_handle) two_dats_get_ia_handle;
__asm__(".symver two_dats_get_ia_handle,dats_get_ia_handle@DAT_2.0");

#endif  // SOFTDAT_DAT_BRIDGE_TWO_H_
