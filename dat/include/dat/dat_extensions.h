/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/dat_extensions.h: the extension interface for uDAPL 1.2 that was proposed in December 2005:
 * RDMA writes with immediate data, receives for them, atomics. A program includes it behind
 * dat/udat.h; types of events are in api/extension.h.
 *
 * RECONSTRUCTED: the prototypes of the proposal are lost. Names, operations, flags, attributes and
 * completions are those of its text; parameters follow the calls of uDAPL 1.2 that they extend. Do
 * not expect a program that was compiled against another reconstruction to run.
 *
 * Whether an IA has an extension, its named attributes tell: dat_ia_query() with
 * DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR. A call for which the IA's provider has no service, or
 * that has no extensions at all, returns DAT_NOT_IMPLEMENTED. */
#ifndef _DAT_EXTENSIONS_H_
#define _DAT_EXTENSIONS_H_

#include <dat/udat.h>

/* ---- names and values of attributes (2.2) ---- */

#define DAT_EXT_ATTR "DAT_EXTENSION_INTERFACE" /* extensions as such */
#define DAT_EXT_ATTR_RDMA_WRITE_IMMED "DAT_EXT_RDMA_WRITE_IMMED"
#define DAT_EXT_ATTR_RECV_IMMED "DAT_EXT_RECV_IMMED"
#define DAT_EXT_ATTR_RECV_IMMED_EVENT "DAT_EXT_RECV_IMMED_EVENT"     /* they come in the event */
#define DAT_EXT_ATTR_RECV_IMMED_PAYLOAD "DAT_EXT_RECV_IMMED_PAYLOAD" /* or in memory */
#define DAT_EXT_ATTR_FETCH_AND_ADD "DAT_EXT_FETCH_AND_ADD"
#define DAT_EXT_ATTR_CMP_AND_SWAP "DAT_EXT_CMP_AND_SWAP"
#define DAT_EXT_ATTR_TRUE "TRUE"
#define DAT_EXT_ATTR_FALSE "FALSE"

/* ---- calls (2.4) ----
 *
 * They post a request on a connected EP, as dat_ep_post_rdma_write() and dat_ep_post_recv() do, and
 * return what those return: the number of a wrong argument is its place in the macro. They do not
 * block; any thread. */

/* dat_ep_post_write_immed(ep, num_segments, local_iov, user_cookie, remote_iov, immediate,
 * ext_flags, completion_flags): RDMA write of num_segments local segments to the segment
 * remote_iov.
 *
 * @param immediate DAT_UINT32: with DAT_EXT_WRITE_IMMED_FLAG it is sent behind the write, and
 * consumes the peer's next receive. How it arrives, the named attributes of the IA tell:
 *   DAT_EXT_ATTR_RECV_IMMED_EVENT    in the event: the receive, of whatever kind, completes as
 *     DAT_EXTENSION_EVENT with type DAT_EXT_RECV_IMMED_DATA_EVENT on the EVD for receives; its
 *     memory is not touched
 *   DAT_EXT_ATTR_RECV_IMMED_PAYLOAD  as a message of 4 bytes, which are those of the number in the
 *     sender's memory. A receive of dat_ep_post_recv_immed() completes as DAT_EXTENSION_EVENT with
 *     type DAT_EXT_RECV_IMMED_DATA_PAYLOAD, as it does for any message of that size; another
 *     receive as a DTO
 * The data of the write are visible before either event is.
 *
 * The initiator's completion is a DAT_EXTENSION_EVENT with DAT_EXT_RDMA_WRITE_IMMED_STATUS on the
 * EVD for requests, also without the flag, when this is a write and nothing more.
 * @param ext_flags DAT_EXT_FLAGS. DAT_EXT_WRITE_CONFIRM_FLAG: completes when the data are in the
 * peer's memory, and no earlier; it may take one of the EP's outstanding reads.
 * @param completion_flags as of dat_ep_post_rdma_write(); DAT_COMPLETION_SOLICITED_WAIT_FLAG with
 * immediate data. */
#define dat_ep_post_write_immed(ep, num_segments, local_iov, user_cookie, remote_iov, immediate, \
                                ext_flags, completion_flags)                                     \
  dat_extension((DAT_EP_HANDLE)(ep), DAT_EXT_RDMA_WRITE_IMMED, (DAT_COUNT)(num_segments),        \
                (DAT_LMR_TRIPLET*)(local_iov), (user_cookie), (DAT_RMR_TRIPLET*)(remote_iov),    \
                (DAT_UINT32)(immediate), (DAT_EXT_FLAGS)(ext_flags),                             \
                (DAT_COMPLETION_FLAGS)(completion_flags))

/* dat_ep_post_recv_immed(ep, num_segments, local_iov, user_cookie, completion_flags): posts a
 * receive that has room for immediate data. It completes as DAT_EXTENSION_EVENT in each case: with
 * the two types above, or DAT_EXT_RECV_NO_IMMED for a message without them, or when nothing came
 * (the status is not success then). The local segments need 4 bytes for immediate data that come
 * as a message.
 *
 * Providers of 2.0 of other makes complete such a receive as a DTO when a message came, and a write
 * without DAT_EXT_WRITE_IMMED_FLAG too. */
#define dat_ep_post_recv_immed(ep, num_segments, local_iov, user_cookie, completion_flags) \
  dat_extension((DAT_EP_HANDLE)(ep), DAT_EXT_RECV_IMMED, (DAT_COUNT)(num_segments),        \
                (DAT_LMR_TRIPLET*)(local_iov), (user_cookie),                              \
                (DAT_COMPLETION_FLAGS)(completion_flags))

/* dat_ep_post_fetch_and_add(ep, add_value, local_iov, user_cookie, remote_iov, completion_flags):
 * adds a 64-bit number to the peer's 64-bit number at remote_iov, in one step; the old value goes
 * to the one segment local_iov. Both segments have 8 bytes at least (DAT_LENGTH_ERROR), of which
 * the first 8 are used; the remote one is aligned to 8, in memory that was registered or bound with
 * DAT_EXT_MEM_PRIV_REMOTE_ATOMIC. The completion is a DAT_EXTENSION_EVENT with
 * DAT_EXT_FETCH_AND_ADD_STATUS on the EVD for requests; the peer sees none. */
#define dat_ep_post_fetch_and_add(ep, add_value, local_iov, user_cookie, remote_iov,          \
                                  completion_flags)                                           \
  dat_extension((DAT_EP_HANDLE)(ep), DAT_EXT_FETCH_AND_ADD, (DAT_UINT64)(add_value),          \
                (DAT_LMR_TRIPLET*)(local_iov), (user_cookie), (DAT_RMR_TRIPLET*)(remote_iov), \
                (DAT_COMPLETION_FLAGS)(completion_flags))

/* dat_ep_post_cmp_and_swap(ep, cmp_value, swap_value, local_iov, user_cookie, remote_iov,
 * completion_flags): the same, storing swap_value if the number equals cmp_value;
 * DAT_EXT_CMP_AND_SWAP_STATUS. */
#define dat_ep_post_cmp_and_swap(ep, cmp_value, swap_value, local_iov, user_cookie, remote_iov, \
                                 completion_flags)                                              \
  dat_extension((DAT_EP_HANDLE)(ep), DAT_EXT_CMP_AND_SWAP, (DAT_UINT64)(cmp_value),             \
                (DAT_UINT64)(swap_value), (DAT_LMR_TRIPLET*)(local_iov), (user_cookie),         \
                (DAT_RMR_TRIPLET*)(remote_iov), (DAT_COMPLETION_FLAGS)(completion_flags))

SOFTDAT_BEGIN_DECLS

/* dat_extension(handle, op, ...): what the macros call, with a DAT_EXT_OP and the arguments behind
 * it. It asks whether the provider of the handle has the extension entry of its table, before it
 * calls that.
 *
 * @return what the operation returns; DAT_NOT_IMPLEMENTED without the entry or the operation;
 * DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_EP. */
DAT_EXPORT DAT_RETURN DAT_API dat_extension(DAT_HANDLE handle, int op, ...);

SOFTDAT_END_DECLS

#endif /* _DAT_EXTENSIONS_H_ */
