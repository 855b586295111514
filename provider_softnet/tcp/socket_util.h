// SPDX-License-Identifier: BSD-3-Clause
// Sockets and socket addresses: the few system calls the driver needs, with reasons for their
// failures.
#ifndef SOFTDAT_PROVIDER_SOFTNET_TCP_SOCKET_UTIL_H_
#define SOFTDAT_PROVIDER_SOFTNET_TCP_SOCKET_UTIL_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <chrono>
#include <cstddef>

#include "dat/base/status.h"
#include "provider_softnet/connection/byte_link.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// ---- data path: raw system calls, because the C library's are cancellation points ----

// As sendmsg and recvmsg, never blocking, without SIGPIPE.
ssize_t SendNow(int fd, const iovec* iov, size_t count);
ssize_t ReceiveNow(int fd, const iovec* iov, size_t count);
// As recv with MSG_PEEK of one byte.
ssize_t PeekNow(int fd);

// ---- addresses ----

// The ends of a socket; an IPv4 address is IPv4 also on an IPv6 socket.
sockaddr_storage LocalAddressOf(int fd);
sockaddr_storage RemoteAddressOf(int fd);

// ---- sockets ----

// A non-blocking, close-on-exec TCP socket. When descriptors run out, the soft limit is raised
// towards the hard one first (logged). kNoResources, kAddressUnsupported.
Result<UniqueFd> OpenTcp(int family);
// Makes `socket` ready for data: no Nagle delay, keep-alive probes against hosts that vanish, which
// end an idle connection after `dead_path`; 0: none.
void PrepareStream(int fd, std::chrono::milliseconds dead_path);
// Breaks the connection (ETIMEDOUT) when what was sent stays unacknowledged for so long; 0: when
// the kernel gives up. For a connection whose peer may close its window, see PathWatch.
void SetUnansweredLimit(int fd, std::chrono::milliseconds limit);

// Nothing outstanding where it cannot be told.
PathSample SamplePath(int fd);
// Bytes that the peer's TCP does not have yet.
int UnsentBytes(int fd);
// Largest segment that the connection sends (TCP_MAXSEG), or a safe value.
size_t SegmentSize(int fd);
// TCP_ESTABLISHED and so on; -1 when it cannot be told.
int TcpStateOf(int fd);
// Makes close() drop the connection with a reset.
void ResetOnClose(int fd);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_SOCKET_UTIL_H_
