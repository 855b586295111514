/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/event.h: events: their numbers and what each carries (DAT 1.2, events). Include
 * dat/udat.h, not this file. */
#ifndef SOFTDAT_DAT_API_EVENT_H_
#define SOFTDAT_DAT_API_EVENT_H_

#include <dat/api/extension.h>
#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* What happened. Connection events go to the EP's connect EVD, asynchronous errors to the IA's
 * asynchronous EVD. */
typedef enum dat_event_number {
  DAT_DTO_COMPLETION_EVENT = 0x1,
  DAT_RMR_BIND_COMPLETION_EVENT = 0x1001,
  DAT_CONNECTION_REQUEST_EVENT = 0x2001,
  DAT_CONNECTION_EVENT_ESTABLISHED = 0x4001,
  DAT_CONNECTION_EVENT_PEER_REJECTED = 0x4002,     /* the program at the peer refused */
  DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x4003, /* nobody listens, or no room for requests */
  /* the other side gave up before accept was done */
  DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x4004,
  DAT_CONNECTION_EVENT_DISCONNECTED = 0x4005, /* orderly end */
  DAT_CONNECTION_EVENT_BROKEN = 0x4006,       /* end by an error */
  DAT_CONNECTION_EVENT_TIMED_OUT = 0x4007,    /* no answer in the time given to connect */
  DAT_CONNECTION_EVENT_UNREACHABLE = 0x4008,
  DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x8001, /* an event was lost; dat_handle is the EVD */
  DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x8002,
  DAT_ASYNC_ERROR_EP_BROKEN = 0x8003, /* also: all receives of an EP with an SRQ are done */
  DAT_ASYNC_ERROR_TIMED_OUT = 0x8004,
  DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x8005,
  DAT_SOFTWARE_EVENT = 0x10001,
  DAT_EXTENSION_EVENT = 0x20001 /* dat/dat_extensions.h */
} DAT_EVENT_NUMBER;

/* How a posted operation ended. Anything but success and flush breaks the connection. */
typedef enum dat_dto_completion_status {
  DAT_DTO_SUCCESS = 0x0,
  DAT_DTO_ERR_FLUSHED = 0x1,            /* the connection ended before the operation was done */
  DAT_DTO_ERR_LOCAL_LENGTH = 0x2,       /* the message is longer than the receive */
  DAT_DTO_ERR_LOCAL_EP = 0x3,           /* the EP is not set up for it */
  DAT_DTO_ERR_LOCAL_PROTECTION = 0x4,   /* local context, bounds, zone or privilege */
  DAT_DTO_ERR_BAD_RESPONSE = 0x5,       /* the peer broke the protocol */
  DAT_DTO_ERR_REMOTE_ACCESS = 0x6,      /* the peer refused: context, bounds, zone or privilege */
  DAT_DTO_ERR_REMOTE_RESPONDER = 0x7,   /* the peer could not finish it */
  DAT_DTO_ERR_TRANSPORT = 0x8,          /* the link failed */
  DAT_DTO_ERR_RECEIVER_NOT_READY = 0x9, /* the peer posted no receive for too long */
  DAT_DTO_ERR_PARTIAL_PACKET = 0xa,     /* the message was cut */
  DAT_RMR_OPERATION_FAILED = 0xb        /* the window could not be bound */
} DAT_DTO_COMPLETION_STATUS;

/* Older names. */
#define DAT_DTO_LENGTH_ERROR DAT_DTO_ERR_LOCAL_LENGTH
#define DAT_DTO_FAILURE DAT_DTO_ERR_FLUSHED
#define DAT_RMR_BIND_SUCCESS DAT_DTO_SUCCESS
#define DAT_RMR_BIND_FAILURE DAT_DTO_ERR_FLUSHED
#define DAT_RMR_BIND_COMPLETION_STATUS DAT_DTO_COMPLETION_STATUS

/* DAT_DTO_COMPLETION_EVENT. EP and cookie are always valid; the rest only if status is success. */
typedef struct dat_dto_completion_event_data {
  DAT_EP_HANDLE ep_handle;
  DAT_DTO_COOKIE user_cookie;
  DAT_DTO_COMPLETION_STATUS status;
  DAT_VLEN transfered_length; /* bytes (spelt so in the API) */
} DAT_DTO_COMPLETION_EVENT_DATA;

/* DAT_RMR_BIND_COMPLETION_EVENT. */
typedef struct dat_rmr_bind_completion_event_data {
  DAT_RMR_HANDLE rmr_handle;
  DAT_RMR_COOKIE user_cookie;
  DAT_DTO_COMPLETION_STATUS status;
} DAT_RMR_BIND_COMPLETION_EVENT_DATA;

/* The service point that a request came to. */
typedef union dat_sp_handle {
  DAT_RSP_HANDLE rsp_handle;
  DAT_PSP_HANDLE psp_handle;
} DAT_SP_HANDLE;

/* DAT_CONNECTION_REQUEST_EVENT. */
typedef struct dat_cr_arrival_event_data {
  DAT_SP_HANDLE sp_handle;
  DAT_IA_ADDRESS_PTR local_ia_address_ptr;
  DAT_CONN_QUAL conn_qual; /* of the service point */
  DAT_CR_HANDLE cr_handle;
} DAT_CR_ARRIVAL_EVENT_DATA;

/* DAT_CONNECTION_EVENT_*. Private data come with ESTABLISHED at the active side and with
 * PEER_REJECTED; else size 0. */
typedef struct dat_connection_event_data {
  DAT_EP_HANDLE ep_handle;
  DAT_COUNT private_data_size; /* bytes */
  DAT_PVOID private_data;      /* memory of the provider, valid until the EP is reset or freed */
} DAT_CONNECTION_EVENT_DATA;

/* DAT_ASYNC_ERROR_*. */
typedef struct dat_asynch_error_event_data {
  DAT_HANDLE dat_handle; /* the object it is about */
  DAT_COUNT reason;      /* one of the enums below, by the kind of that object */
} DAT_ASYNCH_ERROR_EVENT_DATA;

typedef enum ia_async_error_reason {
  DAT_IA_CATASTROPHIC_ERROR = 0x0,
  DAT_IA_OTHER_ERROR = 0x1
} DAT_IA_ASYNC_ERROR_REASON;
typedef enum ep_async_error_reason {
  DAT_EP_TRANSFER_TO_ERROR = 0x0,
  DAT_EP_OTHER_ERROR = 0x1,
  DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 0x2
} DAT_EP_ASYNC_ERROR_REASON;
typedef enum evd_async_error_reason {
  DAT_EVD_OVERFLOW_ERROR = 0x0,
  DAT_EVD_OTHER_ERROR = 0x1
} DAT_EVD_ASYNC_ERROR_REASON;
typedef enum srq_async_error_reason {
  DAT_SRQ_TRANSFER_TO_ERROR = 0x0,
  DAT_SRQ_OTHER_ERROR = 0x1,
  DAT_SRQ_LOW_WATERMARK_EVENT = 0x2
} DAT_SRQ_ASYNC_ERROR_REASON;
typedef enum lmr_async_error_reason { DAT_LMR_OTHER_ERROR = 0x0 } DAT_LMR_ASYNC_ERROR_REASON;
typedef enum rmr_async_error_reason { DAT_RMR_OTHER_ERROR = 0x0 } DAT_RMR_ASYNC_ERROR_REASON;
typedef enum pz_async_error_reason { DAT_PZ_OTHER_ERROR = 0x0 } DAT_PZ_ASYNC_ERROR_REASON;

/* DAT_SOFTWARE_EVENT: what the program gave to dat_evd_post_se(). */
typedef struct dat_software_event_data {
  DAT_PVOID pointer;
} DAT_SOFTWARE_EVENT_DATA;

/* DAT_EXTENSION_EVENT (dat/dat_extensions.h; reconstructed). The first three members lie where
 * those of a DTO completion do, and the whole is not longer, so that DAT_EVENT is no larger than
 * without extensions. EP, cookie and status are always valid; the rest only if status is success.
 */
typedef struct dat_extension_data {
  DAT_EP_HANDLE ep_handle;
  DAT_DTO_COOKIE user_cookie;
  DAT_DTO_COMPLETION_STATUS status;
  DAT_EXT_EVENT_TYPE type;
  DAT_UINT32 transfered_length; /* bytes written, or 8 of an atomic */
  union {
    DAT_IMMEDIATE_DATA immed; /* DAT_EXT_RECV_IMMED_DATA_EVENT */
  } val;
} DAT_EXTENSION_DATA;

typedef union dat_event_data {
  DAT_DTO_COMPLETION_EVENT_DATA dto_completion_event_data;
  DAT_RMR_BIND_COMPLETION_EVENT_DATA rmr_completion_event_data;
  DAT_CR_ARRIVAL_EVENT_DATA cr_arrival_event_data;
  DAT_CONNECTION_EVENT_DATA connect_event_data;
  DAT_ASYNCH_ERROR_EVENT_DATA asynch_error_event_data;
  DAT_SOFTWARE_EVENT_DATA software_event_data;
  DAT_EXTENSION_DATA extension_data;
} DAT_EVENT_DATA;

typedef struct dat_event {
  DAT_EVENT_NUMBER event_number;
  DAT_EVD_HANDLE evd_handle; /* where it came out */
  DAT_EVENT_DATA event_data;
} DAT_EVENT;

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_EVENT_H_ */
