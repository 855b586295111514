/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/udat_config.h: what is fixed when a program is compiled: the API version it asks for,
 * whether it asks for a thread-safe provider, and whether the extension entry is part of the API.
 */
#ifndef _UDAT_CONFIG_H_
#define _UDAT_CONFIG_H_

/* API version that dat_ia_open() asks the registry for: uDAPL 2.0. */
#define DAT_VERSION_MAJOR 2
#define DAT_VERSION_MINOR 0

/* Does the program need a provider that is registered as thread safe? dat_ia_open() passes this on.
 * A program may define it as DAT_TRUE before it includes this header. */
#ifndef DAT_THREADSAFE
#define DAT_THREADSAFE DAT_FALSE
#endif

/* The extension entry (dat_extension_op, the last slot of DAT_PROVIDER, extension ranges of the
 * enums) is part of the binary interface unless a program opts out with DAT_NO_EXTENSIONS; then
 * DAT_PROVIDER is one slot shorter. */
#if !defined(DAT_EXTENSIONS) && !defined(DAT_NO_EXTENSIONS)
#define DAT_EXTENSIONS 1
#endif

#endif /* _UDAT_CONFIG_H_ */
