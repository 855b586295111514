/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/dat_error.h: what a DAT call returns (DAT 1.2, return values).
 *
 * A DAT_RETURN is one 32-bit word: class in bits 31..30, type in bits 29..16, subtype in
 * bits 15..0. The constants below are types and subtypes WITHOUT class bits, so compare
 * `DAT_GET_TYPE(ret) == DAT_INVALID_STATE`, never `ret == DAT_INVALID_STATE`. Success is the word
 * 0. Programs should depend on types; subtypes explain. */
#ifndef _DAT_ERROR_H_
#define _DAT_ERROR_H_

#include <dat/dat_platform_specific.h>
#include <dat/udat_config.h>

SOFTDAT_BEGIN_DECLS

/* Classes. */
#define DAT_CLASS_ERROR 0x80000000
#define DAT_CLASS_WARNING 0x40000000
#define DAT_CLASS_SUCCESS 0x00000000

#define DAT_TYPE_MASK 0x3fff0000
#define DAT_SUBTYPE_MASK 0x0000ffff

/* Non-zero if the call did its work but has something to remark. */
#define DAT_IS_WARNING(status) ((DAT_UINT32)(status)&DAT_CLASS_WARNING)
/* The DAT_RETURN_TYPE in a return word. */
#define DAT_GET_TYPE(status) ((DAT_UINT32)(status)&DAT_TYPE_MASK)
/* The DAT_RETURN_SUBTYPE in a return word. */
#define DAT_GET_SUBTYPE(status) ((DAT_UINT32)(status)&DAT_SUBTYPE_MASK)

SOFTDAT_EXTENSION typedef enum dat_return_type {
  DAT_SUCCESS = 0x0,                    /* the call did what it says */
  DAT_ABORT = 0x10000,                  /* the object was destroyed under the call */
  DAT_CONN_QUAL_IN_USE = 0x20000,       /* another service point listens there */
  DAT_INSUFFICIENT_RESOURCES = 0x30000, /* a queue is full or an object limit is reached */
  DAT_INTERNAL_ERROR = 0x40000,         /* a defect of the library or provider */
  DAT_INVALID_HANDLE = 0x50000,         /* NULL, stale, or a handle of another kind */
  DAT_INVALID_PARAMETER = 0x60000,      /* subtype DAT_INVALID_ARGn: the n-th argument */
  DAT_INVALID_STATE = 0x70000,          /* the object is not in a state that allows the call */
  DAT_LENGTH_ERROR = 0x80000,           /* local and remote lengths do not fit each other */
  DAT_MODEL_NOT_SUPPORTED = 0x90000,    /* a combination or option the provider does not have */
  DAT_PROVIDER_NOT_FOUND = 0xa0000, /* no such IA name, version or thread safety in the registry */
  DAT_PRIVILEGES_VIOLATION = 0xb0000, /* the memory does not grant that kind of access */
  /* unknown memory context, or one of another protection zone */
  DAT_PROTECTION_VIOLATION = 0xc0000,
  DAT_QUEUE_EMPTY = 0xd0000,     /* no event (dequeue), or no trigger in time (CNO wait) */
  DAT_QUEUE_FULL = 0xe0000,      /* no room for a software event */
  DAT_TIMEOUT_EXPIRED = 0xf0000, /* not enough events in time */
  DAT_PROVIDER_ALREADY_REGISTERED = 0x100000, /* this name and version is in the registry */
  DAT_PROVIDER_IN_USE = 0x110000,             /* an IA of the provider is open */
  DAT_INVALID_ADDRESS = 0x120000,             /* a peer address that can not be used from here */
  DAT_INTERRUPTED_CALL = 0x130000,            /* a signal ended the wait */
  DAT_CONN_QUAL_UNAVAILABLE = 0x140000,       /* no free connection qualifier is left */
  /* The provider does not have this call. Both class bits are in it: compare the whole word, since
   * DAT_GET_TYPE() takes them off. */
  DAT_NOT_IMPLEMENTED = 0xffff0000
} DAT_RETURN_TYPE;

/* What every call returns: class | type | subtype. */
typedef DAT_UINT32 DAT_RETURN;

typedef enum dat_return_subtype {
  DAT_NO_SUBTYPE = 0x0,
  DAT_SUB_INTERRUPTED = 0x1, /* of DAT_INTERRUPTED_CALL */
  DAT_RESOURCE_MEMORY = 0x2, /* DAT_RESOURCE_*: what there was not enough of */
  DAT_RESOURCE_DEVICE = 0x3,
  DAT_RESOURCE_TEP = 0x4,  /* end points */
  DAT_RESOURCE_TEVD = 0x5, /* event dispatchers */
  DAT_RESOURCE_PROTECTION_DOMAIN = 0x6,
  DAT_RESOURCE_MEMORY_REGION = 0x7,
  DAT_RESOURCE_ERROR_HANDLER = 0x8,
  DAT_RESOURCE_CREDITS = 0x9,
  DAT_RESOURCE_SRQ = 0xa,
  DAT_INVALID_HANDLE_IA = 0xb, /* DAT_INVALID_HANDLE_*: the kind of handle that was expected */
  DAT_INVALID_HANDLE_EP = 0xc,
  DAT_INVALID_HANDLE_LMR = 0xd,
  DAT_INVALID_HANDLE_RMR = 0xe,
  DAT_INVALID_HANDLE_PZ = 0xf,
  DAT_INVALID_HANDLE_PSP = 0x10,
  DAT_INVALID_HANDLE_RSP = 0x11,
  DAT_INVALID_HANDLE_CR = 0x12,
  DAT_INVALID_HANDLE_CNO = 0x13,
  DAT_INVALID_HANDLE_EVD_CR = 0x14,
  DAT_INVALID_HANDLE_EVD_REQUEST = 0x15,
  DAT_INVALID_HANDLE_EVD_RECV = 0x16,
  DAT_INVALID_HANDLE_EVD_CONN = 0x17,
  DAT_INVALID_HANDLE_EVD_ASYNC = 0x18,
  DAT_INVALID_HANDLE_SRQ = 0x19,
  /* DAT_INVALID_HANDLEn: by position, where there are two of one kind */
  DAT_INVALID_HANDLE1 = 0x1a,
  DAT_INVALID_HANDLE2 = 0x1b,
  DAT_INVALID_HANDLE3 = 0x1c,
  DAT_INVALID_HANDLE4 = 0x1d,
  DAT_INVALID_HANDLE5 = 0x1e,
  DAT_INVALID_HANDLE6 = 0x1f,
  DAT_INVALID_HANDLE7 = 0x20,
  DAT_INVALID_HANDLE8 = 0x21,
  DAT_INVALID_HANDLE9 = 0x22,
  DAT_INVALID_HANDLE10 = 0x23,
  DAT_INVALID_ARG1 = 0x24, /* DAT_INVALID_ARGn: position of the bad argument, from 1 */
  DAT_INVALID_ARG2 = 0x25,
  DAT_INVALID_ARG3 = 0x26,
  DAT_INVALID_ARG4 = 0x27,
  DAT_INVALID_ARG5 = 0x28,
  DAT_INVALID_ARG6 = 0x29,
  DAT_INVALID_ARG7 = 0x2a,
  DAT_INVALID_ARG8 = 0x2b,
  DAT_INVALID_ARG9 = 0x2c,
  DAT_INVALID_ARG10 = 0x2d,
  DAT_INVALID_STATE_EP_UNCONNECTED = 0x2e, /* DAT_INVALID_STATE_EP_*: the state the EP was in */
  DAT_INVALID_STATE_EP_ACTCONNPENDING = 0x2f,
  DAT_INVALID_STATE_EP_PASSCONNPENDING = 0x30,
  DAT_INVALID_STATE_EP_TENTCONNPENDING = 0x31,
  DAT_INVALID_STATE_EP_CONNECTED = 0x32,
  DAT_INVALID_STATE_EP_DISCONNECTED = 0x33,
  DAT_INVALID_STATE_EP_RESERVED = 0x34,
  DAT_INVALID_STATE_EP_COMPLPENDING = 0x35,
  DAT_INVALID_STATE_EP_DISCPENDING = 0x36,
  DAT_INVALID_STATE_EP_PROVIDERCONTROL = 0x37,
  DAT_INVALID_STATE_EP_NOTREADY = 0x38, /* EP lacks its PZ or an EVD */
  DAT_INVALID_STATE_EP_RECV_WATERMARK = 0x39,
  DAT_INVALID_STATE_EP_PZ = 0x3a,
  DAT_INVALID_STATE_EP_EVD_REQUEST = 0x3b,
  DAT_INVALID_STATE_EP_EVD_RECV = 0x3c,
  DAT_INVALID_STATE_EP_EVD_CONNECT = 0x3d,
  DAT_INVALID_STATE_EP_UNCONFIGURED = 0x3e,
  DAT_INVALID_STATE_EP_UNCONFRESERVED = 0x3f,
  DAT_INVALID_STATE_EP_UNCONFPASSIVE = 0x40,
  DAT_INVALID_STATE_EP_UNCONFTENTATIVE = 0x41,
  DAT_INVALID_STATE_CNO_IN_USE = 0x42, /* an EVD refers to it or a thread waits on it */
  DAT_INVALID_STATE_CNO_DEAD = 0x43,
  DAT_INVALID_STATE_EVD_OPEN = 0x44,
  DAT_INVALID_STATE_EVD_ENABLED = 0x45,
  DAT_INVALID_STATE_EVD_DISABLED = 0x46,
  DAT_INVALID_STATE_EVD_WAITABLE = 0x47,
  DAT_INVALID_STATE_EVD_UNWAITABLE = 0x48,
  DAT_INVALID_STATE_EVD_IN_USE = 0x49, /* an EP, service point or IA feeds it */
  DAT_INVALID_STATE_EVD_CONFIG_NOTIFY = 0x4a,
  DAT_INVALID_STATE_EVD_CONFIG_SOLICITED = 0x4b,
  DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD = 0x4c,
  DAT_INVALID_STATE_EVD_WAITER = 0x4d, /* a thread waits on it */
  DAT_INVALID_STATE_EVD_ASYNC = 0x4e,
  DAT_INVALID_STATE_IA_IN_USE = 0x4f,  /* objects of the IA remain */
  DAT_INVALID_STATE_LMR_IN_USE = 0x50, /* a memory window is bound to it */
  DAT_INVALID_STATE_LMR_FREE = 0x51,
  DAT_INVALID_STATE_PZ_IN_USE = 0x52, /* an EP, LMR, RMR or SRQ belongs to it */
  DAT_INVALID_STATE_PZ_FREE = 0x53,
  DAT_INVALID_STATE_SRQ_OPERATIONAL = 0x54,
  DAT_INVALID_STATE_SRQ_ERROR = 0x55,
  DAT_INVALID_STATE_SRQ_IN_USE = 0x56, /* an EP uses it */
  DAT_PRIVILEGES_READ = 0x57,          /* DAT_PRIVILEGES_*: the privilege that is missing */
  DAT_PRIVILEGES_WRITE = 0x58,
  DAT_PRIVILEGES_RDMA_READ = 0x59,
  DAT_PRIVILEGES_RDMA_WRITE = 0x5a,
  DAT_PROTECTION_READ = 0x5b, /* DAT_PROTECTION_*: the access that was refused */
  DAT_PROTECTION_WRITE = 0x5c,
  DAT_PROTECTION_RDMA_READ = 0x5d,
  DAT_PROTECTION_RDMA_WRITE = 0x5e,
  DAT_INVALID_ADDRESS_UNSUPPORTED = 0x5f, /* address family */
  DAT_INVALID_ADDRESS_UNREACHABLE = 0x60, /* no route */
  DAT_INVALID_ADDRESS_MALFORMED = 0x61,   /* not an address */
  DAT_NAME_NOT_REGISTERED = 0x62,         /* no entry has this IA name */
  DAT_MAJOR_NOT_FOUND = 0x63,             /* the name is there, not with this major version */
  DAT_MINOR_NOT_FOUND = 0x64,             /* nor with this or a later minor version */
  DAT_THREAD_SAFETY_NOT_FOUND = 0x65      /* a thread-safe provider was asked for */
} DAT_RETURN_SUBTYPE;

/* Former name of the type. */
#define DAT_NAME_NOT_FOUND DAT_PROVIDER_NOT_FOUND

SOFTDAT_END_DECLS

#endif /* _DAT_ERROR_H_ */
