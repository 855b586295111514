// SPDX-License-Identifier: BSD-3-Clause
// Memory: protection zones, regions (LMR), windows (RMR), shared receive queues.
#include "dat/registry/dispatch.h"

using namespace softdat::registry;  // NOLINT: this file is the C API of the registry

DAT_RETURN dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle) {
  return CallIa<&DAT_PROVIDER::pz_create_func>("dat_pz_create", ia_handle, pz_handle);
}

DAT_RETURN dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask,
                        DAT_PZ_PARAM* pz_param) {
  return CallObject<&DAT_PROVIDER::pz_query_func, DAT_INVALID_HANDLE_PZ>("dat_pz_query", pz_handle,
                                                                         pz_param_mask, pz_param);
}

DAT_RETURN dat_pz_free(DAT_PZ_HANDLE pz_handle) {
  return CallLast<&DAT_PROVIDER::pz_free_func, DAT_INVALID_HANDLE_PZ>("dat_pz_free", pz_handle);
}

DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type,
                          DAT_REGION_DESCRIPTION region_description, DAT_VLEN length,
                          DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                          DAT_VA_TYPE va_type, DAT_LMR_HANDLE* lmr_handle,
                          DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
                          DAT_VLEN* registered_size, DAT_VADDR* registered_address) {
  return CallIa<&DAT_PROVIDER::lmr_create_func>(
      "dat_lmr_create", ia_handle, mem_type, region_description, length, pz_handle, privileges,
      va_type, lmr_handle, lmr_context, rmr_context, registered_size, registered_address);
}

DAT_RETURN dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask,
                         DAT_LMR_PARAM* lmr_param) {
  return CallObject<&DAT_PROVIDER::lmr_query_func, DAT_INVALID_HANDLE_LMR>(
      "dat_lmr_query", lmr_handle, lmr_param_mask, lmr_param);
}

DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr_handle) {
  return CallLast<&DAT_PROVIDER::lmr_free_func, DAT_INVALID_HANDLE_LMR>("dat_lmr_free", lmr_handle);
}

DAT_RETURN dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                  DAT_VLEN num_segments) {
  return CallIa<&DAT_PROVIDER::lmr_sync_rdma_read_func>("dat_lmr_sync_rdma_read", ia_handle,
                                                        local_segments, num_segments);
}

DAT_RETURN dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                   DAT_VLEN num_segments) {
  return CallIa<&DAT_PROVIDER::lmr_sync_rdma_write_func>("dat_lmr_sync_rdma_write", ia_handle,
                                                         local_segments, num_segments);
}

DAT_RETURN dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return CallObject<&DAT_PROVIDER::rmr_create_func, DAT_INVALID_HANDLE_PZ>("dat_rmr_create",
                                                                           pz_handle, rmr_handle);
}

DAT_RETURN dat_rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return CallObject<&DAT_PROVIDER::rmr_create_for_ep_func, DAT_INVALID_HANDLE_PZ>(
      "dat_rmr_create_for_ep", pz_handle, rmr_handle);
}

DAT_RETURN dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask,
                         DAT_RMR_PARAM* rmr_param) {
  return CallObject<&DAT_PROVIDER::rmr_query_func, DAT_INVALID_HANDLE_RMR>(
      "dat_rmr_query", rmr_handle, rmr_param_mask, rmr_param);
}

DAT_RETURN dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle,
                        const DAT_LMR_TRIPLET* lmr_triplet, DAT_MEM_PRIV_FLAGS mem_privileges,
                        DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE user_cookie,
                        DAT_COMPLETION_FLAGS completion_flags, DAT_RMR_CONTEXT* rmr_context) {
  return CallDataPath<"dat_rmr_bind", &DAT_PROVIDER::rmr_bind_func, DAT_INVALID_HANDLE_RMR>(
      rmr_handle, lmr_handle, lmr_triplet, mem_privileges, va_type, ep_handle, user_cookie,
      completion_flags, rmr_context);
}

DAT_RETURN dat_rmr_free(DAT_RMR_HANDLE rmr_handle) {
  return CallLast<&DAT_PROVIDER::rmr_free_func, DAT_INVALID_HANDLE_RMR>("dat_rmr_free", rmr_handle);
}

DAT_RETURN dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* srq_attr,
                          DAT_SRQ_HANDLE* srq_handle) {
  return CallIa<&DAT_PROVIDER::srq_create_func>("dat_srq_create", ia_handle, pz_handle, srq_attr,
                                                srq_handle);
}

DAT_RETURN dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask,
                         DAT_SRQ_PARAM* srq_param) {
  return CallObject<&DAT_PROVIDER::srq_query_func, DAT_INVALID_HANDLE_SRQ>(
      "dat_srq_query", srq_handle, srq_param_mask, srq_param);
}

DAT_RETURN dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                             DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie) {
  return CallDataPath<"dat_srq_post_recv", &DAT_PROVIDER::srq_post_recv_func,
                      DAT_INVALID_HANDLE_SRQ>(srq_handle, num_segments, local_iov, user_cookie);
}

DAT_RETURN dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT max_recv_dtos) {
  return CallObject<&DAT_PROVIDER::srq_resize_func, DAT_INVALID_HANDLE_SRQ>(
      "dat_srq_resize", srq_handle, max_recv_dtos);
}

DAT_RETURN dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark) {
  return CallObject<&DAT_PROVIDER::srq_set_lw_func, DAT_INVALID_HANDLE_SRQ>(
      "dat_srq_set_lw", srq_handle, low_watermark);
}

DAT_RETURN dat_srq_free(DAT_SRQ_HANDLE srq_handle) {
  return CallLast<&DAT_PROVIDER::srq_free_func, DAT_INVALID_HANDLE_SRQ>("dat_srq_free", srq_handle);
}
