/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/types.h: the words that all parts of the API share: handles, contexts, cookies, flags,
 * addresses and memory triplets. Include dat/udat.h, not this file. */
#ifndef SOFTDAT_DAT_API_TYPES_H_
#define SOFTDAT_DAT_API_TYPES_H_

#include <dat/dat_error.h>
#include <dat/dat_platform_specific.h>
#include <dat/udat_config.h>

SOFTDAT_BEGIN_DECLS

/* ---- names and attributes ---- */

#define DAT_NAME_MAX_LENGTH 256 /* bytes, the terminating zero included */

typedef char* DAT_NAME_PTR;

/* A name/value pair of text, for attributes that only some providers or transports have. */
typedef struct dat_named_attr {
  const char* name;
  const char* value;
} DAT_NAMED_ATTR;

typedef enum dat_boolean { DAT_FALSE = 0x0, DAT_TRUE = 0x1 } DAT_BOOLEAN;

/* ---- handles ---- */

/* An object. An IA handle is a small integer of this process; all others are pointers of providers
 * of 1.2, or marks for objects behind the bridge: to be compared and passed on, never followed.
 * After the object is freed, every use of its handle returns DAT_INVALID_HANDLE. */
typedef DAT_PVOID DAT_HANDLE;
#define DAT_HANDLE_NULL ((DAT_HANDLE)NULL)

typedef DAT_HANDLE DAT_IA_HANDLE;  /* interface adapter */
typedef DAT_HANDLE DAT_PZ_HANDLE;  /* protection zone */
typedef DAT_HANDLE DAT_LMR_HANDLE; /* local memory region */
typedef DAT_HANDLE DAT_RMR_HANDLE; /* remote memory region: a memory window */
typedef DAT_HANDLE DAT_EP_HANDLE;  /* end point */
typedef DAT_HANDLE DAT_SRQ_HANDLE; /* shared receive queue */
typedef DAT_HANDLE DAT_EVD_HANDLE; /* event dispatcher */
typedef DAT_HANDLE DAT_CNO_HANDLE; /* consumer notification object */
typedef DAT_HANDLE DAT_PSP_HANDLE; /* public service point */
typedef DAT_HANDLE DAT_RSP_HANDLE; /* reserved service point */
typedef DAT_HANDLE DAT_CR_HANDLE;  /* connection request */

/* What dat_get_handle_type() answers. */
typedef enum dat_handle_type {
  DAT_HANDLE_TYPE_CR = 0x0,
  DAT_HANDLE_TYPE_EP = 0x1,
  DAT_HANDLE_TYPE_EVD = 0x2,
  DAT_HANDLE_TYPE_IA = 0x3,
  DAT_HANDLE_TYPE_LMR = 0x4,
  DAT_HANDLE_TYPE_PSP = 0x5,
  DAT_HANDLE_TYPE_PZ = 0x6,
  DAT_HANDLE_TYPE_RMR = 0x7,
  DAT_HANDLE_TYPE_RSP = 0x8,
  DAT_HANDLE_TYPE_CNO = 0x9,
  DAT_HANDLE_TYPE_SRQ = 0xa
} DAT_HANDLE_TYPE;

/* A word that belongs to the program. */
typedef union dat_context {
  DAT_PVOID as_ptr;
  DAT_UINT64 as_64;
  DAT_UVERYLONG as_index;
} DAT_CONTEXT;
typedef DAT_CONTEXT DAT_DTO_COOKIE; /* returned bit for bit in the completion of a data transfer */
typedef DAT_CONTEXT DAT_RMR_COOKIE; /* the same for a memory window bind */

/* ---- time ---- */

typedef DAT_UINT32 DAT_TIMEOUT; /* microseconds */
#define DAT_TIMEOUT_INFINITE ((DAT_TIMEOUT)0xffffffff)

/* ---- addresses ---- */

typedef DAT_SOCK_ADDR* DAT_IA_ADDRESS_PTR; /* a struct sockaddr_in or sockaddr_in6; see sa_family */
typedef DAT_UINT64 DAT_CONN_QUAL;          /* names a service point on an IA; all 64 bits count */
typedef DAT_UINT64 DAT_PORT_QUAL;          /* names an end of a connection on an IA */

/* ---- data transfer operations ---- */

/* Flags of one post, and (as EP attributes) what posts of a direction may use. */
typedef enum dat_completion_flags {
  DAT_COMPLETION_DEFAULT_FLAG = 0x0, /* an event that notifies */
  /* no event if it succeeds; failures and flushes always give one */
  DAT_COMPLETION_SUPPRESS_FLAG = 0x1,
  DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x2, /* the peer's matching receive notifies */
  /* an event that wakes nobody; only if the EP attribute allows */
  DAT_COMPLETION_UNSIGNALLED_FLAG = 0x4,
  DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x8, /* start after all earlier RDMA reads of this EP */
  DAT_COMPLETION_EVD_THRESHOLD_FLAG = 0x10 /* EP attribute only: waiters wake by threshold */
} DAT_COMPLETION_FLAGS;

/* Is the array of segments of a post the program's again when the post returns? */
typedef enum dat_iov_ownership {
  DAT_IOV_CONSUMER = 0x0,       /* yes, at once */
  DAT_IOV_PROVIDER_NOMOD = 0x1, /* no, only at completion; it comes back unchanged */
  DAT_IOV_PROVIDER_MOD = 0x2    /* no, and the provider may change it */
} DAT_IOV_OWNERSHIP;

/* ---- connections ---- */

/* Quality of service; bits. Best effort is what every provider has. */
typedef enum dat_qos {
  DAT_QOS_BEST_EFFORT = 0x0,
  DAT_QOS_HIGH_THROUGHPUT = 0x1,
  DAT_QOS_LOW_LATENCY = 0x2,
  DAT_QOS_ECONOMY = 0x4,
  DAT_QOS_PREMIUM = 0x8
} DAT_QOS;

typedef enum dat_connect_flags {
  DAT_CONNECT_DEFAULT_FLAG = 0x0,
  DAT_CONNECT_MULTIPATH_FLAG = 0x1
} DAT_CONNECT_FLAGS;

typedef enum dat_close_flags {
  DAT_CLOSE_ABRUPT_FLAG = 0x0,  /* now; what is outstanding is flushed */
  DAT_CLOSE_GRACEFUL_FLAG = 0x1 /* finish what was posted (EP); refuse if objects remain (IA) */
} DAT_CLOSE_FLAGS;
#define DAT_CLOSE_DEFAULT DAT_CLOSE_ABRUPT_FLAG

/* ---- memory ---- */

typedef DAT_UINT32 DAT_LMR_CONTEXT; /* names local memory in a local segment */
typedef DAT_UINT32 DAT_RMR_CONTEXT; /* names memory to the peer in an RDMA */
typedef DAT_UINT64 DAT_VLEN;        /* bytes */
typedef DAT_UINT64 DAT_VADDR;       /* virtual address, or offset in a zero-based region */

/* One piece of local memory of a data transfer. 2.0 has the members in another order. */
typedef struct dat_lmr_triplet {
  DAT_LMR_CONTEXT lmr_context;
  DAT_UINT32 pad;
  DAT_VADDR virtual_address;
  DAT_VLEN segment_length;
} DAT_LMR_TRIPLET;

/* The remote memory of an RDMA, as the peer described it. 2.0 has the members in another order, and
 * calls the address virtual_address. */
typedef struct dat_rmr_triplet {
  DAT_RMR_CONTEXT rmr_context;
  DAT_UINT32 pad;
  DAT_VADDR target_address;
  DAT_VLEN segment_length;
} DAT_RMR_TRIPLET;

/* Kinds of access that a region or window grants; bits. */
typedef enum dat_mem_priv_flags {
  DAT_MEM_PRIV_NONE_FLAG = 0x0,
  DAT_MEM_PRIV_LOCAL_READ_FLAG = 0x1,    /* sends and RDMA writes from it */
  DAT_MEM_PRIV_REMOTE_READ_FLAG = 0x2,   /* RDMA reads by the peer */
  DAT_MEM_PRIV_LOCAL_WRITE_FLAG = 0x10,  /* receives and RDMA reads into it */
  DAT_MEM_PRIV_REMOTE_WRITE_FLAG = 0x20, /* RDMA writes by the peer */
  DAT_MEM_PRIV_ALL_FLAG = 0x33
} DAT_MEM_PRIV_FLAGS;
#define DAT_MEM_PRIV_READ_FLAG (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG)
#define DAT_MEM_PRIV_WRITE_FLAG (DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)

/* ---- special numbers ---- */

#define DAT_WATERMARK_INFINITE ((DAT_COUNT)-1) /* no watermark */
#define DAT_HW_DEFAULT DAT_WATERMARK_INFINITE
#define DAT_SRQ_LW_DEFAULT 0              /* low watermark off */
#define DAT_VALUE_UNKNOWN ((DAT_COUNT)-2) /* a count that the provider does not keep */

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_TYPES_H_ */
