// SPDX-License-Identifier: BSD-3-Clause
// Where the members of one address find each other. A member is an adapter that has a socket of its
// own on port 4791 of the address. The kernel gives a packet to any of them, and that one hands it
// on to the member that it is for.
//
// There is no table of members. A number says whose it is: the upper 12 bits of a queue pair's
// number, or of a communication id, name a block, and the member that has the block is bound to a
// local datagram socket in the abstract name space, "softdat-roce/UID/HOST/block/BLOCK". A listener
// is bound to "softdat-roce/UID/HOST/service/SERVICE". A member that dies takes its names along.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_MEMBER_NAMES_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_MEMBER_NAMES_H_

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstdint>
#include <string>

namespace softdat::softnet {

// Blocks have 12 bits, and a number in a block has 12 bits (of a queue pair) or 20 (of a
// communication id). Block 0 belongs to nobody, so that 0 and 1 are no queue pair's number.
inline constexpr uint32_t kBlocks = 1 << 12;
inline constexpr uint32_t kQpnsPerBlock = 1 << 12;
constexpr uint32_t BlockOfQpn(uint32_t qpn) { return (qpn & 0xffffff) / kQpnsPerBlock; }
constexpr uint32_t BlockOfCommId(uint32_t comm_id) { return comm_id >> 20; }

struct MemberName {
  sockaddr_un address{};
  socklen_t size = 0;  // 0: the name does not fit
};
MemberName BlockName(uid_t user, const std::string& host, uint32_t block);
MemberName ServiceName(uid_t user, const std::string& host, uint64_t service_id);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_MEMBER_NAMES_H_
