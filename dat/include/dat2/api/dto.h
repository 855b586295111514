/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/dto.h: data transfer operations on an end point (DAT 2.0, DTO). Include dat2/udat.h, not
 * this file. */
#ifndef SOFTDAT_DAT2_API_DTO_H_
#define SOFTDAT_DAT2_API_DTO_H_

#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET *local_iov,
                                               DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send_with_invalidate(
    DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET *local_iov,
    DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags, DAT_BOOLEAN invalidate_flag,
    DAT_RMR_CONTEXT rmr_context);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET *local_iov,
                                               DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                    DAT_LMR_TRIPLET *local_iov,
                                                    DAT_DTO_COOKIE user_cookie,
                                                    const DAT_RMR_TRIPLET *remote_iov,
                                                    DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle,
                                                           const DAT_RMR_TRIPLET *local_rmr,
                                                           DAT_DTO_COOKIE user_cookie,
                                                           const DAT_RMR_TRIPLET *remote_iov,
                                                           DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle,
                                                     DAT_COUNT num_segments,
                                                     DAT_LMR_TRIPLET *local_iov,
                                                     DAT_DTO_COOKIE user_cookie,
                                                     const DAT_RMR_TRIPLET *remote_iov,
                                                     DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT *nbufs_allocated,
                                                DAT_COUNT *bufs_alloc_span);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep_handle,
                                                   DAT_COUNT soft_high_watermark,
                                                   DAT_COUNT hard_high_watermark);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_DTO_H_ */
