/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/srq.h: shared receive queues (DAT 1.2, SRQ). Include dat/udat.h, not this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/srq.h has the full text: parameters,
 * return values, threads, clauses. The words are 1.2's (dat/dat_error.h). */
#ifndef SOFTDAT_DAT_API_SRQ_H_
#define SOFTDAT_DAT_API_SRQ_H_

#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* 2.0 has the two the other way round. */
typedef enum dat_srq_state {
  DAT_SRQ_STATE_OPERATIONAL = 0x0,
  DAT_SRQ_STATE_ERROR = 0x1
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

DAT_EXPORT DAT_RETURN DAT_API dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                             DAT_SRQ_ATTR* srq_attr, DAT_SRQ_HANDLE* srq_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_query(DAT_SRQ_HANDLE srq_handle,
                                            DAT_SRQ_PARAM_MASK srq_param_mask,
                                            DAT_SRQ_PARAM* srq_param);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments,
                                                DAT_LMR_TRIPLET* local_iov,
                                                DAT_DTO_COOKIE user_cookie);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT max_recv_dtos);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark);

DAT_EXPORT DAT_RETURN DAT_API dat_srq_free(DAT_SRQ_HANDLE srq_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_SRQ_H_ */
