// SPDX-License-Identifier: BSD-3-Clause
// The datagram port of one adapter: what it sends and receives as RoCEv2. Port 4791 of an address
// is shared by the adapters of one user, in one process or several, without an owner. Each of them
// is a member (member_names.h): it receives on a socket of its own, and hands on what is another
// member's.
//
// It knows packets, and no connection. Everything received goes to the sink.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_PORT_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_PORT_H_

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dat/base/status.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/roce/packet_batch.h"
#include "provider_softnet/udp/destination.h"
#include "provider_softnet/udp/packet_sender.h"
#include "provider_softnet/udp/packet_sink.h"
#include "provider_softnet/udp/receive_socket.h"
#include "provider_softnet/udp/steering.h"
#include "provider_softnet/udp/udp_core.h"

namespace softdat::softnet {

struct UdpPortOptions {
  // What SOFTDAT_UDP_LOSS says (impairment.h).
  std::string loss;
  // A sender gets a socket of its own when so many of its packets were handed here (steering.h),
  // and so many senders have one at a time.
  uint32_t steer_after = 8;
  size_t most_steered = 256;

  static UdpPortOptions FromSettings();
};

// A service id that this member listens on, for as long as it lives. To be destroyed with the
// token, before the port.
class ServiceBinding {
 public:
  explicit ServiceBinding(RefPtr<ReceiveSocket> socket) : socket_(std::move(socket)) {}
  ~ServiceBinding() { socket_->Close(); }
  ServiceBinding(const ServiceBinding&) = delete;
  ServiceBinding& operator=(const ServiceBinding&) = delete;

 private:
  const RefPtr<ReceiveSocket> socket_;
};

class UdpPort {
 public:
  // Starts the driver if it is not started, and takes its token for a while. `address`: IPv4 or
  // IPv6, whatever its port; not a wildcard. Packets may come before this returns. `driver` and
  // `sink` outlive the port. Fails with kInUse when somebody else has port 4791, and with
  // kInvalidArgument when the loss on demand is not understood.
  static Result<std::unique_ptr<UdpPort>> Open(const sockaddr_storage& address,
                                               const UdpPortOptions& options, Driver* driver,
                                               PacketSink* sink);
  // Takes the token. Returns when no thread is inside the sink, except the caller itself, and none
  // will come.
  ~UdpPort();
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  // Any thread, before the port is closed: takes what has come to its sockets, apart from those
  // that bring one sender's packets for this member alone. It may be for other members, or another
  // member's last word.
  void TakeTheRest();
  // Any thread: returns when other members have what is theirs, or at `deadline`.
  void HandOnTheRest(LoopClock::time_point deadline) { core_->backlog->Drain(deadline); }
  // The process exits (HandOnBacklog).
  void BeginLeaving() { core_->backlog->BeginLeaving(); }

  // ---- sending; any thread, no lock ----

  // Port 4791 of `peer`, which is of the port's family.
  Destination DestinationOf(const sockaddr_storage& peer) const { return {source_, peer}; }
  SendResult Send(const PacketBatch& batch, const Destination& to, size_t first = 0) {
    return sender_.Send(batch, first, to);
  }
  // After a Send that has to wait: PacketSink::OnWritable is called once, soon.
  void WantWritable();

  // ---- numbers; any thread ----

  // Another block of queue pair numbers for this member alone (QpnTable).
  Result<uint32_t> ClaimBlock();
  // The first one, which the upper 12 bits of this member's communication ids name.
  uint32_t home_block() const { return home_block_; }
  // Whether a member of this user on this host has the queue pair number at `host`, the text of an
  // address. Takes nothing from the heap.
  bool HasMember(const std::string& host, uint32_t qpn) const;
  bool OwnsBlock(uint32_t block) const { return core_->own_blocks.Has(block); }

  // ---- packets for queue pair 1 that are another member's; any thread, inside OnPacket ----

  // `arrival` is for the member that has `block` (BlockOfCommId), or listens on `service_id`. The
  // caller has looked whether it is this member, and whether the packet was handed on already.
  HandOnResult HandOnToBlock(uint32_t block, const Arrival& arrival);
  HandOnResult HandOnToService(uint64_t service_id, const Arrival& arrival);
  // From now on other members hand packets for `service_id` to this one. With the token. kInUse
  // when a member listens on it already.
  Result<std::unique_ptr<ServiceBinding>> ListenOn(uint64_t service_id);

  // A packet of this sender was handed here, and many are expected. Those would be handed on, too,
  // and the local sockets hold few: so the sender gets a socket of its own now. With the token.
  void Steer(const sockaddr_storage& source);

  const sockaddr_storage& local() const { return core_->local; }
  uint16_t source_port() const;
  const UdpCounters& counters() const { return core_->counters; }

 private:
  UdpPort(std::shared_ptr<UdpCore> core, std::function<uint64_t()> random);
  Status OpenSockets();
  void PrepareSteering(const UdpPortOptions& options);
  void PrepareImpairment(const ImpairmentSpec& spec);
  Status WatchSender();
  RefPtr<ReceiveSocket> NewSocket(UniqueFd fd, ReceiveSocket::From from);
  void Close();

  const std::shared_ptr<UdpCore> core_;
  PacketSender sender_;
  sockaddr_storage source_{};  // the sender's end
  std::shared_ptr<SocketWatch> writable_;
  std::shared_ptr<SteeredSockets> steered_;  // guarded by the token
  std::shared_ptr<FrequentSenders> frequent_;
  uint32_t home_block_ = 0;

  std::mutex mutex_;  // protects random_ and sockets_
  const std::function<uint64_t()> random_;
  std::vector<RefPtr<ReceiveSocket>> sockets_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_UDP_PORT_H_
