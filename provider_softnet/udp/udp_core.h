// SPDX-License-Identifier: BSD-3-Clause
// What the sockets of one port have in common. They keep it alive, because a thread may still read
// from a socket while the port is closed.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_CORE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_CORE_H_

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "provider_softnet/driver/driver.h"
#include "provider_softnet/driver/unique_fd.h"
#include "provider_softnet/udp/arrival_judge.h"
#include "provider_softnet/udp/hand_on_backlog.h"
#include "provider_softnet/udp/impaired_arrivals.h"
#include "provider_softnet/udp/member_names.h"
#include "provider_softnet/udp/member_sockets.h"
#include "provider_softnet/udp/packet_sink.h"
#include "provider_softnet/udp/receive_area.h"
#include "provider_softnet/udp/sink_gate.h"
#include "provider_softnet/udp/udp_counters.h"

namespace softdat::softnet {

// The blocks of numbers that a member has. Any thread.
class OwnBlocks {
 public:
  void Add(uint32_t block) {
    words_[block / 64].fetch_or(uint64_t{1} << block % 64, std::memory_order_relaxed);
  }
  bool Has(uint32_t block) const {
    return (words_[block / 64].load(std::memory_order_relaxed) >> block % 64 & 1) != 0;
  }

 private:
  std::array<std::atomic<uint64_t>, kBlocks / 64> words_{};
};

class UdpCore {
 public:
  // `address`: of the adapter, with port 4791.
  UdpCore(const sockaddr_storage& address, Driver* of, PacketSink* to);

  // A datagram from the network, number `segment` of a run: judges it, and gives it to the sink or
  // hands it on.
  void TakeDatagram(const sockaddr_storage& source, std::span<const uint8_t> datagram,
                    size_t segment, ArrivalJudge* judge);
  // What loss on demand has held back until now, inside a pass. Returns whether there was any.
  bool TakeDue(const SinkGate::Pass& pass);
  // A packet, or an offer with its descriptors.
  void TakeHandedOn(std::span<const uint8_t> message, std::vector<UniqueFd> descriptors);

  HandOnResult HandOnTo(const MemberName& name, const Arrival& arrival);

  const sockaddr_storage local;
  const std::string host;  // of local, as it stands in names
  Driver* const driver;
  PacketSink* const sink;  // called inside a pass of `gate` only
  SinkGate gate;
  UdpCounters counters;
  OwnBlocks own_blocks;
  ReceiveAreas areas;
  UniqueFd hand_on_fd;
  // Set with hand_on_fd.
  std::shared_ptr<HandOnBacklog> backlog;
  // Null unless something is impaired. Set before the first socket, as is the next one.
  std::shared_ptr<ImpairedArrivals> impaired;
  // A packet of this sender for a queue pair of this member was handed here. Any thread.
  std::function<void(const sockaddr_storage& source)> on_handed_here;

 private:
  void JudgeAndRoute(const sockaddr_storage& source, std::span<const uint8_t> datagram,
                     size_t segment, ArrivalJudge* judge);
  void Route(const Arrival& arrival);
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_CORE_H_
