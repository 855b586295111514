// SPDX-License-Identifier: BSD-3-Clause
// Whether a datagram that arrived is a packet: its ICRC, and its form.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_ARRIVAL_JUDGE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_ARRIVAL_JUDGE_H_

#include <sys/socket.h>

#include <cstdint>
#include <span>

#include "wire/roce/packet.h"

namespace softdat::softnet {

enum class Verdict : uint8_t {
  kPacket,
  kPacketOfId,  // the same, from a sender that counts IPv4 identifications
  kBadIcrc,
  kMalformed,
};

// `datagram`: the UDP payload of what `source` sent to `local`, a socket on port 4791. Writes
// *packet for kPacket and kPacketOfId.
Verdict JudgeArrival(const sockaddr_storage& source, const sockaddr_storage& local,
                     std::span<const uint8_t> datagram, roce::Packet* packet);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_ARRIVAL_JUDGE_H_
