// SPDX-License-Identifier: BSD-3-Clause
// The calls on the local sockets over which two processes meet, ring, and learn of each other's
// end. None of them blocks or is a place to be cancelled at that matters: all sockets are
// non-blocking.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_LOCAL_SOCKET_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_LOCAL_SOCKET_H_

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/shm/hello.h"

namespace softdat::softnet {

// None, with errno, when there are no descriptors.
UniqueFd OpenLocalSocket();
// Listens at the place. 0 or an errno value.
int ListenAt(int fd, const MeetingPlace& place);
// 0, or an errno value. ECONNREFUSED: nobody listens, or not a program of this user.
int ConnectTo(int fd, const MeetingPlace& place);
// Whether the process at the other end runs as the same user, or as root.
bool IsOwnUsersSocket(int fd);
// Sends the hello with the memory. 0 or an errno value.
int SendHello(int fd, std::span<const uint8_t> hello, int memory);
// Receives one message and the descriptor that came with it. Returns its size, -1 with errno. More
// than one descriptor, or a message that does not fit, is EPROTO.
ssize_t ReceiveHello(int fd, std::span<uint8_t> hello, UniqueFd* memory);
// Rings the bell at the other end. Errors are left to those who read the socket.
void RingBell(int fd);
// Takes what was rung. Returns false at the end of the socket.
bool SilenceBell(int fd);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_LOCAL_SOCKET_H_
