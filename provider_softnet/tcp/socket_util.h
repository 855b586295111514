// SPDX-License-Identifier: BSD-3-Clause
// Sockets and socket addresses: the few system calls that the driver needs, with reasons for their
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

// Like sendmsg and recvmsg, but they never block and raise no SIGPIPE.
ssize_t SendNow(int fd, const iovec* iov, size_t count);
ssize_t ReceiveNow(int fd, const iovec* iov, size_t count);
// Like recv with MSG_PEEK for one byte.
ssize_t PeekNow(int fd);

// ---- addresses ----

// The two ends of a socket. An IPv4 address is returned as IPv4 also for an IPv6 socket.
sockaddr_storage LocalAddressOf(int fd);
sockaddr_storage RemoteAddressOf(int fd);

// ---- sockets ----

// Makes a non-blocking, close-on-exec TCP socket. When descriptors run out, it first raises the
// soft limit towards the hard one (logged). kNoResources, kAddressUnsupported.
Result<UniqueFd> OpenTcp(int family);
// Makes a socket ready for data, without Nagle's delay. Keep-alive probes end an idle connection
// after `dead_path` if its host has vanished. 0: no probes. What a listening socket accepts
// inherits this from it.
void PrepareStream(int fd, std::chrono::milliseconds dead_path);

// Whether a connection's two ends have one address, or loopback addresses.
bool IsWithinHost(int fd);
// Lets a MiB at most wait in a socket whose peer is on this host; some 300 KiB where a user may not
// set more. By itself the kernel lets megabytes wait, and each page of them is written and read
// outside of the processors' caches. A much longer queue has no use here, because nothing of it
// travels. In a much shorter one the two ends take turns.
void ShortenQueue(int fd);
// Lets more wait, so that another segment finds room.
void LengthenQueue(int fd);

// Says that nothing is outstanding when the socket cannot tell.
PathSample SamplePath(int fd);
// Bytes that the peer's TCP does not have yet.
int UnsentBytes(int fd);
// The largest segment that the connection can send once the peer's window has grown (EMSS, RFC 5044
// §5.1), or a safe value. It is too much for a peer that announces less than the path can carry,
// but more than 16 KiB. FPDUs then span two segments, which is allowed.
size_t SegmentSize(int fd);
// TCP_ESTABLISHED and so on. -1 when it is unknown.
int TcpStateOf(int fd);
// Makes close() drop the connection with a reset.
void ResetOnClose(int fd);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_TCP_SOCKET_UTIL_H_
