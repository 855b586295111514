// SPDX-License-Identifier: BSD-3-Clause
// What one recvmsg gives a program.
#ifndef SOFTDAT_RDS_SOCKET_RECEIVE_H_
#define SOFTDAT_RDS_SOCKET_RECEIVE_H_

#include <sys/socket.h>
#include <sys/types.h>

#include "rds/socket/node.h"
#include "rds/socket/socket.h"

namespace softdat::rds {

// Fills `message` with one of these, the first that there is:
//   - how operations ended, as many as its control buffer has room for, but at least one;
//   - which groups of ports have become free;
//   - the first message;
//   - payloads that are the program's again, unless `waits`: then they come with a message.
// The first two are told without a name and payload, and are lost when there is no room for them.
//
// `flags`: MSG_PEEK, MSG_TRUNC and MSG_OOB are heeded. Returns what recvmsg returns,
// or a negative errno: -EAGAIN when there is nothing, -EFAULT for a buffer that cannot be memory.
ssize_t Receive(Node& node, Socket& socket, msghdr* message, int flags, bool waits, Time now);

}  // namespace softdat::rds

#endif  // SOFTDAT_RDS_SOCKET_RECEIVE_H_
