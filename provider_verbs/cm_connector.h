// SPDX-License-Identifier: BSD-3-Clause
// The handshake of rdma_cm for one queue pair, from either side: resolving, request, response,
// accept, and which side ends it. It knows no queue pair. A CmStep says what the pair must do after
// an event. Pairs for datagrams use the active side: they have a request and its answer, and no
// connection.
#ifndef SOFTDAT_PROVIDER_VERBS_CM_CONNECTOR_H_
#define SOFTDAT_PROVIDER_VERBS_CM_CONNECTOR_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_verbs/cm_channel.h"
#include "provider_verbs/cm_rejection.h"
#include "provider_verbs/device.h"
#include "wire/rdmacm/datagram_identity.h"

namespace softdat::verbs {

// What the queue pair must do next.
struct CmStep {
  enum class What : uint8_t {
    kNothing,
    kRequest,      // the route is known: make the hardware ready for answers, then Request()
    kEstablish,    // the peer has accepted: make the hardware ready to send, then Establish()
    kEstablished,  // `data` came from the acceptor
    kTryAgain,     // nobody listens at an address of this host, or this end has drawn a port that
                   // is taken: Resolve() again, a little later
    kFailed,       // because of `reject` and `why`; `data` came from the peer's consumer
    kOver,         // the connection has ended; `broken`: not by the peer's wish
    kDeviceGone,   // the device is gone, and the connection with it
  } what = What::kNothing;
  transport::RejectReason reject = transport::RejectReason::kNonPeer;
  std::string why{};
  std::span<const uint8_t> data{};  // part of the event
  bool broken = false;
};

// How many reads and atomics this end answers at once, and how many it requests at once.
struct ReadDepths {
  uint8_t in = 0;
  uint8_t out = 0;
};

// What a connection request contained. `gone`: the requester has given up meanwhile.
struct AcceptParameters {
  std::shared_ptr<CmId> id;
  bool padded = false;  // the requester understands trailers
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  bool gone = false;
  transport::ConnectionAddresses addresses;
};

// May be used only with the queue pair's control lock held.
class CmConnector {
 public:
  // `space`: RDMA_PS_UDP for datagrams.
  explicit CmConnector(Device& device, rdma_port_space space = RDMA_PS_TCP)
      : device_(device), space_(space) {}
  CmConnector(const CmConnector&) = delete;
  CmConnector& operator=(const CmConnector&) = delete;

  // The active side. The order is Check, Start, then Resolve until the connection is established or
  // has failed.
  Status Check(const transport::ConnectParameters& p) const;
  void Start(const transport::ConnectParameters& p);
  // kUnreachable: the network cannot reach the address. Any other failure is one of this host.
  Status Resolve(std::shared_ptr<CmSink> sink);
  // kNothing: the request was sent.
  CmStep Request(uint32_t qp_num, const transport::QueuePairAttributes& a);
  // The same for datagrams. The acceptor is told who asks.
  CmStep RequestDatagrams(const rdmacm::DatagramIdentity& asker);
  Status Establish();
  transport::Clock::time_point deadline() const { return deadline_; }

  // The passive side.
  void Adopt(const AcceptParameters& p);
  Status Accept(uint32_t qp_num, const transport::QueuePairAttributes& a,
                std::span<const uint8_t> private_data);

  // What the consumer allows, limited by the peer's request.
  ReadDepths DepthsFor(const transport::QueuePairAttributes& a) const;

  // Whether the event belongs to the current id.
  bool Owns(const CmEvent& event) const { return id_ != nullptr && id_->serial() == event.serial; }
  // `connecting`: the connection is neither established nor failed.
  CmStep OnEvent(const CmEvent& event, bool connecting);
  // Data have arrived before RDMA_CM_EVENT_ESTABLISHED.
  void OnFirstMessage();
  void OnEstablished() { linked_ = true; }

  rdma_cm_id* id() const { return id_->get(); }
  bool linked() const { return linked_; }
  const transport::ConnectionAddresses& addresses() const { return addresses_; }
  // The reason that the consumer gets when an attempt ends before it is established.
  transport::RejectReason EndedEarly() const {
    return active_ ? transport::RejectReason::kNonPeer : transport::RejectReason::kAborted;
  }

  // Tells the peer, if the ids of both ends know each other.
  void Disconnect();
  // Destroys the id of an attempt that has not ended, which tells the peer. `may_wait`: the kernel
  // might block the caller here, so the id may be destroyed later, by way of TakeGivenUp().
  void GiveUp(bool may_wait);
  std::shared_ptr<CmId> TakeGivenUp() { return std::move(given_up_); }
  // The attempt is over, and the peer knows it or never heard of the attempt.
  void Drop() { id_.reset(); }
  // To be called before the next connection.
  void Clear();

 private:
  bool for_datagrams() const { return space_ == RDMA_PS_UDP; }
  std::optional<uint64_t> qualifier() const;  // if a port cannot name it
  CmStep Send(rdma_conn_param* param);
  CmStep OnOver(const CmEvent& event);
  CmStep OnAddressResolved(const CmEvent& event);
  CmStep OnRejected(const CmEvent& event) const;
  CmStep OnRefused(const CmRejection& rejection, int status) const;
  CmStep OnUnreachable(const CmEvent& event) const;
  CmStep NobodyListens() const;
  CmStep NotSent(int error);
  // Replaces a loopback address with the interface's own address of this end's family.
  Status ChooseAddresses(sockaddr_storage* local);

  Device& device_;
  const rdma_port_space space_;
  std::shared_ptr<CmId> id_;
  std::shared_ptr<CmId> given_up_;  // unanswered; must be destroyed together with the hardware
  transport::ConnectionAddresses addresses_;
  transport::ConnectParameters connect_;  // its private_data point into connect_data_
  std::vector<uint8_t> connect_data_;
  transport::Clock::time_point deadline_{};
  transport::Clock::time_point grace_until_{};
  ReadDepths offered_{};  // what the peer's request offered
  int taken_ports_ = 0;   // that were drawn, one after the other
  bool active_ = false;
  bool padded_ = false;
  bool linked_ = false;      // the ids of both ends know each other
  bool unanswered_ = false;  // the kernel waits for the peer's answer to a request
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_CM_CONNECTOR_H_
