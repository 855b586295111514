/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/dat_registry.h: between a provider library and the registry (DAT 2.0, registry). */
#ifndef _DAT_REGISTRY_H_
#define _DAT_REGISTRY_H_

#include <dat2/udat_redirection.h>

SOFTDAT_BEGIN_DECLS

/* ---- what a provider library exports ---- */

#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini
#define DAT_PROVIDER_INIT_FUNC_STR "dat_provider_init"
#define DAT_PROVIDER_FINI_FUNC_STR "dat_provider_fini"

/* dat_provider_init(info, ia_params): called once after the library is loaded for an IA name; it
 * must call dat_registry_add_provider() with this entry, or the open fails. ia_params is the text
 * of the dat.conf line, or "". */
typedef void (*DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO*, const char*);

/* dat_provider_fini(info): called after the last IA of this entry was closed, before the library is
 * unloaded; it must call dat_registry_remove_provider(). */
typedef void (*DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO*);

/* ---- what the registry offers to providers ---- */

/* Enters a provider under a name, version and thread safety. A provider library calls it in its
 * dat_provider_init(); a program may call it for a provider that it is linked with.
 *
 * @param provider its table; must stay valid until it is removed.
 * @param provider_info the entry; copied. It must equal what the provider's ia_query entry
 *     tells about itself.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG1, ARG2: NULL)
 *     DAT_PROVIDER_ALREADY_REGISTERED (an entry with this name, version and thread safety
 *         exists)
 *     DAT_INSUFFICIENT_RESOURCES
 *
 * Does not block. Any thread. DAT 2.0, registry add provider.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER* provider,
                                                        const DAT_PROVIDER_INFO* provider_info);

/* Takes an entry out. A provider library calls it in its dat_provider_fini().
 *
 * @param provider the table it was entered with.
 * @param provider_info the entry.
 * @return DAT_SUCCESS
 *     DAT_INVALID_PARAMETER (ARG1, ARG2: NULL)
 *     DAT_PROVIDER_NOT_FOUND (no such entry)
 *     DAT_PROVIDER_IN_USE (an IA of it is open)
 *
 * Does not block. Any thread. DAT 2.0, registry remove provider.
 */
DAT_EXPORT DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER* provider,
                                                           const DAT_PROVIDER_INFO* provider_info);

SOFTDAT_END_DECLS

#endif /* _DAT_REGISTRY_H_ */
