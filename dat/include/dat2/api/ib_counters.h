/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/ib_counters.h: counters of the InfiniBand extension. Included by
 * dat2/dat_ib_extensions.h. */
#ifndef SOFTDAT_DAT2_API_IB_COUNTERS_H_
#define SOFTDAT_DAT2_API_IB_COUNTERS_H_

#include <dat2/dat_ib_extensions.h>

SOFTDAT_BEGIN_DECLS

/* Older names. */
#define DAT_ATTR_COUNTERS DAT_IB_ATTR_COUNTERS
#define DAT_QUERY_COUNTERS_OP DAT_IB_QUERY_COUNTERS_OP
#define DAT_PRINT_COUNTERS_OP DAT_IB_PRINT_COUNTERS_OP

/* Counters of an adapter (query an IA handle). The last one stands for all of them.
 *
 * - *_CREATE, *_FREE: objects of the IA, those included that the provider makes itself (the
 *   asynchronous EVD, EPs for connection requests); failed creations are not counted, nor is what
 *   dat_ia_close frees. PSP_CREATE_ANY counts dat_psp_create_any, PSP_CREATE dat_psp_create,
 *   PSP_FREE either's.
 * - SP_CR: requests that were offered to the EVD of a service point, by dat_cr_handoff too, whether
 *   there was room or not; how many of them dat_cr_accept and dat_cr_reject answered.
 * - ASYNC_ERROR: all asynchronous events; ASYNC_QP_ERROR those of broken EPs, ASYNC_CQ_ERROR EVD
 *   overflows.
 * - CM_*, group DCNT_IA_CM: LISTEN service points that began to listen. REQ and REP: connection
 *   requests and the replies that accept them, a request that dat_cr_handoff gave to another IA
 *   where it came first; USER_REJ: refusals by a consumer. ACTIVE_EST,
 *   PASSIVE_EST: connections established from either side. DREQ: disconnects, begun here (TX) or
 *   by the peer (RX).
 * - CM_ERR counts everything of connection management that failed; of that, REFUSED: nobody
 *   listened, or the other end refused without asking its consumer; ERR_REJ_TX: refused so here,
 *   and REQ_FULLQ: because the EVD of the service point was full; TIMEOUT: no answer in the time
 *   given; RESET: established connections that broke.
 * - DIAG_*, group DCNT_IA_DIAG: requests that completed with an error: SQ_RAE remote access,
 *   SQ_RIRE remote responder, SQ_RREE receiver not ready, SQ_TREE transport.
 * - Over a transport that has no such message or cannot see it, the others stay 0: address handles
 *   and RTU, DREP and MRA messages; duplicates and retries; LNK_*, group DCNT_IA_LNK, errors of a
 *   link; the remaining DIAG_*; MEM_*, the provider's own memory. */
typedef enum dat_ia_counters {
  DCNT_IA_PZ_CREATE = 0x0,
  DCNT_IA_PZ_FREE = 0x1,
  DCNT_IA_LMR_CREATE = 0x2,
  DCNT_IA_LMR_FREE = 0x3,
  DCNT_IA_RMR_CREATE = 0x4,
  DCNT_IA_RMR_FREE = 0x5,
  DCNT_IA_PSP_CREATE = 0x6,
  DCNT_IA_PSP_CREATE_ANY = 0x7,
  DCNT_IA_PSP_FREE = 0x8,
  DCNT_IA_RSP_CREATE = 0x9,
  DCNT_IA_RSP_FREE = 0xa,
  DCNT_IA_EVD_CREATE = 0xb,
  DCNT_IA_EVD_FREE = 0xc,
  DCNT_IA_EP_CREATE = 0xd,
  DCNT_IA_EP_FREE = 0xe,
  DCNT_IA_SRQ_CREATE = 0xf,
  DCNT_IA_SRQ_FREE = 0x10,
  DCNT_IA_SP_CR = 0x11,
  DCNT_IA_SP_CR_ACCEPTED = 0x12,
  DCNT_IA_SP_CR_REJECTED = 0x13,
  DCNT_IA_MEM_ALLOC = 0x14,
  DCNT_IA_MEM_ALLOC_DATA = 0x15,
  DCNT_IA_MEM_FREE = 0x16,
  DCNT_IA_ASYNC_ERROR = 0x17,
  DCNT_IA_ASYNC_QP_ERROR = 0x18,
  DCNT_IA_ASYNC_CQ_ERROR = 0x19,
  DCNT_IA_CM_LISTEN = 0x1a,
  DCNT_IA_CM_REQ_TX = 0x1b,
  DCNT_IA_CM_REQ_RX = 0x1c,
  DCNT_IA_CM_REP_TX = 0x1d,
  DCNT_IA_CM_REP_RX = 0x1e,
  DCNT_IA_CM_RTU_TX = 0x1f,
  DCNT_IA_CM_RTU_RX = 0x20,
  DCNT_IA_CM_USER_REJ_TX = 0x21,
  DCNT_IA_CM_USER_REJ_RX = 0x22,
  DCNT_IA_CM_ACTIVE_EST = 0x23,
  DCNT_IA_CM_PASSIVE_EST = 0x24,
  DCNT_IA_CM_AH_REQ_TX = 0x25,
  DCNT_IA_CM_AH_REQ_RX = 0x26,
  DCNT_IA_CM_AH_RESOLVED = 0x27,
  DCNT_IA_CM_DREQ_TX = 0x28,
  DCNT_IA_CM_DREQ_RX = 0x29,
  DCNT_IA_CM_DREP_TX = 0x2a,
  DCNT_IA_CM_DREP_RX = 0x2b,
  DCNT_IA_CM_MRA_TX = 0x2c,
  DCNT_IA_CM_MRA_RX = 0x2d,
  DCNT_IA_CM_REQ_FULLQ_POLL = 0x2e,
  DCNT_IA_CM_ERR = 0x2f,
  DCNT_IA_CM_ERR_REQ_FULLQ = 0x30,
  DCNT_IA_CM_ERR_REQ_DUP = 0x31,
  DCNT_IA_CM_ERR_REQ_RETRY = 0x32,
  DCNT_IA_CM_ERR_REP_DUP = 0x33,
  DCNT_IA_CM_ERR_REP_RETRY = 0x34,
  DCNT_IA_CM_ERR_RTU_DUP = 0x35,
  DCNT_IA_CM_ERR_RTU_RETRY = 0x36,
  DCNT_IA_CM_ERR_REFUSED = 0x37,
  DCNT_IA_CM_ERR_RESET = 0x38,
  DCNT_IA_CM_ERR_TIMEOUT = 0x39,
  DCNT_IA_CM_ERR_REJ_TX = 0x3a,
  DCNT_IA_CM_ERR_REJ_RX = 0x3b,
  DCNT_IA_CM_ERR_DREQ_DUP = 0x3c,
  DCNT_IA_CM_ERR_DREQ_RETRY = 0x3d,
  DCNT_IA_CM_ERR_DREP_DUP = 0x3e,
  DCNT_IA_CM_ERR_DREP_RETRY = 0x3f,
  DCNT_IA_CM_ERR_MRA_DUP = 0x40,
  DCNT_IA_CM_ERR_MRA_RETRY = 0x41,
  DCNT_IA_CM_ERR_UNEXPECTED = 0x42,
  DCNT_IA_LNK_ERR_RCV = 0x43,
  DCNT_IA_LNK_ERR_RCV_REM_PHYS = 0x44,
  DCNT_IA_LNK_ERR_RCV_CONSTRAINT = 0x45,
  DCNT_IA_LNK_ERR_XMT_DISCARDS = 0x46,
  DCNT_IA_LNK_ERR_XMT_CONTRAINT = 0x47,
  DCNT_IA_LNK_ERR_INTEGRITY = 0x48,
  DCNT_IA_LNK_ERR_EXC_BUF_OVERRUN = 0x49,
  DCNT_IA_LNK_WARN_RCV_SW_RELAY = 0x4a,
  DCNT_IA_LNK_WARN_XMT_WAIT = 0x4b,
  DCNT_IA_DIAG_ERR_RQ_RAE = 0x4c,
  DCNT_IA_DIAG_ERR_RQ_OOS = 0x4d,
  DCNT_IA_DIAG_ERR_RQ_RIRE = 0x4e,
  DCNT_IA_DIAG_ERR_RQ_UDSDPRD = 0x4f,
  DCNT_IA_DIAG_ERR_SQ_RAE = 0x50,
  DCNT_IA_DIAG_ERR_SQ_OOS = 0x51,
  DCNT_IA_DIAG_ERR_SQ_RIRE = 0x52,
  DCNT_IA_DIAG_ERR_SQ_RREE = 0x53,
  DCNT_IA_DIAG_ERR_SQ_TREE = 0x54,
  DCNT_IA_ALL_COUNTERS = 0x55
} DAT_IA_COUNTERS;

/* Counters of an end point (query an EP handle).
 *
 * - CONNECT, DISCONNECT: dat_ep_connect and its relatives, and disconnects of an established
 *   connection, that were begun from here.
 * - POST_*: posts that were accepted, *_DATA the bytes of their local segments; sends with
 *   invalidate are SENDs. Receives posted to an SRQ belong to no EP yet and are not counted.
 * - RECV, RECV_RDMA_IMM: receives that completed successfully, by a message or by immediate data
 *   that follow an RDMA write, and their bytes; counted when the completion leaves its queue, at
 *   the latest when the consumer gets its event.
 * - *_UD (unreliable datagrams) and RECV_IMM (a send with immediate data) stay 0 where there is no
 *   such operation. */
typedef enum dat_ep_counters {
  DCNT_EP_CONNECT = 0x0,
  DCNT_EP_DISCONNECT = 0x1,
  DCNT_EP_POST_SEND = 0x2,
  DCNT_EP_POST_SEND_DATA = 0x3,
  DCNT_EP_POST_SEND_UD = 0x4,
  DCNT_EP_POST_SEND_UD_DATA = 0x5,
  DCNT_EP_POST_RECV = 0x6,
  DCNT_EP_POST_RECV_DATA = 0x7,
  DCNT_EP_POST_WRITE = 0x8,
  DCNT_EP_POST_WRITE_DATA = 0x9,
  DCNT_EP_POST_WRITE_IMM = 0xa,
  DCNT_EP_POST_WRITE_IMM_DATA = 0xb,
  DCNT_EP_POST_READ = 0xc,
  DCNT_EP_POST_READ_DATA = 0xd,
  DCNT_EP_POST_CMP_SWAP = 0xe,
  DCNT_EP_POST_FETCH_ADD = 0xf,
  DCNT_EP_RECV = 0x10,
  DCNT_EP_RECV_DATA = 0x11,
  DCNT_EP_RECV_UD = 0x12,
  DCNT_EP_RECV_UD_DATA = 0x13,
  DCNT_EP_RECV_IMM = 0x14,
  DCNT_EP_RECV_IMM_DATA = 0x15,
  DCNT_EP_RECV_RDMA_IMM = 0x16,
  DCNT_EP_RECV_RDMA_IMM_DATA = 0x17,
  DCNT_EP_ALL_COUNTERS = 0x18
} DAT_EP_COUNTERS;

/* Counters of an event dispatcher (query an EVD handle).
 *
 * - WAIT: calls of dat_evd_wait; WAIT_BLOCKED those of them that had to sleep; WAIT_NOTIFY how
 *   often one asked to be notified of a completion.
 * - DEQUEUE, _FOUND, _NOT_FOUND: calls of dat_evd_dequeue that looked, and their outcome;
 *   DEQUEUE_POLL, DEQUEUE_POLL_FOUND: how often one looked into the queue of completions.
 * - CONN_CALLBACK: connection events that arrived (DAT_CONNECTION_EVENT_*); DTO_CALLBACK:
 *   notifications of completions. */
typedef enum dat_evd_counters {
  DCNT_EVD_WAIT = 0x0,
  DCNT_EVD_WAIT_BLOCKED = 0x1,
  DCNT_EVD_WAIT_NOTIFY = 0x2,
  DCNT_EVD_DEQUEUE = 0x3,
  DCNT_EVD_DEQUEUE_FOUND = 0x4,
  DCNT_EVD_DEQUEUE_NOT_FOUND = 0x5,
  DCNT_EVD_DEQUEUE_POLL = 0x6,
  DCNT_EVD_DEQUEUE_POLL_FOUND = 0x7,
  DCNT_EVD_CONN_CALLBACK = 0x8,
  DCNT_EVD_DTO_CALLBACK = 0x9,
  DCNT_EVD_ALL_COUNTERS = 0xa
} DAT_EVD_COUNTERS;

/* Groups of adapter counters that can be started and stopped. All of them run when the IA is
 * opened; the counters of no group always run. */
typedef enum dat_ia_counter_type {
  DCNT_IA_CM = 0x0,
  DCNT_IA_LNK = 0x1,
  DCNT_IA_DIAG = 0x2
} DAT_IA_COUNTER_TYPE;

SOFTDAT_END_DECLS

/* dat_ib_query_counters(handle, counter, counters_out, reset): reads one counter of an IA, EP or
 * EVD, or all of them with the DCNT_*_ALL_COUNTERS of its kind, into as many 64-bit numbers at
 * counters_out; lets them count from 0 again if reset is not 0. What others count meanwhile is
 * either in these numbers or in the next ones. Returns
 * - DAT_SUCCESS;
 * - DAT_INVALID_HANDLE (INVALID_HANDLE1): no IA, EP or EVD;
 * - DAT_INVALID_PARAMETER: the kind of object has no such counter (ARG2); counters_out is NULL
 *   (ARG3);
 * - DAT_NOT_IMPLEMENTED: no counters in this provider; one that has them announces the attribute
 *   DAT_IB_ATTR_COUNTERS.
 * Does not block. */
#define dat_ib_query_counters(dat_handle, counter, counters_out, reset)                \
  dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_QUERY_COUNTERS_OP, (int)(counter), \
                   (DAT_UINT64*)(counters_out), (int)(reset))
#define dat_query_counters dat_ib_query_counters

/* dat_ib_print_counters(handle, counter, reset): the same, written to the standard output: a line
 * for each counter with IA name, handle, counter name and value. */
#define dat_ib_print_counters(dat_handle, counter, reset) \
  dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_PRINT_COUNTERS_OP, (int)(counter), (int)(reset))
#define dat_print_counters dat_ib_print_counters

/* dat_ib_start_counter(handle, type), dat_ib_stop_counter(handle, type): start and stop a group of
 * adapter counters (a DAT_IA_COUNTER_TYPE). A stopped counter keeps its value, and goes on from it
 * when started. To start what runs, or stop what stands, changes nothing. Return
 * - DAT_SUCCESS;
 * - DAT_INVALID_HANDLE (INVALID_HANDLE_IA): no IA;
 * - DAT_INVALID_PARAMETER (ARG2): no such group;
 * - DAT_NOT_IMPLEMENTED: no counters in this provider. */
#define dat_ib_start_counter(dat_handle, type) \
  dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_START_COUNTERS_OP, (DAT_IA_COUNTER_TYPE)(type))
#define dat_ib_stop_counter(dat_handle, type) \
  dat_extension_op((DAT_HANDLE)(dat_handle), DAT_IB_STOP_COUNTERS_OP, (DAT_IA_COUNTER_TYPE)(type))

#endif /* SOFTDAT_DAT2_API_IB_COUNTERS_H_ */
