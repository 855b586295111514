/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/evd.h: event dispatchers: bounded queues of events (DAT 2.0, EVD). Include dat2/udat.h,
 * not this file. */
#ifndef SOFTDAT_DAT2_API_EVD_H_
#define SOFTDAT_DAT2_API_EVD_H_

#include <dat2/api/event.h>
#include <dat2/api/types.h>

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
#ifdef DAT_EXTENSIONS
  ,
  DAT_EVD_EXTENSION_BASE = 0x200
#endif
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

/* Makes an event dispatcher (EVD): a bounded queue that merges streams of events. Its size need
 * not be the sum of the queues that feed it; see overflow in dat_evd_wait().
 *
 * @param evd_min_qlen events that it must hold at least; > 0. dat_evd_query() tells the
 *     real number.
 * @param cno_handle notification object that its events trigger, or DAT_HANDLE_NULL.
 * @param evd_flags kinds of events that may be fed to it; bits, DAT_EVD_*_FLAG.
 * @param evd_handle [out] the EVD: enabled, waitable, empty.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: queue length; ARG4: flags, or streams that the provider
 *         does not merge; ARG5: NULL)
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA, INVALID_HANDLE_CNO)
 *     DAT_INSUFFICIENT_RESOURCES (RESOURCE_TEVD: longer than max_evd_qlen, or too many
 *         EVDs; RESOURCE_MEMORY)
 *
 * Does not block. Any thread. DAT 2.0, EVD create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen,
                                             DAT_CNO_HANDLE cno_handle, DAT_EVD_FLAGS evd_flags,
                                             DAT_EVD_HANDLE* evd_handle);

/* Reads the parameters of an EVD.
 *
 * @param evd_param_mask members that are wanted, DAT_EVD_FIELD_*.
 * @param evd_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, EVD query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_query(DAT_EVD_HANDLE evd_handle,
                                            DAT_EVD_PARAM_MASK evd_param_mask,
                                            DAT_EVD_PARAM* evd_param);

/* Gives an EVD another notification object. An event that arrives meanwhile triggers the old or
 * the new one. If events are queued the new one is triggered, so that none is missed.
 *
 * @param cno_handle the new CNO, or DAT_HANDLE_NULL for none.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE (INVALID_HANDLE_CNO)
 *
 * Does not block. Any thread. DAT 2.0, EVD modify CNO.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle,
                                                 DAT_CNO_HANDLE cno_handle);

/* Changes how many events an EVD holds; no event is lost.
 *
 * @param evd_min_qlen events that it must hold at least; > 0.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: length)
 *     DAT_INVALID_STATE (less than what is queued now; or INVALID_STATE_EVD_WAITER: a
 *         thread waits on it)
 *     DAT_INSUFFICIENT_RESOURCES
 *
 * Does not block. Any thread. DAT 2.0, EVD resize.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen);

/* Waits until at least `threshold` events are queued, and takes the oldest one.
 *
 * Events of one stream (receives of an EP, requests of an EP, connection events of an EP, one
 * service point) come out in the order in which they happened; between streams there is no
 * order, except that the ESTABLISHED event of an EP precedes its data transfers, and transfers
 * that succeeded precede its disconnection, when they share the EVD. An event for a full EVD is
 * lost, and is reported by DAT_ASYNC_ERROR_EVD_OVERFLOW on the asynchronous EVD; a connection
 * request for a full EVD is rejected.
 *
 * @param timeout_us the longest time to wait, microseconds; 0: do not wait;
 *     DAT_TIMEOUT_INFINITE: for ever.
 * @param threshold events that must be queued, this one included; 1 .. queue length. Above
 *     1 it can not be used with streams that wake by UNSIGNALLED or SOLICITED_WAIT rules.
 * @param event [out] the event; undefined unless the call succeeds.
 * @param nmore [out] events that remain queued; valid also for timeout and interruption.
 * @return DAT_SUCCESS
 *     DAT_TIMEOUT_EXPIRED (nothing is taken, even if fewer than `threshold` events are
 *         there)
 *     DAT_INVALID_PARAMETER (ARG3: threshold; ARG4, ARG5: NULL)
 *     DAT_INVALID_STATE (INVALID_STATE_EVD_WAITER: another thread waits;
 *         INVALID_STATE_EVD_UNWAITABLE: also when that is set during the wait)
 *     DAT_ABORT (the EVD was destroyed under the wait)
 *     DAT_INTERRUPTED_CALL (a signal came)
 *
 * Blocks. Any thread, but one at a time on one EVD; while it waits the EVD does not trigger its
 * CNO. DAT 2.0, EVD wait.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout_us,
                                           DAT_COUNT threshold, DAT_EVENT* event, DAT_COUNT* nmore);

/* Takes the oldest event without waiting. Works on an EVD that is disabled or unwaitable, too.
 *
 * @param event [out] the event; undefined unless the call succeeds.
 * @return DAT_SUCCESS
 *     DAT_QUEUE_EMPTY (on an EVD with the DTO or RMR bind flag this is the bare word
 *         DAT_QUEUE_EMPTY, without class bits, as existing programs compare it; test
 *         DAT_GET_TYPE())
 *     DAT_INVALID_PARAMETER (ARG2: NULL)
 *     DAT_INVALID_STATE (INVALID_STATE_EVD_WAITER: a thread waits on it)
 *
 * Does not block. Any thread; of events that several threads take at once the order is open.
 * DAT 2.0, EVD dequeue.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event);

/* Puts a software event into an EVD. It counts like any other for thresholds and CNO.
 *
 * @param event what to put in: event_number must be DAT_SOFTWARE_EVENT; it is copied.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG1: the EVD was made without DAT_EVD_SOFTWARE_FLAG; ARG2:
 *         NULL or another event number)
 *     DAT_QUEUE_FULL (no overflow event; the EVD goes on)
 *
 * Does not block. Any thread, CNO agents included. DAT 2.0, EVD post software event.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event);

/* Lets events that arrive trigger the CNO again. If events are queued the CNO is triggered at
 * once. No effect if it is enabled.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, EVD enable.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_enable(DAT_EVD_HANDLE evd_handle);

/* Keeps events that arrive from triggering the CNO; they are queued. Does not touch waits on
 * the EVD itself. No effect if it is disabled.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, EVD disable.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_disable(DAT_EVD_HANDLE evd_handle);

/* Ends a wait on this EVD and refuses later ones, both with DAT_INVALID_STATE. Events still
 * arrive, may be dequeued, and trigger the CNO. No effect if it is unwaitable.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, EVD set unwaitable.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle);

/* Allows waits again. No effect if it is waitable.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, EVD clear unwaitable.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle);

/* Destroys an EVD with the events in it.
 *
 * @return DAT_SUCCESS
 *     DAT_INVALID_STATE (INVALID_STATE_EVD_IN_USE: an EP, a service point or the IA feeds
 *         it; INVALID_STATE_EVD_WAITER: a thread waits on it)
 *
 * Does not block. Any thread. DAT 2.0, EVD free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_evd_free(DAT_EVD_HANDLE evd_handle);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_EVD_H_ */
