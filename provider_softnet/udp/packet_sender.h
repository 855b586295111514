// SPDX-License-Identifier: BSD-3-Clause
// Sends packets of a batch: makes pad and ICRC, and gives as many datagrams as possible to the
// kernel in one system call.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SENDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SENDER_H_

#include <cstddef>

#include "provider_softnet/roce/packet_batch.h"
#include "provider_softnet/udp/destination.h"
#include "provider_softnet/udp/udp_counters.h"

namespace softdat::softnet {

struct SendResult {
  // Packets that are done with, from the first one on. They were sent, or the kernel refused them
  // for a reason that waiting does not mend, and then they count as lost on the way.
  size_t packets = 0;
  // The socket is full. The rest can be sent when it is writable.
  bool wait = false;
};

// Any thread, several at once. Sends `batch` from its packet `first` on. No memory is allocated and
// no lock is taken.
SendResult SendPackets(int fd, const PacketBatch& batch, size_t first, const Destination& to,
                       UdpCounters* counters);

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SENDER_H_
