// SPDX-License-Identifier: BSD-3-Clause
// The options of a socket: SOL_RDS, and those of SOL_SOCKET that RDS sockets have.
#ifndef SOFTDAT_RDS_SOCKET_OPTIONS_H_
#define SOFTDAT_RDS_SOCKET_OPTIONS_H_

#include <sys/socket.h>

#include "rds/socket/node.h"
#include "rds/socket/socket.h"

namespace softdat::rds {

// Each returns 0 or the errno of setsockopt and getsockopt. ENOPROTOOPT: there is no such option.
int SetOption(Node& node, Socket& socket, int level, int name, const void* value, socklen_t length,
              Time now);
// `length`: how much there is room for, and then how much there is.
int GetOption(const Socket& socket, int level, int name, void* value, socklen_t* length);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_OPTIONS_H_
