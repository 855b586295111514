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

typedef void (*DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO *, const char *);

typedef void (*DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO *);

/* ---- what the registry offers to providers ---- */

DAT_EXPORT DAT_RETURN DAT_API dat_registry_add_provider(const DAT_PROVIDER *provider,
                                                        const DAT_PROVIDER_INFO *provider_info);

DAT_EXPORT DAT_RETURN DAT_API dat_registry_remove_provider(const DAT_PROVIDER *provider,
                                                           const DAT_PROVIDER_INFO *provider_info);

SOFTDAT_END_DECLS

#endif /* _DAT_REGISTRY_H_ */
