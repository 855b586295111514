/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/dat_ib_extensions.h: the InfiniBand family of extended operations, version 2.0.9: immediate
 * data, atomics, unreliable datagrams, queries without an open. Counters are in api/ib_counters.h,
 * collectives in api/ib_collective.h.
 *
 * A provider has them if DAT_IA_ATTR.extension_supported is DAT_EXTENSION_IB; single ones if the
 * named provider attribute (DAT_IB_ATTR_*) has the value "TRUE". An operation that it does not have
 * returns DAT_NOT_IMPLEMENTED. */
#ifndef _DAT_IB_EXTENSIONS_H_
#define _DAT_IB_EXTENSIONS_H_

#include <dat2/udat.h>

#ifndef DAT_EXTENSIONS
#error "dat_ib_extensions.h needs the extension entry (DAT_NO_EXTENSIONS is defined)"
#endif

SOFTDAT_BEGIN_DECLS

#define DAT_IB_EXTENSION_VERSION 209 /* 2.0.9 */

/* Names of provider attributes (DAT_PROVIDER_ATTR.provider_specific_attr). */
#define DAT_IB_ATTR_COUNTERS "DAT_COUNTERS"
#define DAT_IB_ATTR_FETCH_AND_ADD "DAT_IB_FETCH_AND_ADD"
#define DAT_IB_ATTR_CMP_AND_SWAP "DAT_IB_CMP_AND_SWAP"
#define DAT_IB_ATTR_IMMED_DATA "DAT_IB_IMMED_DATA"
#define DAT_IB_ATTR_UD "DAT_IB_UD"

/* Event numbers. The event data are those of a DTO completion (DAT_IB_DTO_EVENT) or of a connection
 * event; the extension data are a DAT_IB_EXTENSION_EVENT_DATA. */
typedef enum dat_ib_event_number {
  DAT_IB_DTO_EVENT = 0x40000,
  DAT_IB_UD_CONNECTION_REQUEST_EVENT = 0x40001,
  DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED = 0x40002,
  DAT_IB_UD_CONNECTION_REJECT_EVENT = 0x40003,
  DAT_IB_UD_CONNECTION_ERROR_EVENT = 0x40004,
  DAT_IB_COLLECTIVE_EVENT = 0x40005
} DAT_IB_EVENT_NUMBER;

/* Operation numbers for dat_extension_op(); use the macros below. */
typedef enum dat_ib_op {
  DAT_IB_FETCH_AND_ADD_OP = 0x0,
  DAT_IB_CMP_AND_SWAP_OP = 0x1,
  DAT_IB_RDMA_WRITE_IMMED_OP = 0x2,
  DAT_IB_UD_SEND_OP = 0x3,
  DAT_IB_QUERY_COUNTERS_OP = 0x4,
  DAT_IB_PRINT_COUNTERS_OP = 0x5,
  DAT_IB_COLLECTIVE_CREATE_MEMBER_OP = 0x6,
  DAT_IB_COLLECTIVE_FREE_MEMBER_OP = 0x7,
  DAT_IB_COLLECTIVE_CREATE_GROUP_OP = 0x8,
  DAT_IB_COLLECTIVE_FREE_GROUP_OP = 0x9,
  DAT_IB_COLLECTIVE_SET_CLOCK_OP = 0xa,
  DAT_IB_COLLECTIVE_READ_CLOCK_OP = 0xb,
  DAT_IB_COLLECTIVE_SCATTER_OP = 0xc,
  DAT_IB_COLLECTIVE_SCATTERV_OP = 0xd,
  DAT_IB_COLLECTIVE_GATHER_OP = 0xe,
  DAT_IB_COLLECTIVE_GATHERV_OP = 0xf,
  DAT_IB_COLLECTIVE_ALLGATHER_OP = 0x10,
  DAT_IB_COLLECTIVE_ALLGATHERV_OP = 0x11,
  DAT_IB_COLLECTIVE_ALLTOALL_OP = 0x12,
  DAT_IB_COLLECTIVE_ALLTOALLV_OP = 0x13,
  DAT_IB_COLLECTIVE_REDUCE_OP = 0x14,
  DAT_IB_COLLECTIVE_ALLREDUCE_OP = 0x15,
  DAT_IB_COLLECTIVE_REDUCE_SCATTER_OP = 0x16,
  DAT_IB_COLLECTIVE_SCAN_OP = 0x17,
  DAT_IB_COLLECTIVE_BROADCAST_OP = 0x18,
  DAT_IB_COLLECTIVE_BARRIER_OP = 0x19,
  DAT_IB_START_COUNTERS_OP = 0x1a,
  DAT_IB_STOP_COUNTERS_OP = 0x1b,
  DAT_IB_UD_CM_FREE_OP = 0x1c,
  DAT_IB_UD_AH_FREE_OP = 0x1d,
  DAT_IB_OPEN_QUERY_OP = 0x1000,
  DAT_IB_CLOSE_QUERY_OP = 0x2000
} DAT_IB_OP;

/* What an extension event is about. */
typedef enum dat_ib_ext_type {
  DAT_IB_FETCH_AND_ADD = 0x0,         /* initiator's completion */
  DAT_IB_CMP_AND_SWAP = 0x1,          /* initiator's completion */
  DAT_IB_RDMA_WRITE_IMMED = 0x2,      /* initiator's completion */
  DAT_IB_RDMA_WRITE_IMMED_DATA = 0x3, /* target: data were written; val.immed is valid */
  DAT_IB_RECV_IMMED_DATA = 0x4,       /* target: a message with immediate data */
  DAT_IB_UD_CONNECT_REQUEST = 0x5,
  DAT_IB_UD_REMOTE_AH = 0x6,
  DAT_IB_UD_PASSIVE_REMOTE_AH = 0x7,
  DAT_IB_UD_SEND = 0x8,
  DAT_IB_UD_RECV = 0x9,
  DAT_IB_UD_CONNECT_REJECT = 0xa,
  DAT_IB_UD_CONNECT_ERROR = 0xb,
  DAT_IB_COLLECTIVE_CREATE_STATUS = 0xc,
  DAT_IB_COLLECTIVE_CREATE_DATA = 0xd,
  DAT_IB_COLLECTIVE_CLOCK_SET_STATUS = 0xe,
  DAT_IB_COLLECTIVE_SCATTER_STATUS = 0xf,
  DAT_IB_COLLECTIVE_SCATTERV_STATUS = 0x10,
  DAT_IB_COLLECTIVE_GATHER_STATUS = 0x11,
  DAT_IB_COLLECTIVE_GATHERV_STATUS = 0x12,
  DAT_IB_COLLECTIVE_ALLGATHER_STATUS = 0x13,
  DAT_IB_COLLECTIVE_ALLGATHERV_STATUS = 0x14,
  DAT_IB_COLLECTIVE_ALLTOALL_STATUS = 0x15,
  DAT_IB_COLLECTIVE_ALLTOALLV_STATUS = 0x16,
  DAT_IB_COLLECTIVE_REDUCE_STATUS = 0x17,
  DAT_IB_COLLECTIVE_ALLREDUCE_STATUS = 0x18,
  DAT_IB_COLLECTIVE_REDUCE_SCATTER_STATUS = 0x19,
  DAT_IB_COLLECTIVE_SCAN_STATUS = 0x1a,
  DAT_IB_COLLECTIVE_BROADCAST_STATUS = 0x1b,
  DAT_IB_COLLECTIVE_BARRIER_STATUS = 0x1c
} DAT_IB_EXT_TYPE;

typedef enum dat_ib_status {
  DAT_OP_SUCCESS = 0x0,
  DAT_IB_OP_ERR = 0x1,
  DAT_IB_COLL_COMP_ERR = 0x2
} DAT_IB_STATUS;

/* Return types of extended operations. */
typedef enum dat_ib_return {
  DAT_IB_ERR = 0x10000000,
  DAT_IB_COLLECTIVE_ERR = 0x10000001
} DAT_IB_RETURN;

/* Operations in DAT_DTO_COMPLETION_EVENT_DATA, after those of DAT_DTOS. */
typedef enum dat_ib_dtos {
  DAT_IB_DTO_RDMA_WRITE_IMMED = 0x8,
  DAT_IB_DTO_RECV_IMMED = 0x9,
  DAT_IB_DTO_FETCH_ADD = 0xa,
  DAT_IB_DTO_CMP_SWAP = 0xb,
  DAT_IB_DTO_RECV_MSG_IMMED = 0xc,
  DAT_IB_DTO_SEND_UD = 0xd,
  DAT_IB_DTO_RECV_UD = 0xe,
  DAT_IB_DTO_RECV_UD_IMMED = 0xf,
  DAT_IB_DTO_COLLECTIVES = 0x10
} DAT_IB_DTOS;

typedef enum dat_ib_handle_type {
  DAT_IB_HANDLE_TYPE_EXT = 0xc,
  DAT_IB_HANDLE_TYPE_COLLECTIVE = 0xd
} DAT_IB_HANDLE_TYPE;

typedef enum dat_ib_evd_extension_flags {
  DAT_IB_EVD_EXTENSION_FLAG = 0x200
} DAT_IB_EVD_EXTENSION_FLAGS;

/* One more privilege of memory: the peer may do atomics. */
typedef enum dat_ib_mem_priv_flags { DAT_IB_MEM_PRIV_REMOTE_ATOMIC = 0x40 } DAT_IB_MEM_PRIV_FLAGS;

/* One more service of an EP: unreliable datagrams. */
typedef enum dat_ib_service_type { DAT_IB_SERVICE_TYPE_UD = 0x1 } DAT_IB_SERVICE_TYPE;

/* ---- events ---- */

struct ibv_ah;

/* Where datagrams go. */
typedef struct dat_ib_addr_handle {
  struct ibv_ah* ah;
  DAT_UINT32 qpn; /* queue pair number */
  DAT_SOCK_ADDR6 ia_addr;
} DAT_IB_ADDR_HANDLE;

/* 32 bits that travel with a message; the same number in host order arrives. */
typedef struct dat_ib_immed_data {
  DAT_UINT32 data;
} DAT_IB_IMMED_DATA;

typedef DAT_HANDLE DAT_IB_COLLECTIVE_HANDLE;

typedef struct dat_ib_collective_event_data {
  DAT_HANDLE handle;
  DAT_CONTEXT context;
} DAT_IB_COLLECTIVE_EVENT_DATA;

/* Laid over DAT_EVENT.event_extension_data. On failure only status, and the event's EP and cookie,
 * are valid. */
typedef struct dat_ib_extension_event_data {
  DAT_IB_EXT_TYPE type;
  DAT_IB_STATUS status;
  union {
    DAT_IB_IMMED_DATA immed;
  } val;
  SOFTDAT_EXTENSION union {
    DAT_IB_ADDR_HANDLE remote_ah;      /* events of unreliable datagrams */
    DAT_IB_COLLECTIVE_EVENT_DATA coll; /* DAT_IB_COLLECTIVE_EVENT */
  };
  DAT_CONTEXT context;
} DAT_IB_EXTENSION_EVENT_DATA;

SOFTDAT_END_DECLS

/* ---- immediate data and atomics ---- */

/* These post a request on a connected EP, as dat_ep_post_rdma_write() does, and return what that
 * returns; DAT_NOT_IMPLEMENTED if the provider does not have it. They do not block; any thread. The
 * initiator's completion is a DAT_IB_DTO_EVENT on the request EVD, unless
 * DAT_COMPLETION_SUPPRESS_FLAG is set and it succeeds. DAT 2.0, IB extension 2.0.9. */

/* dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flags): RDMA write of `size`
 * local segments at lbuf to the remote segment rbuf, and 32 bits for the peer: its next receive is
 * consumed and completes as DAT_IB_DTO_EVENT with type DAT_IB_RDMA_WRITE_IMMED_DATA, the number in
 * val.immed.data, and the bytes written as length; the memory of that receive is not touched. The
 * data are visible before the event is. */
#define dat_ib_post_rdma_write_immed(ep, size, lbuf, cookie, rbuf, idata, flags)       \
  dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_RDMA_WRITE_IMMED_OP, (DAT_COUNT)(size), \
                   (DAT_LMR_TRIPLET*)(lbuf), (cookie), (DAT_RMR_TRIPLET*)(rbuf),       \
                   (DAT_UINT32)(idata), (DAT_COMPLETION_FLAGS)(flags))

/* dat_ib_post_fetch_and_add(ep, add_val, lbuf, cookie, rbuf, flags): adds a 64-bit number to the
 * peer's 64-bit number at rbuf, in one step with respect to all other atomics of that adapter. The
 * old value goes to the one local segment lbuf. Both segments are 8 bytes, the remote one aligned
 * to 8, in memory with DAT_IB_MEM_PRIV_REMOTE_ATOMIC. */
#define dat_ib_post_fetch_and_add(ep, add_val, lbuf, cookie, rbuf, flags)               \
  dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_FETCH_AND_ADD_OP, (DAT_UINT64)(add_val), \
                   (DAT_LMR_TRIPLET*)(lbuf), (cookie), (DAT_RMR_TRIPLET*)(rbuf),        \
                   (DAT_COMPLETION_FLAGS)(flags))

/* dat_ib_post_cmp_and_swap(ep, cmp_val, swap_val, lbuf, cookie, rbuf, flags): the same, storing
 * swap_val if the number equals cmp_val. */
#define dat_ib_post_cmp_and_swap(ep, cmp_val, swap_val, lbuf, cookie, rbuf, flags)     \
  dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_CMP_AND_SWAP_OP, (DAT_UINT64)(cmp_val), \
                   (DAT_UINT64)(swap_val), (DAT_LMR_TRIPLET*)(lbuf), (cookie),         \
                   (DAT_RMR_TRIPLET*)(rbuf), (DAT_COMPLETION_FLAGS)(flags))

/* ---- unreliable datagrams ---- */

/* EPs of DAT_IB_SERVICE_TYPE_UD exchange address handles by dat_ep_connect() and dat_cr_accept(),
 * and may do so with many peers. Messages may be lost. A receive has 40 bytes for a header before
 * the data. */

/* dat_ib_post_send_ud(ep, segments, lbuf, ah, cookie, flags): sends one datagram of `segments`
 * local segments at lbuf to the address handle ah, in any state of the EP. Returns as
 * dat_ep_post_send(); DAT_INVALID_HANDLE for an EP of another service, DAT_INVALID_PARAMETER | ARG4
 * for an address handle that is gone, DAT_LENGTH_ERROR for more than one datagram carries. Does not
 * block. */
#define dat_ib_post_send_ud(ep, segments, lbuf, ah, cookie, flags)                \
  dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_SEND_OP, (DAT_COUNT)(segments), \
                   (DAT_LMR_TRIPLET*)(lbuf), (DAT_IB_ADDR_HANDLE*)(ah), (cookie), \
                   (DAT_COMPLETION_FLAGS)(flags))
/* Receives are posted as for any EP. */
#define dat_ib_post_recv_ud dat_ep_post_recv
/* dat_ib_ud_cm_free(ep, cm), dat_ib_ud_ah_free(ep, ah): give back what a connection event brought:
 * the context of the exchange, with which its private data go, and the address handle. What is not
 * given back goes with the EP. Return DAT_SUCCESS; DAT_INVALID_HANDLE for an EP of another service
 * or without that context, DAT_INVALID_PARAMETER | ARG2 for an address handle that is gone. */
#define dat_ib_ud_cm_free(ep, cm) dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_CM_FREE_OP, (cm))
#define dat_ib_ud_ah_free(ep, ah) \
  dat_extension_op((DAT_EP_HANDLE)(ep), DAT_IB_UD_AH_FREE_OP, (DAT_IB_ADDR_HANDLE*)(ah))

/* ---- queries without an open ---- */

/* dat_ib_open_query(name, ia_handle, ia_mask, ia_attr, prov_mask, prov_attr): attributes of an IA
 * as dat_ia_query() tells them, without opening it; ia_handle [out] is good for
 * dat_ib_close_query() only, which releases the provider. Both return as dat_ia_openv() and
 * dat_ia_close() do, and may block as those. */
#define dat_ib_open_query(name, ia_handle, ia_mask, ia_attr, prov_mask, prov_attr)                 \
  dat_extension_op(DAT_HANDLE_NULL, DAT_IB_OPEN_QUERY_OP, (DAT_NAME_PTR)(name),                    \
                   (DAT_HANDLE*)(ia_handle), (DAT_IA_ATTR_MASK)(ia_mask), (DAT_IA_ATTR*)(ia_attr), \
                   (DAT_PROVIDER_ATTR_MASK)(prov_mask), (DAT_PROVIDER_ATTR*)(prov_attr))
#define dat_ib_close_query(ia_handle) \
  dat_extension_op((DAT_HANDLE)(ia_handle), DAT_IB_CLOSE_QUERY_OP)

/* ---- texts ---- */

SOFTDAT_BEGIN_DECLS

/* dat_strerror_extension(value, message): text of a DAT_IB_RETURN; *message is a static string,
 * never NULL. Returns DAT_SUCCESS, or DAT_INVALID_PARAMETER | ARG1 for a value that is not one (the
 * message says so). */
static __inline__ DAT_RETURN dat_strerror_extension(DAT_IB_RETURN value, const char** message) {
  switch ((int)value) {
    case DAT_SUCCESS:
      *message = "success";
      return DAT_SUCCESS;
    case DAT_IB_ERR:
      *message = "extended operation failed";
      return DAT_SUCCESS;
    case DAT_IB_COLLECTIVE_ERR:
      *message = "collective operation failed";
      return DAT_SUCCESS;
    default:
      *message = "not a return value of an extended operation";
      return DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG1;
  }
}

/* dat_strerror_ext_status(value, message): the same for the status in an extension event. */
static __inline__ DAT_RETURN dat_strerror_ext_status(DAT_IB_STATUS value, const char** message) {
  switch (value) {
    case DAT_OP_SUCCESS:
      *message = "success";
      return DAT_SUCCESS;
    case DAT_IB_OP_ERR:
      *message = "operation failed";
      return DAT_SUCCESS;
    case DAT_IB_COLL_COMP_ERR:
      *message = "collective operation completed with an error";
      return DAT_SUCCESS;
    default:
      *message = "not a status of an extension event";
      return DAT_CLASS_ERROR | DAT_INVALID_PARAMETER | DAT_INVALID_ARG1;
  }
}

SOFTDAT_END_DECLS

#include <dat2/api/ib_collective.h>
#include <dat2/api/ib_counters.h>

#endif /* _DAT_IB_EXTENSIONS_H_ */
