// SPDX-License-Identifier: BSD-3-Clause
// What queries answer, translated from uDAPL 2.0 to 1.2.
#include "dat/bridge/params.h"

#include "dat/bridge/attributes.h"
#include "dat/bridge/handles.h"
// The types of 1.2 must come before the headers of 2.0.
#include <dat2/dat_ib_extensions.h>

namespace softdat::bridge {
namespace {

// For enums with the same values in both.
template <typename To, typename From>
void Copy(From from, To* to) {
  *to = static_cast<To>(from);
}

}  // namespace

void To12(const ::DAT_EVD_PARAM& from, dat12::DAT_EVD_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
  to->evd_qlen = from.evd_qlen;
  Copy(from.evd_state, &to->evd_state);
  to->cno_handle = To12(from.cno_handle);
  Copy(from.evd_flags, &to->evd_flags);
}

void To12(const ::DAT_PZ_PARAM& from, dat12::DAT_PZ_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
}

void To12(const ::DAT_LMR_PARAM& from, dat12::DAT_LMR_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
  Copy(from.mem_type, &to->mem_type);
  switch (from.mem_type) {
    case ::DAT_MEM_TYPE_LMR:
      to->region_desc.for_lmr_handle = To12(from.region_desc.for_lmr_handle);
      break;
    case ::DAT_MEM_TYPE_SHARED_VIRTUAL:
      to->region_desc.for_shared_memory = {from.region_desc.for_shared_memory.virtual_address,
                                           from.region_desc.for_shared_memory.shared_memory_id};
      break;
    default:
      to->region_desc.for_va = from.region_desc.for_va;
  }
  to->length = from.length;
  to->pz_handle = To12(from.pz_handle);
  Copy(from.mem_priv, &to->mem_priv);
  to->lmr_context = from.lmr_context;
  to->rmr_context = from.rmr_context;
  to->registered_size = from.registered_size;
  to->registered_address = from.registered_address;
}

void To12(const ::DAT_RMR_PARAM& from, dat12::DAT_RMR_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
  to->pz_handle = To12(from.pz_handle);
  To12(from.lmr_triplet, &to->lmr_triplet);
  Copy(from.mem_priv, &to->mem_priv);
  to->rmr_context = from.rmr_context;
}

dat12::DAT_EP_STATE To12(::DAT_EP_STATE state) {
  const bool known = state <= ::DAT_EP_STATE_COMPLETION_PENDING;
  return known ? static_cast<dat12::DAT_EP_STATE>(state) : dat12::DAT_EP_STATE_CONNECTED;
}

void To12(const ::DAT_EP_PARAM& from, dat12::DAT_EP_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
  to->ep_state = To12(from.ep_state);
  to->local_ia_address_ptr = from.local_ia_address_ptr;
  to->local_port_qual = from.local_port_qual;
  to->remote_ia_address_ptr = from.remote_ia_address_ptr;
  to->remote_port_qual = from.remote_port_qual;
  to->pz_handle = To12(from.pz_handle);
  to->recv_evd_handle = To12(from.recv_evd_handle);
  to->request_evd_handle = To12(from.request_evd_handle);
  to->connect_evd_handle = To12(from.connect_evd_handle);
  to->srq_handle = To12(from.srq_handle);
  To12(from.ep_attr, &to->ep_attr);
}

void To2(const dat12::DAT_EP_PARAM& from, ::DAT_EP_PARAM* to) {
  *to = {};
  to->ia_handle = IaTo2(from.ia_handle);
  Copy(from.ep_state, &to->ep_state);
  to->local_ia_address_ptr = from.local_ia_address_ptr;
  to->local_port_qual = from.local_port_qual;
  to->remote_ia_address_ptr = from.remote_ia_address_ptr;
  to->remote_port_qual = from.remote_port_qual;
  to->pz_handle = ArgumentTo2(from.pz_handle);
  to->recv_evd_handle = ArgumentTo2(from.recv_evd_handle);
  to->request_evd_handle = ArgumentTo2(from.request_evd_handle);
  to->connect_evd_handle = ArgumentTo2(from.connect_evd_handle);
  to->srq_handle = ArgumentTo2(from.srq_handle);
  To2(from.ep_attr, &to->ep_attr);
}

void To12(const ::DAT_SRQ_PARAM& from, dat12::DAT_SRQ_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
  to->srq_state = To12(from.srq_state);
  to->pz_handle = To12(from.pz_handle);
  to->max_recv_dtos = from.max_recv_dtos;
  to->max_recv_iov = from.max_recv_iov;
  to->low_watermark = from.low_watermark;
  to->available_dto_count = from.available_dto_count;
  to->outstanding_dto_count = from.outstanding_dto_count;
}

void To12(const ::DAT_PSP_PARAM& from, dat12::DAT_PSP_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
  to->conn_qual = from.conn_qual;
  to->evd_handle = To12(from.evd_handle);
  Copy(from.psp_flags, &to->psp_flags);
}

void To12(const ::DAT_RSP_PARAM& from, dat12::DAT_RSP_PARAM* to) {
  to->ia_handle = IaTo12(from.ia_handle);
  to->conn_qual = from.conn_qual;
  to->evd_handle = To12(from.evd_handle);
  to->ep_handle = To12(from.ep_handle);
}

void To12(const ::DAT_CR_PARAM& from, dat12::DAT_CR_PARAM* to) {
  to->remote_ia_address_ptr = from.remote_ia_address_ptr;
  to->remote_port_qual = from.remote_port_qual;
  to->private_data_size = from.private_data_size;
  to->private_data = from.private_data;
  to->local_ep_handle = To12(from.local_ep_handle);
}

}  // namespace softdat::bridge
