/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/cno.h: consumer notification objects: one place to wait for many EVDs (DAT 2.0, CNO).
 * Include dat2/udat.h, not this file. */
#ifndef SOFTDAT_DAT2_API_CNO_H_
#define SOFTDAT_DAT2_API_CNO_H_

#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

/* Called once when its CNO triggers; evd is NULL if the CNO goes away. The thread is one of the
 * provider's, or one that is inside a DAT call. It should return soon and may call DAT: also to
 * free what the call below it is inside of, and to put itself back (dat_cno_modify_agent). The
 * agent of one CNO runs on one thread at a time and never within itself: a trigger meanwhile, if an
 * agent is there, calls it again when it has returned. A thread is not cancelled inside an agent.
 * DAT 2.0, CNO. */
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

/* Makes a consumer notification object (CNO). It is triggered or not; an event that arrives at
 * an enabled EVD of it, on which no thread waits, triggers it. A trigger wakes one waiter and
 * takes the agent off and calls it; more triggers before somebody waits count as one.
 *
 * @param agent function to call at the next trigger, or DAT_OS_WAIT_PROXY_AGENT_NULL.
 * @param cno_handle [out] the CNO.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG3: NULL); DAT_INVALID_HANDLE
 *     (INVALID_HANDLE_IA); DAT_INSUFFICIENT_RESOURCES
 *
 * Does not block. Any thread. DAT 2.0, CNO create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent,
                                             DAT_CNO_HANDLE* cno_handle);

/* Makes a CNO whose trigger can be seen by poll(2): the descriptor is readable while it is
 * triggered, and it may be at other times, when the provider wants to move data on the caller's
 * thread. dat_cno_trigger() does that and takes the trigger.
 *
 * @param file_descriptor [out] for poll, select or level-triggered epoll only; belongs to
 *     the CNO.
 * @param cno_handle [out] the CNO.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2, ARG3: NULL)
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA); DAT_INSUFFICIENT_RESOURCES
 *     DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, CNO with file descriptor.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD* file_descriptor,
                                                DAT_CNO_HANDLE* cno_handle);

/* Replaces the agent. If the CNO is triggered the new agent is called at once.
 *
 * @param agent the new agent, or DAT_OS_WAIT_PROXY_AGENT_NULL for none.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE (INVALID_HANDLE_CNO)
 *
 * Does not block. Any thread. DAT 2.0, CNO modify agent.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle,
                                                   DAT_OS_WAIT_PROXY_AGENT agent);

/* Reads the parameters of a CNO.
 *
 * @param cno_param_mask a DAT_CNO_FIELD_* value; all members are filled in.
 * @param cno_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, CNO query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno_handle,
                                            DAT_CNO_PARAM_MASK cno_param_mask,
                                            DAT_CNO_PARAM* cno_param);

/* Waits for a trigger and takes it.
 *
 * @param timeout_us the longest time to wait, microseconds; 0: do not wait;
 *     DAT_TIMEOUT_INFINITE: for ever.
 * @param evd_handle [out] an EVD that triggered it; a hint: other EVDs of the CNO may have
 *     events too. NULL on timeout, and when the CNO loses its last EVD or its IA is closed.
 * @return DAT_SUCCESS
 *     DAT_QUEUE_EMPTY (no trigger in time)
 *     DAT_INTERRUPTED_CALL (a signal came)
 *     DAT_INVALID_PARAMETER (ARG3: NULL)
 *
 * Blocks. Any number of threads; a trigger wakes one. DAT 2.0, CNO wait.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout_us,
                                           DAT_EVD_HANDLE* evd_handle);

/* Takes the trigger of a CNO that was made with a file descriptor. What arrives afterwards
 * triggers it anew. May move data first, and then call the agents of other CNOs.
 *
 * @param evd_handle [out] an EVD that triggered it, as from dat_cno_wait().
 * @return DAT_SUCCESS; DAT_QUEUE_EMPTY (it is not triggered); DAT_INVALID_PARAMETER (ARG2:
 *     NULL); DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, CNO with file descriptor.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_trigger(DAT_CNO_HANDLE cno_handle,
                                              DAT_EVD_HANDLE* evd_handle);

/* Destroys a CNO.
 *
 * @return DAT_SUCCESS; DAT_INVALID_STATE (INVALID_STATE_CNO_IN_USE: an EVD refers to it, or
 *     a thread waits on it)
 *
 * Does not block. Any thread. DAT 2.0, CNO free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_CNO_H_ */
