/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/extension.h: types of the extension interface of December 2005: operations, flags,
 * kinds of events. The data of an event are in api/event.h, the calls are in dat/dat_extensions.h.
 * Include dat/udat.h, not this file.
 *
 * RECONSTRUCTED: the proposal's structures and prototypes are lost, its text, its enums and its
 * tables are known. Sizes, the order of members and the number of the event are ours. */
#ifndef SOFTDAT_DAT_API_EXTENSION_H_
#define SOFTDAT_DAT_API_EXTENSION_H_

#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* Which operation (2.3.2). */
typedef enum dat_ext_op {
  DAT_EXT_RDMA_WRITE_IMMED,
  DAT_EXT_RECV_IMMED,
  DAT_EXT_FETCH_AND_ADD,
  DAT_EXT_CMP_AND_SWAP
} DAT_EXT_OP;

/* What an extension event is about (2.3.3). Their numbers follow from the proposal's order. */
typedef enum dat_ext_event_type {
  DAT_EXT_RDMA_WRITE_IMMED_STATUS, /* initiator: the write is done */
  DAT_EXT_RECV_NO_IMMED,           /* target: a message without it came, or nothing (see status) */
  DAT_EXT_RECV_IMMED_DATA_EVENT,   /* target: val.immed came, and is here */
  DAT_EXT_RECV_IMMED_DATA_PAYLOAD, /* target: it is in the memory of the receive, 4 bytes */
  DAT_EXT_FETCH_AND_ADD_STATUS,    /* initiator: the old value is in the local segment */
  DAT_EXT_CMP_AND_SWAP_STATUS      /* initiator: the old value is in the local segment */
} DAT_EXT_EVENT_TYPE;

/* Other spellings of the proposal's tables. */
#define DAT_EXT_FETCH_ADD_STATUS DAT_EXT_FETCH_AND_ADD_STATUS
#define DAT_EXT_CMP_SWAP_STATUS DAT_EXT_CMP_AND_SWAP_STATUS

/* Of dat_ep_post_write_immed() (2.3.4). */
typedef enum dat_ext_flags {
  DAT_EXT_WRITE_IMMED_FLAG = 0x1,  /* send the immediate data behind the write */
  DAT_EXT_WRITE_CONFIRM_FLAG = 0x2 /* do not complete before the peer has the data */
} DAT_EXT_FLAGS;

/* One more privilege of memory, for dat_lmr_create() and dat_rmr_bind(): the peer may do atomics.
 * Not of the proposal, which names no right for them: without one, all memory that a peer may read
 * and write would be open to its atomics too. It stands beside DAT_MEM_PRIV_FLAGS. */
typedef enum dat_ext_mem_priv_flags {
  DAT_EXT_MEM_PRIV_REMOTE_ATOMIC = 0x40
} DAT_EXT_MEM_PRIV_FLAGS;

/* 32 bits that travel with a write; the same number in host order arrives (2.3.5). */
typedef struct dat_immediate_data {
  DAT_UINT32 data;
} DAT_IMMEDIATE_DATA;

/* The name that the proposal's tables have for it. */
typedef DAT_IMMEDIATE_DATA DAT_RDMA_WRITE_IMMED_DATA;

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_EXTENSION_H_ */
