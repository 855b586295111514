// SPDX-License-Identifier: BSD-3-Clause
// Local sockets by which the processes of a user meet: AF_UNIX, SOCK_SEQPACKET, with names in the
// abstract name space, which belongs to the network name space as addresses do. Nothing here
// blocks: all sockets are non-blocking.
#ifndef SOFTDAT_PROVIDER_SOFTNET_DRIVER_LOCAL_SOCKET_H_
#define SOFTDAT_PROVIDER_SOFTNET_DRIVER_LOCAL_SOCKET_H_

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

struct LocalName {
  sockaddr_un address{};
  socklen_t size = 0;  // 0: the name does not fit
};
LocalName AbstractName(std::string_view name);

// None, with errno, when there are no descriptors.
UniqueFd OpenLocalSocket();
// Binds it to the name and listens. 0 or an errno value; EADDRINUSE: the name is taken.
int ListenAt(int fd, const LocalName& name, int backlog);
// One attempt. 0 or an errno value. ECONNREFUSED: nobody listens, or not a program of this user.
// EAGAIN: too many wait already.
int ConnectTo(int fd, const LocalName& name);
// Whether the process at the other end runs as the same user, or as root. Anybody can take a name,
// but only this user's programs may have this user's connections.
bool IsOwnUsersSocket(int fd);

// Sends one message and a descriptor with it. 0 or an errno value.
int SendWithDescriptor(int fd, std::span<const uint8_t> bytes, int descriptor);

// One message and the descriptors that came with it, which the receiver owns.
struct ReceivedMessage {
  ssize_t size = -1;  // 0: the end of the socket; -1: see errno
  bool cut = false;   // the message or its descriptors did not fit
  std::vector<UniqueFd> descriptors;
};
ReceivedMessage ReceiveWithDescriptors(int fd, std::span<uint8_t> bytes);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_DRIVER_LOCAL_SOCKET_H_
