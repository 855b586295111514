// SPDX-License-Identifier: BSD-3-Clause
// How two processes of one user meet: the name of a listener's local socket, and the first message
// over it. Pure functions over bytes.
//
// A listener has a socket in the abstract name space of local sockets (SOCK_SEQPACKET) for each
// port, "softdat-shm/UID/HOST/PORT". HOST is empty for a listener on every local address. That name
// space belongs to the network name space, as the addresses do.
//
//   hello   0  8  magic  53 44 41 54 53 4d 01 bf  ("SDATSM", version 1, a byte that is no text)
//           8  8  the size of the memory, big-endian
//          16 24  the requester's address: family (4 or 6), 1 byte of zero, port, scope, 16 bytes
//          40 24  the address that it connects to
//          with the memory (SCM_RIGHTS)
//
// Later messages mean nothing but a look at the memory: they ring a bell. The end of the socket is
// the end of the process, or of its connection.
#ifndef SOFTDAT_PROVIDER_SOFTNET_SHM_HELLO_H_
#define SOFTDAT_PROVIDER_SOFTNET_SHM_HELLO_H_

#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "provider_softnet/driver/local_socket.h"

namespace softdat::softnet {

inline constexpr size_t kHelloSize = 64;

struct Hello {
  sockaddr_storage from{}, to{};  // IPv4 or IPv6
};

std::array<uint8_t, kHelloSize> EncodeHello(const Hello& hello);
// Returns nothing when the bytes are no hello of this version.
std::optional<Hello> DecodeHello(std::span<const uint8_t> in);

LocalName MeetingPlaceOf(uid_t user, const std::string& host, uint16_t port);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_SHM_HELLO_H_
