// SPDX-License-Identifier: BSD-3-Clause
// One address of an adapter: its datagram port, its connection management, and who is meant by a
// packet, an exchange or a service there.
//
// Packets come from any thread. Those for queue pairs go straight to them. Those for connection
// management wait for the holder of the driver token, to whom everything else here belongs.
#ifndef SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_PLANE_H_
#define SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_PLANE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_softnet/cm/communication_manager.h"
#include "provider_softnet/cm/service_resolution.h"
#include "provider_softnet/driver/driver.h"
#include "provider_softnet/memory/memory_table.h"
#include "provider_softnet/udp/packet_sink.h"
#include "provider_softnet/udp/qpn_table.h"
#include "provider_softnet/udp/udp_port.h"
#include "provider_softnet/udp_wire/handoff_lease.h"
#include "provider_softnet/udp_wire/peer_watch.h"
#include "provider_softnet/udp_wire/roce_adapter.h"
#include "provider_softnet/udp_wire/roce_pair.h"

namespace softdat::softnet {

class DatagramEndpoint;
class RoceEndpoint;

// A service point takes requests for connections and for datagrams, which rdma_cm gives different
// service ids. This is the one of connections, which stands for both. Other ids stay as they are.
uint64_t ConnectionServiceOf(uint64_t service_id);

// A listener in the form in which requests find it.
struct RoceServicePoint {
  uint64_t conn_qual = 0;
  transport::ListenerSink* sink = nullptr;  // with the token; null: the listener is gone
};

class RocePlane final : public std::enable_shared_from_this<RocePlane>, private PacketSink {
 public:
  // The adapter outlives it.
  RocePlane(RoceAdapter* adapter, const sockaddr_storage& address);
  ~RocePlane();
  RocePlane(const RocePlane&) = delete;
  RocePlane& operator=(const RocePlane&) = delete;

  // Opens the port at the first call. Any thread. kInUse when port 4791 is somebody else's.
  Status Start();
  // As Wire::Stop().
  void Stop();
  // As Wire::OnProcessExit(): nothing is taken any more, and what is another member's is handed on.
  // An acknowledgement from here to another process of this address may have come here. Peers hear
  // that their connections are over, as an adapter's driver tells them for a process that has gone.
  void Leave(LoopClock::time_point deadline);

  // ---- any thread ----
  SendResult Send(const PacketBatch& batch, const Destination& to, size_t first) {
    return port_->Send(batch, to, first);
  }
  // RocePair::OnRoom() is called once the socket has room again.
  void WaitForRoom(RocePair* pair);
  Destination DestinationOf(const sockaddr_storage& peer) const {
    return port_->DestinationOf(peer);
  }
  uint16_t source_port() const { return port_->source_port(); }
  const sockaddr_storage& address() const { return address_; }
  // The path MTU of this end.
  uint32_t mtu() const { return adapter_->attributes.mtu; }

  // A number for a queue pair, which has it until its exchange is over (CmOver) or ReleaseQpn().
  // The plane is started.
  Result<uint32_t> AllocateQpn(RocePair* pair);
  // The number is not given out again for the time of `rest`.
  void ReleaseQpn(uint32_t qpn, std::chrono::milliseconds rest = {});

  // ---- token ----
  CommunicationManager& cm() { return *cm_; }
  ServiceResolution& resolution() { return *resolution_; }
  RoceAdapter& adapter() const { return *adapter_; }
  uint64_t Random() { return random_(); }
  uint32_t RandomPsn() { return static_cast<uint32_t>(random_()) & roce::kMask24; }
  // Events of the exchange go to the endpoint from now on; null: to nobody.
  void Attach(CmId id, RoceEndpoint* endpoint);
  void Detach(CmId id);
  // The same for the outcome of an own question for datagrams.
  void AttachAsker(SidrId id, DatagramEndpoint* endpoint);
  void DetachAsker(SidrId id);
  // To be called after each call of cm() or resolution(): sends what is to be sent, minds the time,
  // and sees to it that events are told soon.
  void Flush();
  // The same, and tells the events at once. Makes upcalls.
  void Pump();
  // The service point for a request that names the qualifier, or only the service id: then that is
  // enough if a single service point has it. Null when there is none.
  std::shared_ptr<RoceServicePoint> FindService(uint64_t service_id,
                                                std::optional<uint64_t> conn_qual);
  // kInUse when the qualifier is taken.
  Status JoinService(const std::shared_ptr<RoceServicePoint>& point);
  void LeaveService(const std::shared_ptr<RoceServicePoint>& point);
  // The consumer has refused a request or handed it off, so that nothing more is expected of its
  // sender here.
  void CloseRequest(CmId id);
  void CloseDatagramRequest(SidrId id);
  // The connection of an exchange ends when the peer's process does.
  void WatchPeer(CmId id, const sockaddr_storage& host, uint32_t qpn) {
    watch_->Add(id, host, qpn);
  }
  // Hands a request off to the service point of another member of this address, as
  // ConnectionRequest::Handoff(). Any thread, without the token.
  Status HandOff(const CmRequestArrived& request, uint64_t conn_qual);
  // Makes the upcall. A request that nobody takes is refused.
  void Deliver(const std::shared_ptr<RoceServicePoint>& point,
               std::unique_ptr<transport::ConnectionRequest> request);

 private:
  // The qualifiers of one port, and that other members hand its requests to this one. It stays
  // without qualifiers as long as requests are open, because they may come again.
  struct Service {
    std::unique_ptr<ServiceBinding> binding;
    std::map<uint64_t, std::shared_ptr<RoceServicePoint>> points;
  };

  // PacketSink.
  void OnPacket(const Arrival& arrival) override;
  void OnOffer(const MemberOffer& offer, std::vector<UniqueFd> descriptors) override;
  void OnBatchEnd() override;
  void OnWritable() override;

  // roce_plane_cm.cc
  void OnMadArrived(const Arrival& arrival);
  void HandOnMadAtExit(const Arrival& arrival);
  void TakeMads();
  void OnMad(const Arrival& arrival);
  Driver& driver() const { return adapter_->driver; }
  bool HandOnMad(const Arrival& arrival, const rdmacm::CmMessage& message);
  void SendMad(const CmOutgoing& outgoing);
  void Tell(const CmEvent& event);
  void OnRequest(const CmRequestArrived& event);
  void DropServiceIfUnused(uint64_t service_id);
  void EndExchanges();
  RefPtr<RoceEndpoint> EndpointOf(CmId id) const;
  void ArmTimer();

  // roce_plane_handoff.cc
  struct ArrivedOffer {
    sockaddr_storage source;
    uint64_t conn_qual;
    MadOctets mad;
    UniqueFd answer, lease;
  };
  using Leases = std::map<CmId, std::unique_ptr<HandoffLease>>;
  void EndHandOff(const CmRequestArrived& request, const Status& status, UniqueFd lease);
  bool Postpone(ArrivedOffer* offer);
  void TakeOffers();
  void TakeOffer(ArrivedOffer* offer);
  void OnNewOwnersWord(CmId id, LeaseWord word, ByteSpan rest);
  void OnFirstOwnersWord(CmId id, LeaseWord word);
  void TellNewOwner(const CmForNewOwner& news);
  void TellFirstOwner(CmId id);
  void HoldLease(Leases* leases, CmId id, UniqueFd fd);
  void DropLease(Leases* leases, CmId id);
  void DropLeases();
  void OnServiceDropped(uint64_t service_id);

  // roce_plane_datagrams.cc
  void Tell(const SidrEvent& event);
  void OnDatagramRequest(const SidrRequestArrived& event);
  RefPtr<DatagramEndpoint> TakeAsker(SidrId id);

  RoceAdapter* const adapter_;
  const sockaddr_storage address_;
  // Set with the token, when all that Start() makes is there.
  std::atomic<bool> started_{false};
  std::atomic<bool> leaving_{false};  // the process exits

  // Set by Start(), constant from then on.
  std::function<uint64_t()> random_;  // with the token
  std::unique_ptr<UdpPort> port_;
  std::unique_ptr<QpnTable<RocePair>> pairs_;

  // With the token:
  std::optional<CommunicationManager> cm_;
  std::optional<ServiceResolution> resolution_;
  std::optional<LoopTimer> cm_timer_;  // of both
  std::map<CmId, RefPtr<RoceEndpoint>> exchanges_;
  std::map<SidrId, RefPtr<DatagramEndpoint>> askers_;
  std::map<CmId, uint64_t> open_requests_;  // their service ids
  std::map<SidrId, uint64_t> open_datagram_requests_;
  // Requests that are being handed off.
  struct HandingOff {
    uint64_t conn_qual;             // to this one
    std::deque<ArrivedOffer> back;  // offers that bring it back already
  };
  std::map<CmId, HandingOff> handing_off_;
  Leases handed_off_;                             // requests that another member has now
  std::map<CmId, uint64_t> handed_off_services_;  // their service ids
  Leases taken_over_;                             // requests that another member had
  std::optional<PeerWatch> watch_;
  std::deque<std::variant<CmEvent, SidrEvent>> events_;  // not told yet
  // By the service id of connections (ConnectionServiceOf).
  std::map<uint64_t, Service> services_;
  bool pumping_ = false;
  bool stopped_ = false;
  uint64_t cm_armed_us_ = kCmNever;
  uint32_t mad_psn_ = 0;

  // MADs that wait for the holder of the token.
  struct ArrivedMad {
    sockaddr_storage source;
    std::vector<uint8_t> datagram;
    bool handed_on;
  };
  std::mutex mads_mutex_;  // guards mads_ and offers_
  std::deque<ArrivedMad> mads_;
  std::deque<ArrivedOffer> offers_;

  std::mutex waiting_mutex_;               // guards waiting_
  std::vector<RefPtr<RocePair>> waiting_;  // for room in the socket
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_UDP_WIRE_ROCE_PLANE_H_
