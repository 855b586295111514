// SPDX-License-Identifier: BSD-3-Clause
// The UDP sockets of a port, with reasons for their failures.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_DATAGRAM_SOCKETS_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_DATAGRAM_SOCKETS_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "dat/base/status.h"
#include "provider_softnet/driver/unique_fd.h"

namespace softdat::softnet {

// Receives what is sent to port 4791 of `address`, together with the other members of this user
// there: the kernel spreads the senders over them.
Result<UniqueFd> OpenReceiver(const sockaddr_storage& address);

// kInUse, with who has the port and what to do, if OpenReceiver of this user would fail for that
// now.
Status CheckReceiverPort(const sockaddr_storage& address, uid_t user);

// As OpenReceiver for what comes from `source` alone. The kernel prefers it to the shared sockets.
Result<UniqueFd> OpenReceiverOf(const sockaddr_storage& address, const sockaddr_storage& source);

// Sends from `address` and a port of its own in 0xc000-0xffff, drawn by `random`. It is not
// connected and does not fragment, so the kernel writes the IPv4 identification 0. The ICRC covers
// that.
Result<UniqueFd> OpenSender(const sockaddr_storage& address,
                            const std::function<uint64_t()>& random);

// The local end of a socket.
sockaddr_storage LocalEnd(int fd);

// Bytes of the buffers, as the kernel counts them: twice what was granted. Without CAP_NET_ADMIN,
// net.core.rmem_max and wmem_max limit them.
int ReceiveBufferSize(int fd);
int SendBufferSize(int fd);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_DATAGRAM_SOCKETS_H_
