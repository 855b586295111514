// SPDX-License-Identifier: BSD-3-Clause
// Whole messages over a blocking TCP socket.
#ifndef SOFTDAT_TOOLS_RAW_SOCKET_IO_H_
#define SOFTDAT_TOOLS_RAW_SOCKET_IO_H_

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>

#include "tools/common/outcome.h"

namespace softdat::tools {

// "raw: WHAT: " and the text of errno.
Outcome RawErrno(const char* what);
// The outcome if the peer has closed in the middle of something.
Outcome RawClosed();

sockaddr_in Loopback(uint16_t port);

Outcome SendAll(int fd, const void* data, size_t bytes);
// With MSG_DONTWAIT it spins.
Outcome ReceiveAll(int fd, void* data, size_t bytes, int flags = 0);

}  // namespace softdat::tools

#endif  // SOFTDAT_TOOLS_RAW_SOCKET_IO_H_
