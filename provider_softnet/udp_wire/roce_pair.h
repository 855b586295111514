// SPDX-License-Identifier: BSD-3-Clause
// A queue pair of any service, as packets find it.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_PAIR_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_PAIR_H_

#include "provider_softnet/driver/channel.h"
#include "provider_softnet/udp/packet_sink.h"

namespace softdat::softnet {

// Any thread may call.
class RocePair : public Channel {
 public:
  // A packet for a number that the pair had a moment ago. Makes no upcall.
  virtual void OnPacket(const Arrival& arrival) = 0;
  // The packets of a batch have come: answers and upcalls leave.
  virtual void OnPacketsEnd() = 0;
  // The same, but by the holder of the token, soon.
  virtual void FinishPacketsSoon() = 0;
  // The socket has room again.
  virtual void OnRoom() = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_PAIR_H_
