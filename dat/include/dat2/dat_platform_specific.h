/* SPDX-License-Identifier: BSD-3-Clause */
/* dat2/dat_platform_specific.h: integer, address and descriptor types of the platform (Linux,
 * LP64), and the words that decorate declarations. */
#ifndef _DAT_PLATFORM_SPECIFIC_H_
#define _DAT_PLATFORM_SPECIFIC_H_

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifndef __linux__
#error "dat2: this platform is not supported (only Linux is)"
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

/* Around every block of declarations: C linkage, and default visibility, so that a library that is
 * compiled with hidden visibility exports those of these functions that it defines. */
#ifdef __cplusplus
#define SOFTDAT_EXTERN_C_OPEN extern "C" {
#define SOFTDAT_EXTERN_C_CLOSE }
#else
#define SOFTDAT_EXTERN_C_OPEN
#define SOFTDAT_EXTERN_C_CLOSE
#endif
/* Marks what the binary interface needs and the oldest language standards do not have. */
#ifdef __GNUC__
#define SOFTDAT_EXTENSION __extension__
#else
#define SOFTDAT_EXTENSION
#endif

#ifdef __GNUC__
#define SOFTDAT_BEGIN_DECLS _Pragma("GCC visibility push(default)") SOFTDAT_EXTERN_C_OPEN
#define SOFTDAT_END_DECLS SOFTDAT_EXTERN_C_CLOSE _Pragma("GCC visibility pop")
#else
#define SOFTDAT_BEGIN_DECLS SOFTDAT_EXTERN_C_OPEN
#define SOFTDAT_END_DECLS SOFTDAT_EXTERN_C_CLOSE
#endif

/* Buffers aligned to this many bytes move fastest. */
#ifndef DAT_OPTIMAL_ALIGNMENT
#define DAT_OPTIMAL_ALIGNMENT 256
#endif

/* An IA handle is a small integer in the clothes of a pointer; these convert both ways. */
#define DAT_IA_HANDLE_TO_UL(a) ((unsigned long)(a))
#define DAT_UL_TO_IA_HANDLE(a) ((DAT_IA_HANDLE)(a))

#define DAT_AF_INET AF_INET
#define DAT_AF_INET6 AF_INET6

SOFTDAT_BEGIN_DECLS

typedef uint32_t DAT_UINT32;
typedef uint64_t DAT_UINT64;
SOFTDAT_EXTENSION typedef unsigned long long DAT_UVERYLONG; /* not a C89 type */
typedef void* DAT_PVOID;
typedef int
    DAT_COUNT; /* a number of things; negative values are special (DAT_VALUE_UNKNOWN, ...) */
typedef DAT_UINT64 DAT_PADDR; /* physical address; kernel API only */
typedef int DAT_FD;           /* POSIX file descriptor */

typedef struct sockaddr DAT_SOCK_ADDR;
typedef struct sockaddr_in6 DAT_SOCK_ADDR6;

/* How a common service point names a transport: the three arguments of socket(2). */
typedef struct dat_comm {
  int domain;   /* address family, AF_* */
  int type;     /* SOCK_* */
  int protocol; /* IPPROTO_* or 0 */
} DAT_COMM;

SOFTDAT_END_DECLS

#endif /* _DAT_PLATFORM_SPECIFIC_H_ */
