// SPDX-License-Identifier: BSD-3-Clause
// Sends packets of a batch: makes pad and ICRC, and gives as many datagrams as possible to the
// kernel in one system call. Where the way allows it, packets of one size leave as one piece that
// the kernel cuts (UDP_SEGMENT), so that they pass through its layers once.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SENDER_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SENDER_H_

#include <atomic>
#include <cstddef>
#include <utility>

#include "provider_softnet/driver/unique_fd.h"
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

class PacketSender {
 public:
  explicit PacketSender(UdpCounters* counters) : counters_(counters) {}

  // Before the first Send.
  void Use(UniqueFd fd) { fd_ = std::move(fd); }
  int fd() const { return fd_.get(); }

  // Any thread, several at once. Sends `batch` from its packet `first` on. No memory is allocated
  // and no lock is taken.
  SendResult Send(const PacketBatch& batch, size_t first, const Destination& to);

 private:
  UdpCounters* const counters_;
  UniqueFd fd_;
  std::atomic<bool> kernel_cuts_{true};  // until it refuses to
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_PACKET_SENDER_H_
