/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/service_point.h: the accepting side: public, reserved and common service points, and
 * connection requests (DAT 2.0, connection management). Include dat2/udat.h, not this file. */
#ifndef SOFTDAT_DAT2_API_SERVICE_POINT_H_
#define SOFTDAT_DAT2_API_SERVICE_POINT_H_

#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

/* ---- public service point: many requests ---- */

/* Who brings the EP of an accepted request? */
typedef enum dat_psp_flags {
  DAT_PSP_CONSUMER_FLAG = 0x0, /* the program, at accept */
  DAT_PSP_PROVIDER_FLAG = 0x1  /* the provider, with the request */
} DAT_PSP_FLAGS;

typedef enum dat_psp_param_mask {
  DAT_PSP_FIELD_IA_HANDLE = 0x1,
  DAT_PSP_FIELD_CONN_QUAL = 0x2,
  DAT_PSP_FIELD_EVD_HANDLE = 0x4,
  DAT_PSP_FIELD_PSP_FLAGS = 0x8,
  DAT_PSP_FIELD_ALL = 0xf
} DAT_PSP_PARAM_MASK;

typedef struct dat_psp_param {
  DAT_IA_HANDLE ia_handle;
  DAT_CONN_QUAL conn_qual;
  DAT_EVD_HANDLE evd_handle;
  DAT_PSP_FLAGS psp_flags;
} DAT_PSP_PARAM;

/* Makes a public service point (PSP) and listens: a peer may connect as soon as this returns.
 * Each request becomes a DAT_CONNECTION_REQUEST_EVENT; those for which the EVD has no room are
 * rejected, so its length is the backlog.
 *
 * @param conn_qual where to listen, 64 bits.
 * @param evd_handle gets the requests; made with DAT_EVD_CR_FLAG.
 * @param psp_flags DAT_PSP_CONSUMER_FLAG: the program brings an EP at accept.
 *     DAT_PSP_PROVIDER_FLAG: each request brings a new EP without zone and EVDs, to be
 *     completed by dat_ep_modify().
 * @param psp_handle [out] the service point.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA, INVALID_HANDLE_EVD_CR)
 *     DAT_INVALID_PARAMETER (ARG4: flags; ARG5: NULL)
 *     DAT_CONN_QUAL_IN_USE (in this or another process)
 *     DAT_MODEL_NOT_SUPPORTED (flags; see the attribute ep_creator)
 *     DAT_INSUFFICIENT_RESOURCES
 *
 * May block for the time of a few system calls. Any thread. DAT 2.0, PSP create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                                             DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                             DAT_PSP_HANDLE* psp_handle);

/* As dat_psp_create(), with a free qualifier of the provider's choice.
 *
 * @param conn_qual [out] where it listens.
 * @param evd_handle,psp_flags,psp_handle as there.
 * @return as dat_psp_create(), with DAT_INVALID_PARAMETER (ARG2: NULL);
 *     DAT_CONN_QUAL_UNAVAILABLE (none is free)
 *
 * May block for the time of a few system calls. Any thread. DAT 2.0, PSP create any.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual,
                                                 DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                                 DAT_PSP_HANDLE* psp_handle);

/* Reads the parameters of a public service point.
 *
 * @param psp_param_mask DAT_PSP_FIELD_* that are wanted.
 * @param psp_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, PSP query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp_handle,
                                            DAT_PSP_PARAM_MASK psp_param_mask,
                                            DAT_PSP_PARAM* psp_param);

/* Ends listening and destroys the service point. Requests that came before can still be
 * answered; connections stay.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, PSP free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_psp_free(DAT_PSP_HANDLE psp_handle);

/* ---- reserved service point: one request, for one EP ---- */

typedef enum dat_rsp_param_mask {
  DAT_RSP_FIELD_IA_HANDLE = 0x1,
  DAT_RSP_FIELD_CONN_QUAL = 0x2,
  DAT_RSP_FIELD_EVD_HANDLE = 0x4,
  DAT_RSP_FIELD_EP_HANDLE = 0x8,
  DAT_RSP_FIELD_ALL = 0xf
} DAT_RSP_PARAM_MASK;

typedef struct dat_rsp_param {
  DAT_IA_HANDLE ia_handle;
  DAT_CONN_QUAL conn_qual;
  DAT_EVD_HANDLE evd_handle;
  DAT_EP_HANDLE ep_handle;
} DAT_RSP_PARAM;

/* Makes a reserved service point (RSP): it takes one request, for one EP, and then listens no
 * more.
 *
 * @param conn_qual where to listen, 64 bits.
 * @param ep_handle the EP: UNCONNECTED, becomes RESERVED. DAT_HANDLE_NULL: the provider
 *     brings one.
 * @param evd_handle gets the request; made with DAT_EVD_CR_FLAG. The event names this RSP.
 * @param rsp_handle [out] the service point.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA, INVALID_HANDLE_EP, INVALID_HANDLE_EVD_CR)
 *     DAT_INVALID_STATE (INVALID_STATE_EP_*)
 *     DAT_INVALID_PARAMETER (ARG5: NULL)
 *     DAT_CONN_QUAL_IN_USE, DAT_MODEL_NOT_SUPPORTED, DAT_INSUFFICIENT_RESOURCES
 *
 * May block for the time of a few system calls. Any thread. DAT 2.0, RSP create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                                             DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
                                             DAT_RSP_HANDLE* rsp_handle);

/* Reads the parameters of a reserved service point.
 *
 * @param rsp_param_mask DAT_RSP_FIELD_* that are wanted.
 * @param rsp_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, RSP query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp_handle,
                                            DAT_RSP_PARAM_MASK rsp_param_mask,
                                            DAT_RSP_PARAM* rsp_param);

/* Destroys the service point, before or after its request. Before: the EP is UNCONNECTED again.
 * After: the request and the EP stay as they are.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, RSP free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp_handle);

/* ---- common service point: a socket address instead of a qualifier ---- */

typedef enum dat_csp_param_mask {
  DAT_CSP_FIELD_IA_HANDLE = 0x1,
  DAT_CSP_FIELD_COMM = 0x2,
  DAT_CSP_FIELD_IA_ADDRESS = 0x4,
  DAT_CSP_FIELD_EVD_HANDLE = 0x8,
  DAT_CSP_FIELD_ALL = 0xf
} DAT_CSP_PARAM_MASK;

typedef struct dat_csp_param {
  DAT_IA_HANDLE ia_handle;
  DAT_COMM* comm;
  DAT_IA_ADDRESS_PTR address_ptr;
  DAT_EVD_HANDLE evd_handle;
} DAT_CSP_PARAM;

/* Makes a common service point (CSP): listens at a socket address, port included, so that it
 * shares its name space with sockets. Requests arrive as at a PSP with DAT_PSP_CONSUMER_FLAG.
 *
 * @param comm {domain, type, protocol} as for socket(2).
 * @param ia_address the address.
 * @param evd_handle gets the requests; made with DAT_EVD_CR_FLAG.
 * @param csp_handle [out] the service point.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA, INVALID_HANDLE_EVD_CR)
 *     DAT_INVALID_PARAMETER (ARG2, ARG3, ARG5: NULL)
 *     DAT_PORT_IN_USE, DAT_COMM_NOT_SUPPORTED, DAT_INVALID_ADDRESS
 *     DAT_MODEL_NOT_SUPPORTED, DAT_INSUFFICIENT_RESOURCES
 *
 * May block for the time of a few system calls. Any thread. DAT 2.0, CSP create.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM* comm,
                                             DAT_IA_ADDRESS_PTR ia_address,
                                             DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE* csp_handle);

/* Reads the parameters of a common service point.
 *
 * @param csp_param_mask DAT_CSP_FIELD_* that are wanted.
 * @param csp_param [out] the parameters.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE;
 *     DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, CSP query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_csp_query(DAT_CSP_HANDLE csp_handle,
                                            DAT_CSP_PARAM_MASK csp_param_mask,
                                            DAT_CSP_PARAM* csp_param);

/* Ends listening and destroys the service point. Requests that came before can still be
 * answered; connections stay.
 *
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE; DAT_MODEL_NOT_SUPPORTED
 *
 * Does not block. Any thread. DAT 2.0, CSP free.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_csp_free(DAT_CSP_HANDLE csp_handle);

/* ---- connection request ---- */

typedef enum dat_cr_param_mask {
  DAT_CR_FIELD_REMOTE_IA_ADDRESS_PTR = 0x1,
  DAT_CR_FIELD_REMOTE_PORT_QUAL = 0x2,
  DAT_CR_FIELD_PRIVATE_DATA_SIZE = 0x4,
  DAT_CR_FIELD_PRIVATE_DATA = 0x8,
  DAT_CR_FIELD_LOCAL_EP_HANDLE = 0x10,
  DAT_CR_FIELD_ALL = 0x1f
} DAT_CR_PARAM_MASK;

typedef struct dat_cr_param {
  DAT_IA_ADDRESS_PTR remote_ia_address_ptr;
  DAT_PORT_QUAL remote_port_qual;
  DAT_COUNT private_data_size; /* bytes */
  /* memory of the request; may be written to, and given back in accept or reject */
  DAT_PVOID private_data;
  DAT_EP_HANDLE local_ep_handle; /* the EP that the service point brought, or NULL */
} DAT_CR_PARAM;

/* Reads a connection request (CR): who asks, and the private data.
 *
 * @param cr_param_mask DAT_CR_FIELD_* that are wanted.
 * @param cr_param [out] the parameters; pointers are valid until the request is accepted,
 *     rejected or handed off.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: mask; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, CR query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
                                           DAT_CR_PARAM* cr_param);

/* Accepts a request; the CR is gone. The outcome is one event on the EP's connect EVD:
 * DAT_CONNECTION_EVENT_ESTABLISHED, or DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR if the
 * other side gave up meanwhile. Requests can be posted on the EP only after it is established.
 *
 * @param ep_handle the EP: UNCONNECTED, with zone and EVDs; DAT_HANDLE_NULL if the request
 *     brought its own.
 * @param private_data_size bytes, at most the attribute max_private_data_size.
 * @param private_data for the other side; copied; may be that of the CR itself; may be NULL
 *     if the size is 0.
 * @return DAT_SUCCESS
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_CR; INVALID_HANDLE_EP: also when none is given and
 *         none was brought, or both)
 *     DAT_INVALID_PARAMETER (ARG3: size; ARG4: NULL)
 *     DAT_INVALID_STATE (INVALID_STATE_EP_*, INVALID_STATE_EP_NOTREADY: zone or EVD
 *         missing)
 *     DAT_INSUFFICIENT_RESOURCES
 *
 * After a failure request and EP are as before. Does not block. Any thread. DAT 2.0, CR accept.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                                            DAT_COUNT private_data_size,
                                            const DAT_PVOID private_data);

/* Refuses a request; the CR is gone. An EP that came with it goes back: that of an RSP is
 * UNCONNECTED, one of the provider's is destroyed. The other side sees
 * DAT_CONNECTION_EVENT_PEER_REJECTED.
 *
 * @param private_data_size bytes, at most the attribute max_private_data_size.
 * @param private_data for the other side; copied; may be NULL if the size is 0.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: size; ARG3: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, CR reject.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size,
                                            const DAT_PVOID private_data);

/* Passes a request on to another service point of this host; the CR is gone here, and the other
 * side does not notice.
 *
 * @param handoff qualifier of the other service point.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: nobody listens there);
 *     DAT_INVALID_HANDLE; DAT_NOT_IMPLEMENTED
 *
 * Does not block. Any thread. DAT 2.0, CR handoff.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_SERVICE_POINT_H_ */
