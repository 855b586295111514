/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reliable Datagram Sockets in user space (librds.so): the calls of an AF_RDS socket, over any
 * uDAPL interface adapter. Neither rds.ko nor an adapter is needed.
 *
 * Each call takes the arguments of the libc call of the same name, returns what that returns, and
 * sets errno. Structures, options and control messages are those of <linux/rds.h>; rds(7) and
 * rds-rdma(7) describe them. All calls may be made from several threads.
 *
 * A socket is a file descriptor. It can be given to poll, select and epoll, and fcntl sets its
 * O_NONBLOCK and FD_CLOEXEC. It can neither be read nor written by the calls of libc: use those
 * below, or load librds_preload.so, which gives the calls of libc to the right place.
 *
 * After fork, a socket stays with the process that made it. In the child each call on it fails with
 * EBADF, except rds_close.
 */
#ifndef SOFTDAT_RDS_H_
#define SOFTDAT_RDS_H_

#include <linux/rds.h>
#include <sys/socket.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/*
 * `domain`: AF_RDS. `type`: SOCK_SEQPACKET, with or without SOCK_NONBLOCK and SOCK_CLOEXEC.
 * `protocol`: 0. Fails with EAFNOSUPPORT, ESOCKTNOSUPPORT, EMFILE, ENFILE, ENOMEM.
 */
int rds_socket(int domain, int type, int protocol);
/* Whether `fd` is a socket of this library, in this process. Never fails, never changes errno. */
int rds_is_socket(int fd);
/* Closes one descriptor. The socket is closed with its last one. */
int rds_close(int fd);
/*
 * As rds_close, when the descriptor has been closed already, or another file has taken its number
 * (dup2). EBADF when it was no socket.
 */
int rds_forget(int fd);
/*
 * Tells that `copy` now is a duplicate of the socket `fd` (dup, dup2, fcntl F_DUPFD). To be called
 * right after it was made.
 */
int rds_duplicated(int fd, int copy);

int rds_bind(int fd, const struct sockaddr* address, socklen_t length);
int rds_connect(int fd, const struct sockaddr* address, socklen_t length);
int rds_getsockname(int fd, struct sockaddr* address, socklen_t* length);
int rds_getpeername(int fd, struct sockaddr* address, socklen_t* length);

ssize_t rds_send(int fd, const void* data, size_t size, int flags);
ssize_t rds_sendto(int fd, const void* data, size_t size, int flags, const struct sockaddr* to,
                   socklen_t length);
ssize_t rds_sendmsg(int fd, const struct msghdr* message, int flags);
ssize_t rds_recv(int fd, void* data, size_t size, int flags);
ssize_t rds_recvfrom(int fd, void* data, size_t size, int flags, struct sockaddr* from,
                     socklen_t* length);
ssize_t rds_recvmsg(int fd, struct msghdr* message, int flags);

int rds_getsockopt(int fd, int level, int name, void* value, socklen_t* length);
int rds_setsockopt(int fd, int level, int name, const void* value, socklen_t length);
/* SIOCRDSSETTOS, SIOCRDSGETTOS, FIONBIO. Anything else: ENOTTY. */
int rds_ioctl(int fd, unsigned long request, void* argument);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif /* SOFTDAT_RDS_H_ */
