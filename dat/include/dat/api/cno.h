/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/cno.h: consumer notification objects: one place to wait for many EVDs (DAT 1.2, CNO).
 * Include dat/udat.h, not this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/cno.h has the full text: parameters,
 * return values, threads, clauses. The words are 1.2's (dat/dat_error.h). */
#ifndef SOFTDAT_DAT_API_CNO_H_
#define SOFTDAT_DAT_API_CNO_H_

#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* Called once when its CNO triggers; evd is NULL if the CNO goes away. The thread is one of the
 * provider's, or one that is inside a DAT call. It should return soon and may call DAT: also to
 * free what the call below it is inside of, and to put itself back (dat_cno_modify_agent). The
 * agent of one CNO runs on one thread at a time and never within itself: a trigger meanwhile, if an
 * agent is there, calls it again when it has returned. A thread is not cancelled inside an agent.
 * DAT 1.2, CNO. */
typedef void (*DAT_AGENT_FUNC)(DAT_PVOID, DAT_EVD_HANDLE);

/* A function to call at the next trigger, with a word for it. */
typedef struct dat_os_wait_proxy_agent {
  DAT_PVOID instance_data;
  DAT_AGENT_FUNC proxy_agent_func;
} DAT_OS_WAIT_PROXY_AGENT;

/* No agent. */
#ifdef __cplusplus
#define DAT_OS_WAIT_PROXY_AGENT_NULL (DAT_OS_WAIT_PROXY_AGENT())
#else
#define DAT_OS_WAIT_PROXY_AGENT_NULL \
  (DAT_OS_WAIT_PROXY_AGENT) { NULL, NULL }
#endif

/* What dat_cno_query() answers. */
typedef struct dat_cno_param {
  DAT_IA_HANDLE ia_handle;
  DAT_OS_WAIT_PROXY_AGENT agent;
} DAT_CNO_PARAM;

typedef enum dat_cno_param_mask {
  DAT_CNO_FIELD_IA_HANDLE = 0x1,
  DAT_CNO_FIELD_AGENT = 0x2,
  DAT_CNO_FIELD_ALL = 0x3
} DAT_CNO_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                                             DAT_CNO_HANDLE* cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle,
                                                   DAT_OS_WAIT_PROXY_AGENT agent);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno_handle,
                                            DAT_CNO_PARAM_MASK cno_param_mask,
                                            DAT_CNO_PARAM* cno_param);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout_us,
                                           DAT_EVD_HANDLE* evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_CNO_H_ */
