// SPDX-License-Identifier: BSD-3-Clause
// Who gets the packets that arrive at a port.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SINK_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SINK_H_

#include <sys/socket.h>

#include <cstdint>
#include <span>
#include <vector>

#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/udp/forward_message.h"
#include "wire/roce/packet.h"

namespace softdat::softnet {

// A packet whose ICRC was right, for a queue pair of this member or for queue pair 1. All of it is
// good until OnPacket returns.
struct Arrival {
  const sockaddr_storage& source;     // with the port that it was sent from
  const roce::Packet& packet;         // its payload lies in `datagram`
  std::span<const uint8_t> datagram;  // the UDP payload
  bool handed_on;                     // by another member; it must not be handed on again
};

// Called by any thread that receives, by several at once when the port has several sockets. The
// port holds no lock meanwhile.
class PacketSink {
 public:
  virtual void OnPacket(const Arrival& arrival) = 0;
  // Another member offers a request that its consumer hands off. The descriptors are whatever came
  // with it. Any thread.
  virtual void OnOffer(const MemberOffer& offer, std::vector<UniqueFd> descriptors) = 0;
  // The thread that called OnPacket has no more packets at hand. What they ask to be sent may
  // leave.
  virtual void OnBatchEnd() = 0;
  // With the driver's token: the sending socket has room again (UdpPort::WantWritable).
  virtual void OnWritable() = 0;

 protected:
  ~PacketSink() = default;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SINK_H_
