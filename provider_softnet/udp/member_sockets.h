// SPDX-License-Identifier: BSD-3-Clause
// The local sockets by which members hand packets on to each other. A local datagram socket
// accepts messages of every user, so its reader asks who sent each (ReceiveArea::trusted).
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_MEMBER_SOCKETS_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_MEMBER_SOCKETS_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "dat/base/status.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/udp/forward_message.h"
#include "provider_softnet/udp/member_names.h"

namespace softdat::softnet {

// Hands packets on. It has no name: nobody answers.
Result<UniqueFd> OpenHandOn();

// Takes what is sent to `name`. kInUse when another socket has the name.
Result<UniqueFd> OpenNamed(const MemberName& name);

// Whether a socket has the name now. True when that cannot be found out.
bool IsTaken(const MemberName& name);

// Claims a block that no member of this user has at `host`. Starts to look where `random` says.
struct ClaimedBlock {
  uint32_t number = 0;
  UniqueFd fd;
};
Result<ClaimedBlock> OpenFreeBlock(const std::string& host,
                                   const std::function<uint64_t()>& random);

enum class HandOnResult : uint8_t {
  kDone,
  kNobody,  // no member has the name
  kFull,    // it has not read what was sent before
};
// Sends a packet with its sender in front. Never blocks. Any thread.
HandOnResult HandOn(int fd, const MemberName& name, const sockaddr_storage& source,
                    std::span<const uint8_t> datagram);

// Offers a request, with the two descriptors, which stay the caller's (forward_message.h). Never
// blocks. Any thread.
HandOnResult SendOffer(int fd, const MemberName& name, const MemberOffer& offer, int answer,
                       int lease);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_MEMBER_SOCKETS_H_
