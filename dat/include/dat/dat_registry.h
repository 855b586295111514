/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/dat_registry.h: between a provider library and the registry (DAT 1.2, registry). */
#ifndef _DAT_REGISTRY_H_
#define _DAT_REGISTRY_H_

#include <dat/udat_redirection.h>

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

DAT_EXPORT DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER* provider,
                                                        const DAT_PROVIDER_INFO* provider_info);

DAT_EXPORT DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER* provider,
                                                           const DAT_PROVIDER_INFO* provider_info);

SOFTDAT_END_DECLS

#endif /* _DAT_REGISTRY_H_ */
