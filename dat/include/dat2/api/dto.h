/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/dto.h: data transfer operations on an end point (DAT 2.0, DTO). Include dat2/udat.h, not
 * this file. */
#ifndef SOFTDAT_DAT2_API_DTO_H_
#define SOFTDAT_DAT2_API_DTO_H_

#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

/* Posts a message. It goes into the first receive of the peer that is free; if the peer has
 * none, it waits there, and is not completed.
 *
 * For all posts: the segments are copied, the memory belongs to the provider until the
 * completion. Requests of an EP start in the order of their posts, and their completions come
 * in that order on the request EVD. What has completed with success is in the peer's memory,
 * unless SOFTDAT_ATTR_COMPLETION (dat2/softdat.h) is "taken". In DISCONNECTED a post succeeds
 * and is flushed.
 *
 * @param num_segments how many segments; 0 posts an empty message, which is a message all
 *     the same.
 * @param local_iov the segments, in order; a segment of 0 bytes may have any address and
 *     context; may be NULL if there is none.
 * @param user_cookie comes back in the completion, bit for bit.
 * @param completion_flags DAT_COMPLETION_*: SUPPRESS, SOLICITED_WAIT, BARRIER_FENCE;
 *     UNSIGNALLED if the EP attribute allows it.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: count; ARG3: NULL, or outside of its region; ARG5:
 *         flags)
 *     DAT_INVALID_STATE (INVALID_STATE_EP_*: neither CONNECTED nor DISCONNECTED)
 *     DAT_INSUFFICIENT_RESOURCES (max_request_dtos are outstanding)
 *     DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION (memory; may also come as status
 *         of the completion)
 *     DAT_LENGTH_ERROR (longer than the adapter's max_message_size)
 *
 * Does not block. Any thread. DAT 2.0, EP post send.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov,
                                               DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

/* As dat_ep_post_send(), and takes a memory window away at the peer: the window with this
 * context is unbound when the message arrives, and the receive completes with
 * DAT_DTO_RECEIVE_WITH_INVALIDATE. A context that is not that of a window breaks the
 * connection.
 *
 * @param num_segments,local_iov,user_cookie,completion_flags as there.
 * @param invalidate_flag DAT_FALSE: an ordinary send.
 * @param rmr_context the window's context at the peer.
 * @return as dat_ep_post_send(); DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, EP post send with invalidate.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_send_with_invalidate(
    DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* local_iov,
    DAT_DTO_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags, DAT_BOOLEAN invalidate_flag,
    DAT_RMR_CONTEXT rmr_context);

/* Posts memory for a message. Messages take receives in the order of their posts. It may be
 * posted in any state before the connection, too. A message that is longer breaks the
 * connection (DAT_DTO_ERR_LOCAL_LENGTH); of a shorter one the completion tells the length.
 *
 * @param num_segments how many segments; 0 is allowed.
 * @param local_iov the segments, filled in order; the memory must grant local write.
 * @param user_cookie comes back in the completion, bit for bit.
 * @param completion_flags DAT_COMPLETION_DEFAULT_FLAG; UNSIGNALLED if the EP attribute
 *     allows it.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: count; ARG3: NULL, or outside of its region; ARG5:
 *         flags)
 *     DAT_INVALID_STATE (INVALID_STATE_SRQ_IN_USE: the EP has a shared receive queue)
 *     DAT_INSUFFICIENT_RESOURCES (max_recv_dtos are outstanding)
 *     DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION (memory; may also come as status
 *         of the completion)
 *
 * Does not block. Any thread. DAT 2.0, EP post receive.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                               DAT_LMR_TRIPLET* local_iov,
                                               DAT_DTO_COOKIE user_cookie,
                                               DAT_COMPLETION_FLAGS completion_flags);

/* Reads memory of the peer into own memory. Later requests do not wait for it, unless they have
 * BARRIER_FENCE. The data are there when its completion is seen. If max_rdma_read_out reads are
 * under way it waits for its turn.
 *
 * @param num_segments,local_iov where the data go, in order; the memory must grant local
 *     write.
 * @param user_cookie comes back in the completion.
 * @param remote_iov what to read: address, length and context that the peer gave; it must
 *     grant remote read.
 * @param completion_flags SUPPRESS, BARRIER_FENCE; UNSIGNALLED if the EP attribute allows
 *     it.
 * @return as dat_ep_post_send(), with
 *     DAT_INVALID_PARAMETER (ARG2: count; ARG3, ARG5: NULL or bounds; ARG6: flags)
 *     DAT_LENGTH_ERROR (the local segments are shorter than the remote one)
 *
 * A refusal by the peer is the status DAT_DTO_ERR_REMOTE_ACCESS. Does not block. Any thread.
 * DAT 2.0, EP post RDMA read.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments,
                                                    DAT_LMR_TRIPLET* local_iov,
                                                    DAT_DTO_COOKIE user_cookie,
                                                    const DAT_RMR_TRIPLET* remote_iov,
                                                    DAT_COMPLETION_FLAGS completion_flags);

/* As dat_ep_post_rdma_read(), into memory that a bound window names.
 *
 * @param local_rmr the sink: a part of a window of this side.
 * @param user_cookie,remote_iov,completion_flags as there.
 * @return as dat_ep_post_rdma_read(), with DAT_INVALID_PARAMETER (ARG2, ARG4, ARG5);
 *     DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, EP post RDMA read to RMR.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle,
                                                           const DAT_RMR_TRIPLET* local_rmr,
                                                           DAT_DTO_COOKIE user_cookie,
                                                           const DAT_RMR_TRIPLET* remote_iov,
                                                           DAT_COMPLETION_FLAGS completion_flags);

/* Writes own memory into memory of the peer; the program there takes no part. The data are
 * there when a later send of this EP is seen there; the last byte lands last.
 *
 * @param num_segments,local_iov what to write, in order.
 * @param user_cookie comes back in the completion, which says that the data are there (see
 *     dat_ep_post_send()) and that the own memory may be used again.
 * @param remote_iov where to: address, length and context that the peer gave; it must grant
 *     remote write. It may be longer than what is written.
 * @param completion_flags SUPPRESS, BARRIER_FENCE; UNSIGNALLED if the EP attribute allows
 *     it.
 * @return as dat_ep_post_send(), with
 *     DAT_INVALID_PARAMETER (ARG2: count; ARG3, ARG5: NULL or bounds; ARG6: flags)
 *     DAT_LENGTH_ERROR (the remote segment is shorter than the local ones)
 *
 * A refusal by the peer is the status DAT_DTO_ERR_REMOTE_ACCESS; with completions that are
 * "taken", success and then the end of the connection. Does not block. Any thread. DAT 2.0, EP
 * post RDMA write.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_post_rdma_write(DAT_EP_HANDLE ep_handle,
                                                     DAT_COUNT num_segments,
                                                     DAT_LMR_TRIPLET* local_iov,
                                                     DAT_DTO_COOKIE user_cookie,
                                                     const DAT_RMR_TRIPLET* remote_iov,
                                                     DAT_COMPLETION_FLAGS completion_flags);

/* Tells how many receives this EP has taken and not completed.
 *
 * @param nbufs_allocated [out] how many, or DAT_VALUE_UNKNOWN; may be NULL.
 * @param bufs_alloc_span [out] from the first to the last of them, in message numbers, or
 *     DAT_VALUE_UNKNOWN; may be NULL.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_MODEL_NOT_SUPPORTED (the provider counts
 *     neither)
 *
 * Does not block. Any thread. DAT 2.0, EP receive query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_recv_query(DAT_EP_HANDLE ep_handle, DAT_COUNT* nbufs_allocated,
                                                DAT_COUNT* bufs_alloc_span);

/* Bounds how many receives of a shared receive queue one EP may hold.
 *
 * @param soft_high_watermark above it one asynchronous event comes (reason
 *     DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT), at once if it is exceeded already;
 *     DAT_WATERMARK_INFINITE: never.
 * @param hard_high_watermark above it the connection is broken; DAT_WATERMARK_INFINITE:
 *     never.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2, ARG3: negative); DAT_INVALID_HANDLE;
 *     DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread, any state. DAT 2.0, EP set watermark.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_set_watermark(DAT_EP_HANDLE ep_handle,
                                                   DAT_COUNT soft_high_watermark,
                                                   DAT_COUNT hard_high_watermark);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_DTO_H_ */
