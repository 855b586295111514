/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/ep.h: end points: attributes, states, creation, connecting and disconnecting (DAT 1.2,
 * EP). Data transfers are in dto.h, the accepting side in service_point.h. Include dat/udat.h, not
 * this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/ep.h has the full text: parameters,
 * return values, threads, clauses. The words are 1.2's (dat/dat_error.h). */
#ifndef SOFTDAT_DAT_API_EP_H_
#define SOFTDAT_DAT_API_EP_H_

#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

typedef enum dat_service_type {
  DAT_SERVICE_TYPE_RC = 0x0 /* reliable connection */
} DAT_SERVICE_TYPE;

/* What an EP is made for. Counts of requests and receives are granted at least; 0 for a size means
 * no limit of its own. */
typedef struct dat_ep_attr {
  DAT_SERVICE_TYPE service_type;
  DAT_VLEN max_message_size; /* bytes */
  DAT_VLEN max_rdma_size;    /* bytes */
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
  DAT_EP_STATE_DISCONNECT_PENDING = 0xa, /* graceful disconnect: requests are being finished */
  DAT_EP_STATE_DISCONNECTED = 0xb,       /* posts are flushed */
  DAT_EP_STATE_COMPLETION_PENDING = 0xc  /* accepted, not yet established */
} DAT_EP_STATE;
#define DAT_EP_STATE_ERROR DAT_EP_STATE_DISCONNECTED /* former name */

/* What dat_ep_query() answers and dat_ep_modify() takes. */
typedef struct dat_ep_param {
  DAT_IA_HANDLE ia_handle;
  DAT_EP_STATE ep_state;
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
#define DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR UINT64_C(0x4)
#define DAT_EP_FIELD_LOCAL_PORT_QUAL UINT64_C(0x8)
#define DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR UINT64_C(0x10)
#define DAT_EP_FIELD_REMOTE_PORT_QUAL UINT64_C(0x20)
#define DAT_EP_FIELD_PZ_HANDLE UINT64_C(0x40)
#define DAT_EP_FIELD_RECV_EVD_HANDLE UINT64_C(0x80)
#define DAT_EP_FIELD_REQUEST_EVD_HANDLE UINT64_C(0x100)
#define DAT_EP_FIELD_CONNECT_EVD_HANDLE UINT64_C(0x200)
#define DAT_EP_FIELD_SRQ_HANDLE UINT64_C(0x400)
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
#define DAT_EP_FIELD_ALL UINT64_C(0x7ffff7ff)

/* ---- life ---- */

DAT_EXPORT DAT_RETURN DAT_API dat_ep_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle,
                                            DAT_EVD_HANDLE recv_evd_handle,
                                            DAT_EVD_HANDLE request_evd_handle,
                                            DAT_EVD_HANDLE connect_evd_handle,
                                            const DAT_EP_ATTR* ep_attr, DAT_EP_HANDLE* ep_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_create_with_srq(
    DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_EVD_HANDLE recv_evd_handle,
    DAT_EVD_HANDLE request_evd_handle, DAT_EVD_HANDLE connect_evd_handle, DAT_SRQ_HANDLE srq_handle,
    const DAT_EP_ATTR* ep_attr, DAT_EP_HANDLE* ep_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_query(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK ep_param_mask,
                                           DAT_EP_PARAM* ep_param);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_modify(DAT_EP_HANDLE ep_handle,
                                            DAT_EP_PARAM_MASK ep_param_mask,
                                            const DAT_EP_PARAM* ep_param);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_get_status(DAT_EP_HANDLE ep_handle, DAT_EP_STATE* ep_state,
                                                DAT_BOOLEAN* recv_idle, DAT_BOOLEAN* request_idle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_reset(DAT_EP_HANDLE ep_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_free(DAT_EP_HANDLE ep_handle);

/* ---- connection, active side ---- */

DAT_EXPORT DAT_RETURN DAT_API dat_ep_connect(
    DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address, DAT_CONN_QUAL remote_conn_qual,
    DAT_TIMEOUT timeout_us, DAT_COUNT private_data_size, const DAT_PVOID private_data,
    DAT_QOS quality_of_service, DAT_CONNECT_FLAGS connect_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_ep_dup_connect(
    DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_ep_handle, DAT_TIMEOUT timeout_us,
    DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS quality_of_service);

/* ---- disconnection, either side ---- */

DAT_EXPORT DAT_RETURN DAT_API dat_ep_disconnect(DAT_EP_HANDLE ep_handle,
                                                DAT_CLOSE_FLAGS close_flags);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_EP_H_ */
