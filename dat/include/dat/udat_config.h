/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/udat_config.h: what is fixed when a program is compiled: the API version it asks for and
 * whether it asks for a thread-safe provider. */
#ifndef _UDAT_CONFIG_H_
#define _UDAT_CONFIG_H_

/* API version that dat_ia_open() asks the registry for: uDAPL 1.2. */
#define DAT_VERSION_MAJOR 1
#define DAT_VERSION_MINOR 2

/* Does the program need a provider that is registered as thread safe? dat_ia_open() passes this on.
 * A program may define it as DAT_TRUE before it includes this header. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

#endif /* _UDAT_CONFIG_H_ */
