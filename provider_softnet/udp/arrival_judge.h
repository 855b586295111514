// SPDX-License-Identifier: BSD-3-Clause
// Whether a datagram that arrived is a packet: its ICRC, and its form.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_ARRIVAL_JUDGE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_ARRIVAL_JUDGE_H_

#include <sys/socket.h>

#include <cstdint>
#include <span>

#include "provider_softnet/udp/destination.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

enum class Verdict : uint8_t {
  kPacket,
  kPacketOfId,  // the same, from a sender that counts IPv4 identifications
  kBadIcrc,
  kMalformed,
};

// Judges datagrams, mostly several of one sender in a row. One thread at a time.
class ArrivalJudge {
 public:
  // `local`: the socket's end, on port 4791.
  explicit ArrivalJudge(const sockaddr_storage& local) : local_(local) {}

  // `datagram`: the UDP payload of what `source` sent, which is number `segment` of those that came
  // as one run. Writes *packet for kPacket and kPacketOfId.
  Verdict Judge(const sockaddr_storage& source, std::span<const uint8_t> datagram, size_t segment,
                roce::Packet* packet);

 private:
  bool IsOfLastSource(const sockaddr_storage& source) const;
  uint32_t StartOf(size_t size);

  const sockaddr_storage local_;
  // Of the last datagram:
  sockaddr_storage source_{};
  Flow flow_;
  size_t size_ = 0;
  uint32_t start_ = 0;    // for this size
  uint16_t next_id_ = 0;  // that a counting sender has next; 0: it does not count
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_ARRIVAL_JUDGE_H_
