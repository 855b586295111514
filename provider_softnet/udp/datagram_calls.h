// SPDX-License-Identifier: BSD-3-Clause
// The system calls of the data path. They are raw, because the C library's are cancellation points.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_DATAGRAM_CALLS_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_DATAGRAM_CALLS_H_

#include <sys/socket.h>

#include <cstddef>

namespace softdat::softnet {

// As sendmmsg and recvmmsg. They never block, raise no SIGPIPE, and are repeated after a signal.
int SendMany(int fd, mmsghdr* messages, size_t count);
int ReceiveMany(int fd, mmsghdr* messages, size_t count);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_DATAGRAM_CALLS_H_
