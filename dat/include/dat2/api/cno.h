/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/cno.h: consumer notification objects: one place to wait for many EVDs (DAT 2.0, CNO).
 * Include dat2/udat.h, not this file. */
#ifndef SOFTDAT_DAT2_API_CNO_H_
#define SOFTDAT_DAT2_API_CNO_H_

#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

/* Called once, from a thread of the provider, when its CNO triggers; evd is NULL if the CNO goes
 * away. It may call DAT, but should return soon. */
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

/* How a CNO tells about its trigger, besides dat_cno_wait(). */
typedef enum dat_proxy_type {
  DAT_PROXY_TYPE_NONE = 0x0,
  DAT_PROXY_TYPE_AGENT = 0x1,
  DAT_PROXY_TYPE_FD = 0x2
} DAT_PROXY_TYPE;

/* What dat_cno_query() answers. */
typedef struct dat_cno_param {
  DAT_IA_HANDLE ia_handle;
  DAT_PROXY_TYPE proxy_type;
  union {
    DAT_OS_WAIT_PROXY_AGENT agent;
    DAT_FD fd;
    DAT_PVOID none;
  } proxy; /* valid member by proxy_type */
} DAT_CNO_PARAM;

/* Not bits: the values are those of the published binary interface. */
typedef enum dat_cno_param_mask {
  DAT_CNO_FIELD_IA_HANDLE = 0x1,
  DAT_CNO_FIELD_PROXY_TYPE = 0x2,
  DAT_CNO_FIELD_PROXY = 0x3,
  DAT_CNO_FIELD_ALL = 0x4
} DAT_CNO_PARAM_MASK;

DAT_EXPORT DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                                             DAT_CNO_HANDLE *cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD *file_descriptor,
                                                DAT_CNO_HANDLE *cno_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle,
                                                   DAT_OS_WAIT_PROXY_AGENT agent);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno_handle,
                                            DAT_CNO_PARAM_MASK cno_param_mask,
                                            DAT_CNO_PARAM *cno_param);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout_us,
                                           DAT_EVD_HANDLE *evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_trigger(DAT_CNO_HANDLE cno_handle,
                                              DAT_EVD_HANDLE *evd_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_CNO_H_ */
