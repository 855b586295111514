/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/api/ia.h: interface adapters: open, query, close; the words that any object carries; the
 * registry as a program sees it; error texts; the extension entry. Include dat2/udat.h, not this
 * file. */
#ifndef SOFTDAT_DAT2_API_IA_H_
#define SOFTDAT_DAT2_API_IA_H_

#include <dat2/api/attributes.h>
#include <dat2/api/types.h>

SOFTDAT_BEGIN_DECLS

/* In: another open of this IA has the asynchronous EVD already. */
#define DAT_EVD_ASYNC_EXISTS ((DAT_EVD_HANDLE)0x1)
/* Out, from dat_ia_query(): the asynchronous EVD belongs to another open. */
#define DAT_EVD_OUT_OF_SCOPE ((DAT_EVD_HANDLE)0x2)

/* dat_ia_open(name, qlen, async_evd, ia): open with the API version and thread safety that this
 * program was compiled for; see dat_ia_openv().
 */
#define dat_ia_open(name, qlen, async_evd, ia)                                          \
  dat_ia_openv((name), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, DAT_VERSION_MINOR, \
               DAT_THREADSAFE)

/* Opens an interface adapter (IA) and makes the first object of the program: everything else
 * belongs to an IA. Several opens of one name are independent of each other. The registry looks
 * for the name, in this order: providers that registered themselves, the dat.conf file
 * (DAT_OVERRIDE, else /etc/dat.conf), then what the providers beside the library offer.
 * Programs call dat_ia_open().
 *
 * @param ia_name name of the adapter, for example "softnet-lo"; less than
 *     DAT_NAME_MAX_LENGTH bytes.
 * @param async_evd_min_qlen events that a new asynchronous EVD must hold at least; > 0.
 * @param async_evd_handle [in,out] in: DAT_HANDLE_NULL to have an asynchronous EVD made,
 *     and out: that EVD; in: an asynchronous EVD of an earlier open of the same provider, to
 *     share it; in: DAT_EVD_ASYNC_EXISTS if an earlier open takes care of these events.
 * @param ia_handle [out] the open adapter: a small integer, not a pointer.
 * @param dapl_major,dapl_minor version of the API; an entry of the same minor version is
 *     preferred to one of a greater.
 * @param thread_safety DAT_TRUE: only a provider that is registered as thread safe will do.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG1: name is NULL or too long; ARG2: queue length; ARG3:
 *         async_evd_handle is NULL)
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA: ia_handle is NULL; INVALID_HANDLE_EVD_ASYNC)
 *     DAT_PROVIDER_NOT_FOUND (NAME_NOT_REGISTERED, MAJOR_NOT_FOUND, MINOR_NOT_FOUND,
 *         THREAD_SAFETY_NOT_FOUND)
 *     DAT_INSUFFICIENT_RESOURCES, DAT_INTERNAL_ERROR (the adapter can not be opened; see
 *         softdat_last_reason())
 *     DAT_INVALID_STATE (the registry is shut down)
 *
 * May block: it may load a library and bring up the adapter. Any thread. DAT 2.0, IA open.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ia_openv(const DAT_NAME_PTR ia_name, DAT_COUNT async_evd_min_qlen,
                                           DAT_EVD_HANDLE* async_evd_handle,
                                           DAT_IA_HANDLE* ia_handle, DAT_UINT32 dapl_major,
                                           DAT_UINT32 dapl_minor, DAT_BOOLEAN thread_safety);

/* Tells what the adapter and its provider can do, and which asynchronous EVD the open has.
 *
 * @param async_evd_handle [out] the asynchronous EVD, or DAT_EVD_OUT_OF_SCOPE if it belongs
 *     to another open; may be NULL.
 * @param ia_attr_mask members of ia_attr that are wanted, DAT_IA_FIELD_*.
 * @param ia_attr [out] attributes of the adapter; may be NULL if the mask is 0.
 * @param provider_attr_mask members of provider_attr that are wanted, DAT_PROVIDER_FIELD_*.
 * @param provider_attr [out] attributes of the provider; may be NULL if the mask is 0.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG3, ARG5: unknown mask bit; ARG4, ARG6: NULL with a mask
 *         that is not 0)
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA)
 *
 * Pointers in the results are valid until the IA is closed. Does not block. Any thread. DAT
 * 2.0, IA query.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ia_query(DAT_IA_HANDLE ia_handle,
                                           DAT_EVD_HANDLE* async_evd_handle,
                                           DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR* ia_attr,
                                           DAT_PROVIDER_ATTR_MASK provider_attr_mask,
                                           DAT_PROVIDER_ATTR* provider_attr);

/* Closes an open of an adapter.
 *
 * @param close_flags DAT_CLOSE_ABRUPT_FLAG (the default): destroys all objects of this
 *     open, disconnects its EPs, ends waits on its EVDs with DAT_ABORT and waits on its CNOs
 *     with a NULL EVD; an asynchronous EVD that was passed in at open stays.
 *     DAT_CLOSE_GRACEFUL_FLAG: closes only if the program has freed all its objects; the
 *     asynchronous EVD that open made does not count.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG2: flags)
 *     DAT_INVALID_STATE (INVALID_STATE_IA_IN_USE: graceful, and objects remain)
 *     DAT_INVALID_HANDLE (INVALID_HANDLE_IA; also when it is closed twice)
 *
 * May block: it waits for threads of the provider. Any thread. From a CNO agent it does not block:
 * the IA and its handles are dead when it returns, and what is left goes when the calls below the
 * agent have returned (DAT_INSUFFICIENT_RESOURCES, and nothing has happened, when no thread can be
 * started for that). DAT 2.0, IA close.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_ia_close(DAT_IA_HANDLE ia_handle, DAT_CLOSE_FLAGS close_flags);

/* Attaches a word of the program to an object of any kind.
 *
 * @param context the word; the object starts with NULL.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE
 *
 * Does not block. Any thread; the last of several calls at once wins. DAT 2.0, consumer
 * context.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context);

/* Reads the word that dat_set_consumer_context() attached.
 *
 * @param context [out] the word.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, consumer context.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT* context);

/* Tells which kind of object a handle names.
 *
 * @param handle_type [out] the kind.
 * @return DAT_SUCCESS; DAT_INVALID_PARAMETER (ARG2: NULL); DAT_INVALID_HANDLE
 *
 * Does not block. Any thread. DAT 2.0, handle type.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_get_handle_type(DAT_HANDLE dat_handle,
                                                  DAT_HANDLE_TYPE* handle_type);

/* One IA that can be opened. */
typedef struct dat_provider_info {
  char ia_name[DAT_NAME_MAX_LENGTH]; /* what dat_ia_open() takes */
  DAT_UINT32 dapl_version_major;     /* version of the API */
  DAT_UINT32 dapl_version_minor;
  DAT_BOOLEAN is_thread_safe;
} DAT_PROVIDER_INFO;

/* Lists the IA names that can be opened, each once: registered providers, dat.conf, and what
 * the providers beside the library offer.
 *
 * @param max_to_return length of the array.
 * @param entries_returned [out] entries filled in; if max_to_return is 0, how many there
 *     are.
 * @param dat_provider_list [out] array of pointers to memory of the caller, one
 *     DAT_PROVIDER_INFO each; may be NULL if max_to_return is 0.
 * @return DAT_SUCCESS (also when there are more entries than fit)
 *     DAT_INVALID_PARAMETER (ARG1: max_to_return is 0, with the total in entries_returned,
 *         or negative; ARG2, ARG3: NULL)
 *
 * May block: it may read dat.conf and load libraries. Any thread. DAT 2.0, registry list
 * providers.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_list_providers(DAT_COUNT max_to_return,
                                                          DAT_COUNT* entries_returned,
                                                          DAT_PROVIDER_INFO** dat_provider_list);

/* Do two IA names reach the same fabric, so that one can take over from the other? */
typedef enum dat_ha_relationship {
  DAT_HA_FALSE = 0x0,
  DAT_HA_TRUE = 0x1,
  DAT_HA_UNKNOWN = 0x2,
  DAT_HA_CONFLICTING = 0x3,
  DAT_HA_EXTENSION_BASE = 0x4
} DAT_HA_RELATIONSHIP;

/* Tells whether two IA names reach the same fabric, so that a connection of one could move to
 * the other.
 *
 * @param name1,name2 names of adapters.
 * @param relation [out] the answer; DAT_HA_UNKNOWN if neither provider can tell.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG1, ARG2: NULL or too long; ARG3: NULL)
 *     DAT_PROVIDER_NOT_FOUND (NAME_NOT_REGISTERED)
 *
 * May block: it may load libraries. Any thread. DAT 2.0, high availability.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_providers_related(const DAT_NAME_PTR name1,
                                                             const DAT_NAME_PTR name2,
                                                             DAT_HA_RELATIONSHIP* relation);

/* Names of the type and the subtype in a return word.
 *
 * @param value what a DAT call returned; the class bits do not matter.
 * @param major_message [out] name of the type, for example "DAT_INVALID_STATE".
 * @param minor_message [out] name of the subtype, or "" if it is 0.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG1: unknown type or subtype: both texts are set all the
 *         same; ARG2, ARG3: NULL)
 *
 * The texts are static. Needs no open adapter. Does not block. Any thread. DAT 2.0, strerror.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_strerror(DAT_RETURN value, const char** major_message,
                                           const char** minor_message);

#ifdef DAT_EXTENSIONS
/* The one entry of all extended operations. The macros of an extension's header call it with
 * the right arguments.
 *
 * @param handle the object that the operation works on. For an operation with the bit
 *     DAT_OPEN_EXTENSION_BASE it is NULL, and the first further argument is the name of an IA,
 *     whose provider is loaded for it; an operation with the bit DAT_CLOSE_EXTENSION_BASE ends
 *     that.
 * @param operation its number.
 * @return what the operation says; DAT_NOT_IMPLEMENTED if the provider has no such
 *     operation; DAT_INVALID_HANDLE
 *
 * Blocks if the operation does. Any thread. DAT 2.0, extensions.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP operation, ...);
#endif

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_API_IA_H_ */
