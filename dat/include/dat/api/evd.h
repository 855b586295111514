/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/evd.h: event dispatchers: bounded queues of events (DAT 1.2, EVD). Include dat/udat.h,
 * not this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/evd.h has the full text: parameters,
 * return values, threads, clauses. The words are 1.2's (dat/dat_error.h). */
#ifndef SOFTDAT_DAT_API_EVD_H_
#define SOFTDAT_DAT_API_EVD_H_

#include <dat/api/event.h>
#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* Kinds of events that an EVD takes; bits, any may be merged that the provider attribute allows. */
typedef enum dat_evd_flags {
  DAT_EVD_SOFTWARE_FLAG = 0x1,
  DAT_EVD_CR_FLAG = 0x10,
  DAT_EVD_DTO_FLAG = 0x20,
  DAT_EVD_CONNECTION_FLAG = 0x40,
  DAT_EVD_RMR_BIND_FLAG = 0x80,
  DAT_EVD_ASYNC_FLAG = 0x100,
  DAT_EVD_DEFAULT_FLAG = 0x1f0 /* all but software events */
} DAT_EVD_FLAGS;

/* Three independent parts, or-ed: enabled or not, waitable or not, and what wakes a waiter. */
typedef enum dat_evd_state {
  DAT_EVD_STATE_ENABLED = 0x1,
  DAT_EVD_STATE_DISABLED = 0x2, /* does not trigger its CNO */
  DAT_EVD_STATE_WAITABLE = 0x4,
  DAT_EVD_STATE_UNWAITABLE = 0x8, /* refuses dat_evd_wait() */
  DAT_EVD_STATE_CONFIG_NOTIFY = 0x10,
  DAT_EVD_STATE_CONFIG_SOLICITED = 0x20,
  DAT_EVD_STATE_CONFIG_THRESHOLD = 0x30
} DAT_EVD_STATE;

typedef enum dat_evd_param_mask {
  DAT_EVD_FIELD_IA_HANDLE = 0x1,
  DAT_EVD_FIELD_EVD_QLEN = 0x2,
  DAT_EVD_FIELD_EVD_STATE = 0x4,
  DAT_EVD_FIELD_CNO = 0x8,
  DAT_EVD_FIELD_EVD_FLAGS = 0x10,
  DAT_EVD_FIELD_ALL = 0x1f
} DAT_EVD_PARAM_MASK;

/* What dat_evd_query() answers. */
typedef struct dat_evd_param {
  DAT_IA_HANDLE ia_handle;
  DAT_COUNT evd_qlen; /* events it can hold */
  DAT_EVD_STATE evd_state;
  DAT_CNO_HANDLE cno_handle;
  DAT_EVD_FLAGS evd_flags;
} DAT_EVD_PARAM;

DAT_EXPORT DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen,
                                             DAT_CNO_HANDLE cno_handle, DAT_EVD_FLAGS evd_flags,
                                             DAT_EVD_HANDLE* evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd_handle,
                                            DAT_EVD_PARAM_MASK evd_param_mask,
                                            DAT_EVD_PARAM* evd_param);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle,
                                                 DAT_CNO_HANDLE cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout_us,
                                           DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* nmore);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event);

/* The name as the appendix of the paper on the reference implementation prints it. */
#define dat_evd_dequeued dat_evd_dequeue

DAT_EXPORT DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_evd_free(DAT_EVD_HANDLE evd_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_EVD_H_ */
