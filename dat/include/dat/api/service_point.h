/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/service_point.h: the accepting side: public and reserved service points, and connection
 * requests (DAT 1.2, connection management). Include dat/udat.h, not this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/service_point.h has the full text:
 * parameters, return values, threads, clauses. The words are 1.2's (dat/dat_error.h).
 * dat_cr_reject() takes no private data. */
#ifndef SOFTDAT_DAT_API_SERVICE_POINT_H_
#define SOFTDAT_DAT_API_SERVICE_POINT_H_

#include <dat/api/types.h>

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

DAT_EXPORT DAT_RETURN DAT_API dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                                             DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                             DAT_PSP_HANDLE* psp_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual,
                                                 DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                                                 DAT_PSP_HANDLE* psp_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_psp_query(DAT_PSP_HANDLE psp_handle,
                                            DAT_PSP_PARAM_MASK psp_param_mask,
                                            DAT_PSP_PARAM* psp_param);

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

DAT_EXPORT DAT_RETURN DAT_API dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                                             DAT_EP_HANDLE ep_handle, DAT_EVD_HANDLE evd_handle,
                                             DAT_RSP_HANDLE* rsp_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_rsp_query(DAT_RSP_HANDLE rsp_handle,
                                            DAT_RSP_PARAM_MASK rsp_param_mask,
                                            DAT_RSP_PARAM* rsp_param);

DAT_EXPORT DAT_RETURN DAT_API dat_rsp_free(DAT_RSP_HANDLE rsp_handle);

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

DAT_EXPORT DAT_RETURN DAT_API dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
                                           DAT_CR_PARAM* cr_param);

DAT_EXPORT DAT_RETURN DAT_API dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                                            DAT_COUNT private_data_size,
                                            const DAT_PVOID private_data);

DAT_EXPORT DAT_RETURN DAT_API dat_cr_reject(DAT_CR_HANDLE cr_handle);

DAT_EXPORT DAT_RETURN DAT_API dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_SERVICE_POINT_H_ */
