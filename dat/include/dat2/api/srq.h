/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/srq.h: shared receive queues (DAT 2.0, SRQ). Include dat2/udat.h, not this file. */
#ifndef SOFTDAT_DAT2_API_SRQ_H_
#define SOFTDAT_DAT2_API_SRQ_H_

#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

typedef enum dat_srq_state {
  DAT_SRQ_STATE_ERROR = 0x0,
  DAT_SRQ_STATE_OPERATIONAL = 0x1,
  DAT_SRQ_STATE_SHUTDOWN = 0x2
} DAT_SRQ_STATE;

typedef struct dat_srq_attr {
  DAT_COUNT max_recv_dtos; /* receives it holds */
  DAT_COUNT max_recv_iov;  /* segments of a receive */
  DAT_COUNT low_watermark; /* must be DAT_SRQ_LW_DEFAULT at creation */
} DAT_SRQ_ATTR;

typedef enum dat_srq_param_mask {
  DAT_SRQ_FIELD_IA_HANDLE = 0x1,
  DAT_SRQ_FIELD_SRQ_STATE = 0x2,
  DAT_SRQ_FIELD_PZ_HANDLE = 0x4,
  DAT_SRQ_FIELD_MAX_RECV_DTO = 0x8,
  DAT_SRQ_FIELD_MAX_RECV_IOV = 0x10,
  DAT_SRQ_FIELD_LOW_WATERMARK = 0x20,
  DAT_SRQ_FIELD_AVAILABLE_DTO_COUNT = 0x40,
  DAT_SRQ_FIELD_OUTSTANDING_DTO_COUNT = 0x80,
  DAT_SRQ_FIELD_ALL = 0xff
} DAT_SRQ_PARAM_MASK;

/* What dat_srq_query() answers. */
typedef struct dat_srq_param {
  DAT_IA_HANDLE ia_handle;
  DAT_SRQ_STATE srq_state;
  DAT_PZ_HANDLE pz_handle;
  DAT_COUNT max_recv_dtos;
  DAT_COUNT max_recv_iov;
  DAT_COUNT low_watermark;
  DAT_COUNT available_dto_count; /* receives that no message has taken; or DAT_VALUE_UNKNOWN */
  /* the same and those whose completion was not reaped; or DAT_VALUE_UNKNOWN */
  DAT_COUNT outstanding_dto_count;
} DAT_SRQ_PARAM;

/* Makes a shared receive queue (SRQ): receives that any EP made with it may take.
 *
 * @param pz_handle zone of the memory in its receives.
 * @param srq_attr sizes, granted at least; low_watermark must be DAT_SRQ_LW_DEFAULT.
 * @param srq_handle [out] the queue.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA, INVALID_HANDLE_PZ)
 *     DAT_INVALID_PARAMETER (ARG3: NULL or an attribute; ARG4: NULL)
 *     DAT_MODEL_NOT_SUPPORTED (see the attribute srq_supported)
 *     DAT_INSUFFICIENT_RESOURCES (RESOURCE_SRQ)
 *
 * Does not block. Any thread. DAT 2.0, SRQ create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                             DAT_SRQ_ATTR* srq_attr, DAT_SRQ_HANDLE* srq_handle);

/* Reads state, sizes and counts of a queue.
 *
 * @param srq_param_mask DAT_SRQ_FIELD_* that are wanted.
 * @param srq_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, SRQ query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq_handle,
                                            DAT_SRQ_PARAM_MASK srq_param_mask,
                                            DAT_SRQ_PARAM* srq_param);

/* Posts memory for a message of any EP of the queue. The completion comes on that EP's receive
 * EVD with its handle; the cookie tells which receive it was. When an EP disconnects only
 * receives that it had taken are flushed.
 *
 * @param num_segments,local_iov the segments; the memory must be of the queue's zone and
 *     grant local write.
 * @param user_cookie comes back in the completion, bit for bit.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: count; ARG3: NULL, or outside of its region)
 *     DAT_INSUFFICIENT_RESOURCES (it is full: a place is free again when a completion is
 *         taken)
 *     DAT_PROTECTION_VIOLATION, DAT_PRIVILEGES_VIOLATION (memory; may also come as status
 *         of the completion)
 *
 * Does not block. Any thread. DAT 2.0, SRQ post receive.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                                                DAT_LMR_TRIPLET* local_iov,
                                                DAT_DTO_COOKIE user_cookie);

/* Changes how many receives a queue holds; none is lost. A provider may leave it larger than
 * asked.
 *
 * @param max_recv_dtos receives that it must hold at least.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: size)
 *     DAT_INVALID_STATE (less than what is outstanding, or than the low watermark)
 *     DAT_INSUFFICIENT_RESOURCES
 *
 * Does not block. Any thread. DAT 2.0, SRQ resize.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT max_recv_dtos);

/* Asks for one asynchronous event (reason DAT_SRQ_LOW_WATERMARK_EVENT) when fewer receives than
 * this are free; at once if that is so already. After the event it must be set again.
 *
 * @param low_watermark receives, at most what the queue holds; DAT_SRQ_LW_DEFAULT: no
 *     event.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2); DAT_INVALID_HANDLE;
 *     DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, SRQ set low watermark.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

/* Destroys a queue with the receives in it.
 *
 * @return DAT_SUCCESS; DAT_INVALID_STATE (INVALID_STATE_SRQ_IN_USE: an EP uses it)
 *
 * Does not block. Any thread. DAT 2.0, SRQ free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_SRQ_H_ */
