/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/ep.h: end points: attributes, states, creation, connecting and disconnecting (DAT 2.0,
 * EP). Data transfers are in dto.h, the accepting side in service_point.h. Include dat2/udat.h, not
 * this file. */
#ifndef SOFTDAT_DAT2_API_EP_H_
#define SOFTDAT_DAT2_API_EP_H_

#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

typedef enum dat_service_type {
  DAT_SERVICE_TYPE_RC = 0x0 /* reliable connection */
#ifdef DAT_EXTENSIONS
  ,
  DAT_SERVICE_TYPE_EXTENSION_BASE = 0x1
#endif
} DAT_SERVICE_TYPE;

/* What an EP is made for. Counts of requests and receives are granted at least; 0 for a size means
 * no limit of its own. */
typedef struct dat_ep_attr {
  DAT_SERVICE_TYPE service_type;
  DAT_SEG_LENGTH max_message_size; /* bytes */
  DAT_SEG_LENGTH max_rdma_size;    /* bytes */
  DAT_QOS qos;
  DAT_COMPLETION_FLAGS recv_completion_flags;    /* which flags receives may use */
  DAT_COMPLETION_FLAGS request_completion_flags; /* which flags requests may use */
  DAT_COUNT max_recv_dtos;                       /* receives outstanding */
  DAT_COUNT max_request_dtos;                    /* requests outstanding */
  DAT_COUNT max_recv_iov;                        /* segments of a receive */
  DAT_COUNT max_request_iov;                     /* segments of a send */
  DAT_COUNT max_rdma_read_in;                    /* RDMA reads served at a time */
  DAT_COUNT max_rdma_read_out;                   /* RDMA reads issued at a time */
  DAT_COUNT srq_soft_hw;                         /* soft high watermark of an EP with an SRQ */
  DAT_COUNT max_rdma_read_iov;                   /* 0: as max_request_iov */
  DAT_COUNT max_rdma_write_iov;                  /* 0: as max_request_iov */
  DAT_COUNT ep_transport_specific_count;         /* entries of ep_transport_specific */
  DAT_NAMED_ATTR* ep_transport_specific;
  DAT_COUNT ep_provider_specific_count; /* entries of ep_provider_specific */
  DAT_NAMED_ATTR* ep_provider_specific;
} DAT_EP_ATTR;

/* Life of an EP: UNCONNECTED -> a pending state -> CONNECTED -> (DISCONNECT_PENDING ->)
 * DISCONNECTED -> dat_ep_reset(). The UNCONFIGURED ones say that zone or EVDs are missing. */
typedef enum dat_ep_state {
  DAT_EP_STATE_UNCONNECTED = 0x0,
  DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 0x1,
  DAT_EP_STATE_RESERVED = 0x2, /* waits at an RSP for a request */
  DAT_EP_STATE_UNCONFIGURED_RESERVED = 0x3,
  DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 0x4, /* a request came to its RSP */
  DAT_EP_STATE_UNCONFIGURED_PASSIVE = 0x5,
  DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 0x6,    /* asked by dat_ep_connect() */
  DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 0x7, /* brought by a request */
  DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 0x8,
  DAT_EP_STATE_CONNECTED = 0x9,
  DAT_EP_STATE_DISCONNECT_PENDING = 0xa,    /* graceful disconnect: requests are being finished */
  DAT_EP_STATE_DISCONNECTED = 0xb,          /* posts are flushed */
  DAT_EP_STATE_COMPLETION_PENDING = 0xc,    /* accepted, not yet established */
  DAT_EP_STATE_CONNECTED_SINGLE_PATH = 0xd, /* high availability: one path is left */
  DAT_EP_STATE_CONNECTED_MULTI_PATH = 0xe   /* high availability: several paths */
} DAT_EP_STATE;
#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED /* former name */

/* What dat_ep_query() answers and dat_ep_modify() takes. */
typedef struct dat_ep_param {
  DAT_IA_HANDLE ia_handle;
  DAT_EP_STATE ep_state;
  DAT_COMM comm;
  DAT_IA_ADDRESS_PTR local_ia_address_ptr; /* memory of the provider, valid until the EP is freed */
  DAT_PORT_QUAL local_port_qual;
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr; /* the same; defined from connect or accept on */
  DAT_PORT_QUAL remote_port_qual;
  DAT_PZ_HANDLE pz_handle;
  DAT_EVD_HANDLE recv_evd_handle;
  DAT_EVD_HANDLE request_evd_handle;
  DAT_EVD_HANDLE connect_evd_handle;
  DAT_SRQ_HANDLE srq_handle;
  DAT_EP_ATTR ep_attr;
} DAT_EP_PARAM;

/* Members of DAT_EP_PARAM. */
typedef DAT_UINT64 DAT_EP_PARAM_MASK;
#define DAT_EP_FIELD_IA_HANDLE UINT64_C(0x1)
#define DAT_EP_FIELD_EP_STATE UINT64_C(0x2)
#define DAT_EP_FIELD_COMM UINT64_C(0x4)
#define DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR UINT64_C(0x8)
#define DAT_EP_FIELD_LOCAL_PORT_QUAL UINT64_C(0x10)
#define DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR UINT64_C(0x20)
#define DAT_EP_FIELD_REMOTE_PORT_QUAL UINT64_C(0x40)
#define DAT_EP_FIELD_PZ_HANDLE UINT64_C(0x80)
#define DAT_EP_FIELD_RECV_EVD_HANDLE UINT64_C(0x100)
#define DAT_EP_FIELD_REQUEST_EVD_HANDLE UINT64_C(0x200)
#define DAT_EP_FIELD_CONNECT_EVD_HANDLE UINT64_C(0x400)
#define DAT_EP_FIELD_SRQ_HANDLE UINT64_C(0x800)
#define DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE UINT64_C(0x1000)
#define DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE UINT64_C(0x2000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE UINT64_C(0x4000)
#define DAT_EP_FIELD_EP_ATTR_QOS UINT64_C(0x8000)
#define DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS UINT64_C(0x10000)
#define DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS UINT64_C(0x20000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS UINT64_C(0x40000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS UINT64_C(0x80000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV UINT64_C(0x100000)
#define DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV UINT64_C(0x200000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN UINT64_C(0x400000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT UINT64_C(0x800000)
#define DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW UINT64_C(0x1000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV UINT64_C(0x2000000)
#define DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV UINT64_C(0x4000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR UINT64_C(0x8000000)
#define DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR UINT64_C(0x10000000)
#define DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR UINT64_C(0x20000000)
#define DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR UINT64_C(0x40000000)
#define DAT_EP_FIELD_EP_ATTR_ALL UINT64_C(0x7ffff000)
#define DAT_EP_FIELD_ALL UINT64_C(0x7fffffff)

/* ---- life ---- */

/* Makes an end point (EP), state UNCONNECTED. Zone and EVDs may be DAT_HANDLE_NULL and be given
 * by dat_ep_modify() before the EP is used.
 *
 * @param pz_handle zone whose memory it can reach.
 * @param recv_evd_handle gets completions of receives; made with DAT_EVD_DTO_FLAG.
 * @param request_evd_handle gets completions of sends, RDMA and binds; made with
 *     DAT_EVD_DTO_FLAG.
 * @param connect_evd_handle gets connection events; made with DAT_EVD_CONNECTION_FLAG.
 * @param ep_attr what it is made for; NULL: defaults of the provider. Counts are granted at
 *     least; dat_ep_query() tells.
 * @param ep_handle [out] the EP.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA, _PZ, _EVD_RECV, _EVD_REQUEST, _EVD_CONN: also
 *         an EVD without the flag)
 *     DAT_INVALID_PARAMETER (ARG6: an attribute; ARG7: NULL)
 *     DAT_MODEL_NOT_SUPPORTED (service type or quality of service)
 *     DAT_INSUFFICIENT_RESOURCES (RESOURCE_TEP, RESOURCE_MEMORY)
 *
 * Does not block. Any thread. DAT 2.0, EP create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                            DAT_EVD_HANDLE recv_evd_handle,
                                            DAT_EVD_HANDLE request_evd_handle,
                                            DAT_EVD_HANDLE connect_evd_handle,
                                            const DAT_EP_ATTR* ep_attr, DAT_EP_HANDLE* ep_handle);

/* As dat_ep_create(), for an EP that takes its receives from a shared receive queue. Receives
 * can not be posted to the EP itself.
 *
 * @param srq_handle the queue; of the same zone unless the provider allows another.
 * @param ep_attr as there, but not NULL; max_recv_iov is not looked at.
 * @param ep_handle [out] the EP.
 * @return as dat_ep_create(), and
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_SRQ)
 *     DAT_INVALID_PARAMETER (ARG6: another zone; ARG7: attributes; ARG8: NULL)
 *
 * Does not block. Any thread. DAT 2.0, EP create with SRQ.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_create_with_srq(
    DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_EVD_HANDLE recv_evd_handle,
    DAT_EVD_HANDLE request_evd_handle, DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
    const DAT_EP_ATTR* ep_attr, DAT_EP_HANDLE* ep_handle);

/* Reads state, addresses, objects and attributes of an EP.
 *
 * @param ep_param_mask DAT_EP_FIELD_* that are wanted.
 * @param ep_param [out] the parameters; addresses point into memory of the provider, valid
 *     until the EP is freed.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread, any state. DAT 2.0, EP query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                           DAT_EP_PARAM* ep_param);

/* Changes parameters of an EP: all that the mask says, or none. The zone: in UNCONNECTED and
 * TENTATIVE_CONNECTION_PENDING; EVDs and attributes: also in RESERVED and
 * PASSIVE_CONNECTION_PENDING; the rest never.
 *
 * @param ep_param_mask DAT_EP_FIELD_* to change.
 * @param ep_param their new values.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL, a bad value, or a member that can not
 *         be changed)
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_EP, _PZ, _EVD_RECV, _EVD_REQUEST, _EVD_CONN)
 *     DAT_INVALID_STATE (INVALID_STATE_EP_*)
 *
 * Does not block. Any thread. DAT 2.0, EP modify.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep_handle,
                                            DAT_EP_PARAM_MASK ep_param_mask,
                                            const DAT_EP_PARAM* ep_param);

/* Reads the state of an EP, and whether it has work outstanding.
 *
 * @param ep_state [out] the state; may be NULL.
 * @param recv_idle [out] DAT_TRUE if no posted receive is uncompleted; may be NULL.
 * @param request_idle [out] the same for requests; may be NULL.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread, any state. DAT 2.0, EP get status.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* ep_state,
                                                DAT_BOOLEAN* recv_idle, DAT_BOOLEAN* request_idle);

/* Brings a DISCONNECTED EP back to UNCONNECTED, to be used again with the same zone, EVDs and
 * attributes. Completions that were not taken may vanish. No effect in UNCONNECTED; receives
 * that are posted stay.
 *
 * @return DAT_SUCCESS; DAT_INVALID_STATE (INVALID_STATE_EP_*)
 *
 * Does not block. Any thread. DAT 2.0, EP reset.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep_handle);

/* Destroys an EP. If it is connected the peer sees a disconnection; a connection that is being
 * set up is given up. Completions that were not taken may vanish.
 *
 * @return DAT_SUCCESS; DAT_INVALID_STATE (in RESERVED, PASSIVE_CONNECTION_PENDING and
 *     TENTATIVE_CONNECTION_PENDING: free the service point, or answer the request, first)
 *
 * Does not block. Any thread. DAT 2.0, EP free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep_handle);

/* ---- connection, active side ---- */

/* Asks a service point for a connection. Address and private data are copied. The answer is
 * exactly one event on the connect EVD:
 * - DAT_CONNECTION_EVENT_ESTABLISHED, with the private data of the acceptor: the EP is
 *   CONNECTED;
 * - DAT_CONNECTION_EVENT_PEER_REJECTED, with the private data of the rejector: the program
 *   there refused;
 * - DAT_CONNECTION_EVENT_NON_PEER_REJECTED: nobody listens there, or its queue of requests is
 *   full;
 * - DAT_CONNECTION_EVENT_UNREACHABLE, DAT_CONNECTION_EVENT_TIMED_OUT;
 * - DAT_CONNECTION_EVENT_DISCONNECTED: the program gave up by dat_ep_disconnect().
 * After all but the first the EP is DISCONNECTED and its receives are flushed; dat_ep_reset()
 * makes it usable again.
 *
 * @param remote_ia_address address of the adapter that the service point is on.
 * @param remote_conn_qual its connection qualifier, 64 bits.
 * @param timeout_us the longest time to wait for the answer, microseconds, not 0;
 *     DAT_TIMEOUT_INFINITE: for ever.
 * @param private_data_size bytes, at most the attribute max_private_data_size.
 * @param private_data for the acceptor; may be NULL if the size is 0.
 * @param quality_of_service DAT_QOS_BEST_EFFORT unless the provider has more.
 * @param connect_flags DAT_CONNECT_DEFAULT_FLAG unless the provider has more.
 * @return DAT_SUCCESS (the request is on its way)
 *     DAT_INVALID_PARAMETER (ARG2: NULL; ARG4: timeout; ARG5: size; ARG6: NULL)
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_EVD_CONN: it has no connect EVD)
 *     DAT_INVALID_STATE (INVALID_STATE_EP_*: not UNCONNECTED; INVALID_STATE_EP_NOTREADY:
 *         zone or EVD missing)
 *     DAT_INVALID_ADDRESS (INVALID_ADDRESS_UNSUPPORTED, _UNREACHABLE, _MALFORMED)
 *     DAT_MODEL_NOT_SUPPORTED (quality of service or flags)
 *     DAT_INSUFFICIENT_RESOURCES
 *
 * Does not block. Any thread. DAT 2.0, EP connect.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_connect(
    DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address, DAT_CONN_QUAL remote_conn_qual,
    DAT_TIMEOUT timeout_us, DAT_COUNT private_data_size, const DAT_PVOID private_data,
    DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags);

/* As dat_ep_connect(), to where another EP is connected: same adapter, qualifier and flags.
 *
 * @param dup_ep_handle the other EP; CONNECTED.
 * @param timeout_us as there.
 * @param private_data_size,private_data as there.
 * @param quality_of_service as there.
 * @return as dat_ep_connect(), with
 *     DAT_INVALID_HANDLE (INVALID_HANDLE2: the other EP)
 *     DAT_INVALID_PARAMETER (ARG3: timeout; ARG4, ARG5: private data)
 *     DAT_INVALID_STATE (of either EP)
 *
 * Does not block. Any thread. DAT 2.0, EP dup connect.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_dup_connect(
    DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_ep_handle, DAT_TIMEOUT timeout_us,
    DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS quality_of_service);

/* As dat_ep_connect(), to a common service point: the address holds the port, there is no
 * qualifier.
 *
 * @param remote_ia_address a complete socket address.
 * @param timeout_us as there.
 * @param private_data_size,private_data as there.
 * @return as dat_ep_connect(), with
 *     DAT_INVALID_PARAMETER (ARG2: NULL; ARG3: timeout; ARG4, ARG5: private data)
 *     DAT_COMM_NOT_SUPPORTED, DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, EP common connect.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_common_connect(DAT_EP_HANDLE ep_handle,
                                                    DAT_IA_ADDRESS_PTR remote_ia_address,
                                                    DAT_TIMEOUT timeout_us,
                                                    DAT_COUNT private_data_size,
                                                    const DAT_PVOID private_data);

/* ---- disconnection, either side ---- */

/* Ends a connection, or gives up one that is being set up. Afterwards there is exactly one
 * event on the connect EVD at each side, DAT_CONNECTION_EVENT_DISCONNECTED, whoever
 * disconnects, how often, and whether both do at once. What was posted and not done completes
 * with DAT_DTO_ERR_FLUSHED; what is posted later does so too, until the EP is reset.
 *
 * @param close_flags DAT_CLOSE_ABRUPT_FLAG (the default): at once. DAT_CLOSE_GRACEFUL_FLAG:
 *     requests that are posted are done first (state DISCONNECT_PENDING, no new ones), then
 *     receives are flushed.
 * @return DAT_SUCCESS (in DISCONNECTED too: without effect, without event)
 *     DAT_INVALID_PARAMETER (ARG2: flags)
 *     DAT_INVALID_STATE (in UNCONNECTED, RESERVED, PASSIVE_CONNECTION_PENDING,
 *         TENTATIVE_CONNECTION_PENDING)
 *
 * Does not block. Any thread. DAT 2.0, EP disconnect.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep_handle,
                                                DAT_CLOSE_FLAGS close_flags);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_EP_H_ */
