/* SPDX-License-Identifier: BSD-3-Clause */
/* dat/dat_platform_specific.h: integer and address types of the platform (Linux, LP64), and the
 * words that decorate declarations. */
#ifndef _DAT_PLATFORM_SPECIFIC_H_
#define _DAT_PLATFORM_SPECIFIC_H_

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifndef __linux__
#error "dat: this platform is not supported (only Linux is)"
#endif

/* C++98 hides it unless asked. */
#ifndef UINT64_C
#define UINT64_C(c) c##UL
#endif

/* Direction of a parameter, for the reader only. */
#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

/* Calling convention and linkage of API functions. */
#define DAT_API
#define DAT_EXPORT extern

/* Marks what the binary interface needs and the oldest language standards do not have. */
#ifdef __GNUC__
#define SOFTDAT_EXTENSION __extension__
#else
#define SOFTDAT_EXTENSION
#endif

/* Around every block of declarations: C linkage, and default visibility, so that a library that is
 * compiled with hidden visibility exports those of these functions that it defines. */
#ifdef __cplusplus
#define SOFTDAT_EXTERN_C_OPEN extern "C" {
#define SOFTDAT_EXTERN_C_CLOSE }
#else
#define SOFTDAT_EXTERN_C_OPEN
#define SOFTDAT_EXTERN_C_CLOSE
#endif
#ifndef SOFTDAT_BEGIN_DECLS
#ifdef __GNUC__
#define SOFTDAT_BEGIN_DECLS _Pragma("GCC visibility push(default)") SOFTDAT_EXTERN_C_OPEN
#define SOFTDAT_END_DECLS SOFTDAT_EXTERN_C_CLOSE _Pragma("GCC visibility pop")
#else
#define SOFTDAT_BEGIN_DECLS SOFTDAT_EXTERN_C_OPEN
#define SOFTDAT_END_DECLS SOFTDAT_EXTERN_C_CLOSE
#endif
#endif

/* Buffers aligned to this many bytes move fastest. */
#ifndef DAT_OPTIMAL_ALIGNMENT
#define DAT_OPTIMAL_ALIGNMENT 256
#endif

#define DAT_AF_INET AF_INET
#define DAT_AF_INET6 AF_INET6

SOFTDAT_BEGIN_DECLS

typedef uint32_t DAT_UINT32;
typedef uint64_t DAT_UINT64;
SOFTDAT_EXTENSION typedef unsigned long long DAT_UVERYLONG; /* not a C89 type */
typedef void* DAT_PVOID;
/* A number of things; negative values are special (DAT_VALUE_UNKNOWN, ...). */
typedef int DAT_COUNT;
typedef DAT_UINT64 DAT_PADDR; /* physical address; kernel API only */

typedef struct sockaddr DAT_SOCK_ADDR;
typedef struct sockaddr_in6 DAT_SOCK_ADDR6;

SOFTDAT_END_DECLS

#endif /* _DAT_PLATFORM_SPECIFIC_H_ */
