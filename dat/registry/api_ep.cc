// SPDX-License-Identifier: BSD-3-Clause
// dat_ep_*: end points, their life and the posting of work.
#include "dat/registry/dispatch.h"

using namespace softdat::registry;  // NOLINT: this file is the C API of the registry

DAT_RETURN dat_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                         DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
                         DAT_EVD_HANDLE connect_evd_handle, const DAT_EP_ATTR* ep_attr,
                         DAT_EP_HANDLE* ep_handle) {
  return CallIa<&DAT_PROVIDER::ep_create_func>("dat_ep_create", ia_handle, pz_handle,
                                               recv_evd_handle, request_evd_handle,
                                               connect_evd_handle, ep_attr, ep_handle);
}

DAT_RETURN dat_ep_create_with_srq(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                  DAT_EVD_HANDLE recv_evd_handle, DAT_EVD_HANDLE request_evd_handle,
                                  DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
                                  const DAT_EP_ATTR* ep_attr, DAT_EP_HANDLE* ep_handle) {
  return CallIa<&DAT_PROVIDER::ep_create_with_srq_func>(
      "dat_ep_create_with_srq", ia_handle, pz_handle, recv_evd_handle, request_evd_handle,
      connect_evd_handle, srq_handle, ep_attr, ep_handle);
}

DAT_RETURN dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                        DAT_EP_PARAM* ep_param) {
  return CallObject<&DAT_PROVIDER::ep_query_func, DAT_INVALID_HANDLE_EP>("dat_ep_query", ep_handle,
                                                                         ep_param_mask, ep_param);
}

DAT_RETURN dat_ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                         const DAT_EP_PARAM* ep_param) {
  return CallObject<&DAT_PROVIDER::ep_modify_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_modify", ep_handle, ep_param_mask, ep_param);
}

DAT_RETURN dat_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* ep_state,
                             DAT_BOOLEAN* recv_idle, DAT_BOOLEAN* request_idle) {
  return CallObject<&DAT_PROVIDER::ep_get_status_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_get_status", ep_handle, ep_state, recv_idle, request_idle);
}

DAT_RETURN dat_ep_reset(DAT_EP_HANDLE ep_handle) {
  return CallObject<&DAT_PROVIDER::ep_reset_func, DAT_INVALID_HANDLE_EP>("dat_ep_reset", ep_handle);
}

DAT_RETURN dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* nbufs_allocated,
                             DAT_COUNT* bufs_alloc_span) {
  return CallObject<&DAT_PROVIDER::ep_recv_query_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_recv_query", ep_handle, nbufs_allocated, bufs_alloc_span);
}

DAT_RETURN dat_ep_set_watermark(DAT_EP_HANDLE ep_handle, DAT_COUNT soft_high_watermark,
                                DAT_COUNT hard_high_watermark) {
  return CallObject<&DAT_PROVIDER::ep_set_watermark_func, DAT_INVALID_HANDLE_EP>(
      "dat_ep_set_watermark", ep_handle, soft_high_watermark, hard_high_watermark);
}

DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                            DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                            DAT_COMPLETION_FLAGS completion_flags) {
  return CallDataPath<"dat_ep_post_send", &DAT_PROVIDER::ep_post_send_func, DAT_INVALID_HANDLE_EP>(
      ep_handle, num_segments, local_iov, user_cookie, completion_flags);
}

DAT_RETURN dat_ep_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                            DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                            DAT_COMPLETION_FLAGS completion_flags,
                                            DAT_BOOLEAN invalidate_flag,
                                            DAT_RMR_CONTEXT rmr_context) {
  return CallDataPath<"dat_ep_post_send_with_invalidate",
                      &DAT_PROVIDER::ep_post_send_with_invalidate_func, DAT_INVALID_HANDLE_EP>(
      ep_handle, num_segments, local_iov, user_cookie, completion_flags, invalidate_flag,
      rmr_context);
}

DAT_RETURN dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                            DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                            DAT_COMPLETION_FLAGS completion_flags) {
  return CallDataPath<"dat_ep_post_recv", &DAT_PROVIDER::ep_post_recv_func, DAT_INVALID_HANDLE_EP>(
      ep_handle, num_segments, local_iov, user_cookie, completion_flags);
}

DAT_RETURN dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                 DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                 const DAT_RMR_TRIPLET* remote_iov,
                                 DAT_COMPLETION_FLAGS completion_flags) {
  return CallDataPath<"dat_ep_post_rdma_read", &DAT_PROVIDER::ep_post_rdma_read_func,
                      DAT_INVALID_HANDLE_EP>(ep_handle, num_segments, local_iov, user_cookie,
                                             remote_iov, completion_flags);
}

DAT_RETURN dat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET* local_rmr,
                                        DAT_DTO_COOKIE user_cookie,
                                        const DAT_RMR_TRIPLET* remote_iov,
                                        DAT_COMPLETION_FLAGS completion_flags) {
  return CallDataPath<"dat_ep_post_rdma_read_to_rmr", &DAT_PROVIDER::ep_post_rdma_read_to_rmr_func,
                      DAT_INVALID_HANDLE_EP>(ep_handle, local_rmr, user_cookie, remote_iov,
                                             completion_flags);
}

DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                  DAT_LMR_TRIPLET* local_iov, DAT_DTO_COOKIE user_cookie,
                                  const DAT_RMR_TRIPLET* remote_iov,
                                  DAT_COMPLETION_FLAGS completion_flags) {
  return CallDataPath<"dat_ep_post_rdma_write", &DAT_PROVIDER::ep_post_rdma_write_func,
                      DAT_INVALID_HANDLE_EP>(ep_handle, num_segments, local_iov, user_cookie,
                                             remote_iov, completion_flags);
}

DAT_RETURN dat_ep_free(DAT_EP_HANDLE ep_handle) {
  return CallLast<&DAT_PROVIDER::ep_free_func, DAT_INVALID_HANDLE_EP>("dat_ep_free", ep_handle);
}
