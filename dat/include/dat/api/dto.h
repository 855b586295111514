/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/dto.h: data transfer operations on an end point (DAT 1.2, DTO). Include dat/udat.h, not
 * this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/dto.h has the full text: parameters,
 * return values, threads, clauses. The words are 1.2's (dat/dat_error.h). */
#ifndef SOFTDAT_DAT_API_DTO_H_
#define SOFTDAT_DAT_API_DTO_H_

#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov,
                                               DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov,
                                               DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                    DAT_LMR_TRIPLET* local_iov,
                                                    DAT_DTO_COOKIE user_cookie,
                                                    const DAT_RMR_TRIPLET* remote_iov,
                                                    DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle,
                                                     DAT_COUNT num_segments,
                                                     DAT_LMR_TRIPLET* local_iov,
                                                     DAT_DTO_COOKIE user_cookie,
                                                     const DAT_RMR_TRIPLET* remote_iov,
                                                     DAT_COMPLETION_FLAGS completion_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* nbufs_allocated,
                                                DAT_COUNT* bufs_alloc_span);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep_handle,
                                                   DAT_COUNT soft_high_watermark,
                                                   DAT_COUNT hard_high_watermark);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_DTO_H_ */
