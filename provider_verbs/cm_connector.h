// SPDX-License-Identifier: BSD-3-Clause
// The handshake of rdma_cm for one queue pair, from either side: resolving, request, response,
// accept, and who ends it. It knows no queue pair: what an event asks of that is a CmStep.
#ifndef SOFTDAT_PROVIDER_VERBS_CM_CONNECTOR_H_
#define SOFTDAT_PROVIDER_VERBS_CM_CONNECTOR_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dat/transport/transport.h"
#include "provider_verbs/cm_channel.h"
#include "provider_verbs/device.h"

namespace softdat::verbs {

// What is to be done next.
struct CmStep {
  enum class What : uint8_t {
    kNothing,
    kRequest,      // the way is known: make the hardware ready for answers, then Request()
    kEstablish,    // the peer has accepted: make the hardware ready to send, then Establish()
    kEstablished,  // `data` are the acceptor's
    kTryAgain,     // nobody listens at an address of this host: Resolve() again, a little later
    kFailed,       // for `reject` and `why`, `data` are the peer's consumer's
    kOver,         // the connection that there was; `broken`: not because the peer wished so
    kDeviceGone,   // and the connection with it
  } what = What::kNothing;
  transport::RejectReason reject = transport::RejectReason::kNonPeer;
  std::string why{};
  std::span<const uint8_t> data{};  // of the event
  bool broken = false;
};

// Of this end: how many reads and atomics it answers at once, and how many it asks.
struct ReadDepths {
  uint8_t in = 0;
  uint8_t out = 0;
};

// What a connection request gave; `gone`: the requester has given up meanwhile.
struct AcceptParameters {
  std::shared_ptr<CmId> id;
  bool padded = false;  // the requester understands trailers
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  bool gone = false;
  transport::ConnectionAddresses addresses;
};

// Belongs to whoever holds the queue pair's lock for control.
class CmConnector {
 public:
  explicit CmConnector(Device& device) : device_(device) {}
  CmConnector(const CmConnector&) = delete;
  CmConnector& operator=(const CmConnector&) = delete;

  // The active side. Check, Start, then Resolve until something is established or has failed.
  Status Check(const transport::ConnectParameters& p) const;
  void Start(const transport::ConnectParameters& p);
  // kUnreachable: the network cannot reach the address; anything else is a failure of this host.
  Status Resolve(std::shared_ptr<CmSink> sink);
  // kNothing: the request is on its way.
  CmStep Request(uint32_t qp_num, const transport::QueuePairAttributes& a);
  Status Establish();
  transport::Clock::time_point deadline() const { return deadline_; }

  // The passive side.
  void Adopt(const AcceptParameters& p);
  Status Accept(uint32_t qp_num, const transport::QueuePairAttributes& a,
                std::span<const uint8_t> private_data);

  // What the consumer allows, as far as the peer's request does.
  ReadDepths DepthsFor(const transport::QueuePairAttributes& a) const;

  // Whether the event is one of the identifier that there is now.
  bool Owns(const CmEvent& event) const { return id_ != nullptr && id_->serial() == event.serial; }
  // `connecting`: nothing has been established yet, and nothing has failed.
  CmStep OnEvent(const CmEvent& event, bool connecting);
  // Data have come before RDMA_CM_EVENT_ESTABLISHED.
  void OnFirstMessage();
  void OnEstablished() { linked_ = true; }

  rdma_cm_id* id() const { return id_->get(); }
  bool linked() const { return linked_; }
  const transport::ConnectionAddresses& addresses() const { return addresses_; }
  // That an attempt ended before it was established: the consumer's word for its cause.
  transport::RejectReason EndedEarly() const {
    return active_ ? transport::RejectReason::kNonPeer : transport::RejectReason::kAborted;
  }

  // Tells the peer, where the ids of both ends know each other.
  void Disconnect();
  // Destroys the identifier of an attempt that has not ended, which tells the peer. `may_wait`: the
  // identifier can be destroyed later, with TakeGivenUp(), where the kernel would keep the caller.
  void GiveUp(bool may_wait);
  std::shared_ptr<CmId> TakeGivenUp() { return std::move(given_up_); }
  // The attempt is over and the peer knows, or never heard of it.
  void Drop() { id_.reset(); }
  // Before the next connection.
  void Clear();

 private:
  CmStep OnOver(const CmEvent& event);
  CmStep OnAddressResolved(const CmEvent& event);
  CmStep OnRejected(const CmEvent& event) const;
  CmStep OnUnreachable(const CmEvent& event) const;
  CmStep NobodyListens() const;
  // The interface's own address in the place of a loopback one, for this end's family.
  Status ChooseAddresses(sockaddr_storage* local);

  Device& device_;
  std::shared_ptr<CmId> id_;
  std::shared_ptr<CmId> given_up_;  // unanswered: the hardware goes together with it
  transport::ConnectionAddresses addresses_;
  transport::ConnectParameters connect_;  // its private_data point into connect_data_
  std::vector<uint8_t> connect_data_;
  transport::Clock::time_point deadline_{};
  transport::Clock::time_point grace_until_{};
  ReadDepths offered_{};  // by the peer's request
  bool active_ = false;
  bool padded_ = false;
  bool linked_ = false;      // the ids of both ends know each other
  bool unanswered_ = false;  // the kernel waits for the peer's answer to a request
};

}  // namespace softdat::verbs

#endif  // SOFTDAT_PROVIDER_VERBS_CM_CONNECTOR_H_
