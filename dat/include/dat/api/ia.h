/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/api/ia.h: interface adapters: open, query, close; the words that any object carries; the
 * registry as a program sees it; error texts. Include dat/udat.h, not this file.
 *
 * Each call works as the 2.0 call of the same name; dat2/api/ia.h has the full text: parameters,
 * return values, threads, clauses. The words are 1.2's (dat/dat_error.h). */
#ifndef SOFTDAT_DAT_API_IA_H_
#define SOFTDAT_DAT_API_IA_H_

#include <dat/api/attributes.h>
#include <dat/api/types.h>

SOFTDAT_BEGIN_DECLS

/* In: another open of this IA has the asynchronous EVD already. */
#define DAT_EVD_ASYNC_EXISTS ((DAT_EVD_HANDLE)0x1)
/* Out, from dat_ia_query(): the asynchronous EVD belongs to another open. */
#define DAT_EVD_OUT_OF_SCOPE ((DAT_EVD_HANDLE)0x2)

/* dat_ia_open(name, qlen, async_evd, ia): open with the API version and thread safety that this
 * program was compiled for; see dat_ia_openv(). */
#define dat_ia_open(name, qlen, async_evd, ia)                                          \
  dat_ia_openv((name), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, DAT_VERSION_MINOR, \
               DAT_THREADSAFE)

DAT_EXPORT DAT_RETURN DAT_API dat_ia_openv(const DAT_NAME_PTR ia_name, DAT_COUNT async_evd_min_qlen,
                                           DAT_EVD_HANDLE* async_evd_handle,
                                           DAT_IA_HANDLE* ia_handle, DAT_UINT32 dapl_major,
                                           DAT_UINT32 dapl_minor, DAT_BOOLEAN thread_safety);

DAT_EXPORT DAT_RETURN DAT_API dat_ia_query(DAT_IA_HANDLE ia_handle,
                                           DAT_EVD_HANDLE* async_evd_handle,
                                           DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR* ia_attr,
                                           DAT_PROVIDER_ATTR_MASK provider_attr_mask,
                                           DAT_PROVIDER_ATTR* provider_attr);

DAT_EXPORT DAT_RETURN DAT_API dat_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS close_flags);

DAT_EXPORT DAT_RETURN DAT_API dat_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context);

DAT_EXPORT DAT_RETURN DAT_API dat_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT* context);

DAT_EXPORT DAT_RETURN DAT_API dat_get_handle_type(DAT_HANDLE dat_handle,
                                                  DAT_HANDLE_TYPE* handle_type);

/* One IA that can be opened. */
typedef struct dat_provider_info {
  char ia_name[DAT_NAME_MAX_LENGTH]; /* what dat_ia_open() takes */
  DAT_UINT32 dapl_version_major;     /* version of the API */
  DAT_UINT32 dapl_version_minor;
  DAT_BOOLEAN is_thread_safe;
} DAT_PROVIDER_INFO;

DAT_EXPORT DAT_RETURN DAT_API dat_registry_list_providers(DAT_COUNT max_to_return,
                                                          DAT_COUNT* entries_returned,
                                                          DAT_PROVIDER_INFO** dat_provider_list);

DAT_EXPORT DAT_RETURN DAT_API dat_strerror(DAT_RETURN value, const char** major_message,
                                           const char** minor_message);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT_API_IA_H_ */
