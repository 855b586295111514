/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/softdat.h: what SoftDAT adds to uDAPL 2.0: the reason of a failure, the version, and how
 * libdat2 and SoftDAT's providers find and protect each other. Nothing here is needed to use the
 * standard API, and a provider or a registry of another make works without it. */
#ifndef SOFTDAT_DAT2_SOFTDAT_H_
#define SOFTDAT_DAT2_SOFTDAT_H_

#include <dat2/udat.h>
#include <stddef.h>
#include <stdint.h>

SOFTDAT_BEGIN_DECLS

/* ---- for programs: exported by libdat2.so.2 ---- */

/* softdat_last_reason(buf, len): why the last DAT call of the calling thread failed.
 *
 * The text is a chain, one reason a line without a newline after the last, the outermost first:
 * what was asked, then what stood in its way, with the facts (which key, which bound, which state,
 * which errno). It is for people, not for parsing.
 *
 * @param buf [out] receives the text, cut if need be, always terminated by a zero; may be NULL if
 * len is 0.
 * @param len bytes at buf.
 * @return length in bytes of the whole text without the terminating zero, as snprintf() returns it;
 * a value >= len means that the text was cut. 0: no DAT call of this thread has failed so far.
 *
 * A call that succeeds does not clear the chain. Each thread has its own; never blocks, never
 * fails. */
DAT_EXPORT size_t DAT_API softdat_last_reason(char* buf, size_t len);

/* softdat_version(): version of the library that is loaded, for example "0.1.0".
 *
 * @return a static string, never NULL. Any thread, any time; never blocks. */
DAT_EXPORT const char* DAT_API softdat_version(void);

/* One more flag of dat_ep_post_rdma_write() and dat_ib_post_rdma_write_immed(), with SoftDAT's
 * providers whose named attribute SOFTDAT_ATTR_CONFIRMED_WRITES is "TRUE": the request completes
 * when the peer's end has confirmed that it has the data. On softnet-* they are in its memory then;
 * on InfiniBand and RoCE the peer's adapter has acknowledged them, as it has for every write that
 * completes. softnet-* does so without the flag too, unless SOFTDAT_ATTR_COMPLETION is "taken".
 * Where the attribute is "FALSE" or missing, the flag is DAT_INVALID_PARAMETER; other makes of
 * provider may ignore it. */
typedef enum softdat_completion_flags {
  SOFTDAT_COMPLETION_EXTENSION_FLAG = 0x40, /* see below */
  SOFTDAT_COMPLETION_CONFIRM_FLAG = 0x80
} SOFTDAT_COMPLETION_FLAGS;
#define SOFTDAT_ATTR_CONFIRMED_WRITES "SOFTDAT_CONFIRMED_WRITES"

/* What the extension interface of uDAPL 1.2 (dat/dat_extensions.h) is made of, with SoftDAT's
 * providers whose named attribute SOFTDAT_ATTR_EXTENSION_COMPLETIONS is "TRUE":
 * SOFTDAT_COMPLETION_EXTENSION_FLAG for dat_ep_post_recv(), dat_ep_post_rdma_write() and
 * dat_ib_post_rdma_write_immed(). What is posted with it completes as DAT_IB_DTO_EVENT in each
 * case, also when it fails or is flushed. `operation` and the kind of the extension say what it was
 * where those of dat_ib_extensions.h have no name for it: a write without immediate data, and a
 * receive that a message came to, or nothing.
 * On an IA whose named attribute SOFTDAT_ATTR_IMMED_AS_MESSAGE is "TRUE", which has no immediate
 * data, dat_ib_post_rdma_write_immed() with the flag sends the value as a message of 4 bytes behind
 * the write, in the sender's order of bytes; any receive of the peer takes it. */
#define SOFTDAT_ATTR_EXTENSION_COMPLETIONS "SOFTDAT_EXTENSION_COMPLETIONS"
#define SOFTDAT_ATTR_IMMED_AS_MESSAGE "SOFTDAT_IMMED_AS_MESSAGE"
typedef enum softdat_dtos {
  SOFTDAT_DTO_RDMA_WRITE = 0x100,
  SOFTDAT_DTO_RECEIVE = 0x101
} SOFTDAT_DTOS;
typedef enum softdat_ext_type { /* DAT_IB_EXTENSION_EVENT_DATA.type */
                                SOFTDAT_EXT_RDMA_WRITE = 0x100,
                                SOFTDAT_EXT_RECV = 0x101
} SOFTDAT_EXT_TYPE;

/* Named attribute of an IA of SoftDAT's providers: what success of a send or RDMA write means.
 * "confirmed": it is in the peer's memory, and stays there whatever becomes of this process; as on
 * InfiniBand. "taken": the device or TCP has it; it can still be lost or refused, as with iWARP
 * adapters. softnet-* has either, by the environment variable SOFTDAT_COMPLETION.
 * Named attribute of an EP (dat_ep_query), "taken", where the IA's is "confirmed" and the peer of
 * the EP's connection does not confirm. Attributes with it may be given to dat_ep_create(). */
#define SOFTDAT_ATTR_COMPLETION "SOFTDAT_COMPLETION"

/* ---- for providers: exported by libdat2.so.2, also by other implementations, in no header of
 * theirs ---- */

/* dats_get_ia_handle(handle, ia_handle): translates between the two names of an open IA.
 *
 * @param handle the provider's own IA pointer, as its ia_open entry returned it, or a program's
 * small integer.
 * @param ia_handle [out] the other one: the integer for a pointer, the pointer for an integer.
 * @return DAT_SUCCESS; DAT_INVALID_HANDLE | DAT_INVALID_HANDLE_IA if no open IA has that name.
 *
 * A provider fills `ia_handle` members of query results with the integer. Any thread; never blocks;
 * may be called from within an entry point. */
DAT_EXPORT DAT_RETURN DAT_API dats_get_ia_handle(DAT_IA_HANDLE handle, DAT_IA_HANDLE* ia_handle);

/* ---- exported by SoftDAT's providers; libdat2 looks them up by name, and does without if one is
 * missing ---- */

/* softdat_provider_reason(buf, len): as softdat_last_reason(), for the last entry point of this
 * provider that failed in the calling thread. */
typedef size_t (*softdat_provider_reason_func)(char* buf, size_t len);
#define SOFTDAT_PROVIDER_REASON_STR "softdat_provider_reason"
DAT_EXPORT size_t DAT_API softdat_provider_reason(char* buf, size_t len);

/* softdat_provider_reason_time(): when the text of softdat_provider_reason() came to be, for the
 * calling thread. libdat2 compares it with those of other providers, because calls of the data path
 * go straight to the provider and it does not see how they end.
 *
 * @return nanoseconds of CLOCK_MONOTONIC; 0 if there is no text. Any thread; never blocks. */
typedef uint64_t (*softdat_provider_reason_time_func)(void);
#define SOFTDAT_PROVIDER_REASON_TIME_STR "softdat_provider_reason_time"
DAT_EXPORT uint64_t DAT_API softdat_provider_reason_time(void);

/* One IA name of a provider.
 *
 * @param arg what was given to softdat_provider_list_ias().
 * @param ia_name a name that dat_ia_open() takes; valid during the call.
 * @param unavailable_reason_or_null why it can not be opened now (the interface is down, ...); NULL
 * if it can. */
typedef void (*softdat_ia_visitor)(void* arg, const char* ia_name,
                                   const char* unavailable_reason_or_null);

/* softdat_provider_list_ias(visit, arg): calls visit once for each IA name that this provider can
 * open on this host, in a stable order, before it returns. Works before dat_provider_init(). May
 * block for the time of a few system calls; must not be called from within visit. Any thread.
 *
 * dat_ia_open() also takes such a name followed by a slash and more. The provider says what that
 * means. softnet: NAME/ADDRESS is the adapter with that address of its interface. */
typedef void (*softdat_provider_list_ias_func)(softdat_ia_visitor visit, void* arg);
#define SOFTDAT_PROVIDER_LIST_IAS_STR "softdat_provider_list_ias"
DAT_EXPORT void DAT_API softdat_provider_list_ias(softdat_ia_visitor visit, void* arg);

/* Where a provider's object handles lie. Every handle that the provider ever returns (IA handles as
 * ia_open returns them, included) is in [base, base + size), aligned to a pointer, and points to
 * the DAT_PROVIDER * of its object. All words of the range are readable as long as the library is
 * loaded, so that any pointer in it may be examined: a word that is not this provider's table is
 * not a handle. Outside of the range nothing may be read. */
struct softdat_handle_arena {
  const void* base;
  size_t size; /* bytes */
};

/* softdat_provider_handle_arena(): the range above. It is fixed when the library is loaded and
 * never moves.
 *
 * @return static memory, never NULL. Any thread, any time; never blocks. */
typedef const struct softdat_handle_arena* (*softdat_provider_handle_arena_func)(void);
#define SOFTDAT_PROVIDER_HANDLE_ARENA_STR "softdat_provider_handle_arena"
DAT_EXPORT const struct softdat_handle_arena* DAT_API softdat_provider_handle_arena(void);

/* softdat_provider_settings(): the settings table of this library: a JSON text, an array of
 * objects, one for each environment variable that it reads, with its default, its value, where that
 * came from, and help.
 *
 * @return a static string, never NULL. Any thread, any time; never blocks. */
typedef const char* (*softdat_provider_settings_func)(void);
#define SOFTDAT_PROVIDER_SETTINGS_STR "softdat_provider_settings"
DAT_EXPORT const char* DAT_API softdat_provider_settings(void);

SOFTDAT_END_DECLS

#endif /* SOFTDAT_DAT2_SOFTDAT_H_ */
