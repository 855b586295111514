// SPDX-License-Identifier: BSD-3-Clause
// Communication management over RoCE, without I/O: connections are made and ended as the CM of the
// IBTA does (vol. 1 §12), with the conventions of rdma_cm, so that hardware and the kernel's
// soft-RoCE are peers like our own. One for each adapter. MADs, the time and the consumer's calls
// go in; MADs and events come out. Times are those of any clock that never goes back.
//
// The consumer empties both queues after each call, and calls OnTime() when deadline_us() has come.
// It may make any call at any time. A call that no longer fits, because the peer was faster, does
// nothing.
//
// Each exchange has an id. What the consumer is told of it:
//
//   Connect   CmReplyArrived, on which ReadyToUse() makes the connection, and CmDisconnected ends
//             it; or CmFailed, also behind CmReplyArrived. CmOver is last.
//   CmRequestArrived
//             perhaps CmWithdrawn, and nothing more unless it is accepted;
//   Accept    CmEstablished, and CmDisconnected ends it; or CmFailed. CmOver is last.
//   handoff().HandOff
//             CmForNewOwner, until AnsweredElsewhere(), LostElsewhere() or kForgotten.
//
// This holds whatever peers send and whatever the network loses, doubles or delays: each event
// comes at most once, in this order.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_COMMUNICATION_MANAGER_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_COMMUNICATION_MANAGER_H_

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "provider_softnet/cm/cm_active.h"
#include "provider_softnet/cm/cm_events.h"
#include "provider_softnet/cm/cm_handoff.h"
#include "provider_softnet/cm/cm_options.h"
#include "provider_softnet/cm/cm_passive.h"
#include "provider_softnet/cm/exchange_endings.h"
#include "provider_softnet/cm/exchange_keeper.h"
#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

class CommunicationManager {
 public:
  // `random` gives 64 bits that peers cannot foresee.
  CommunicationManager(const CmOptions& options, std::function<uint64_t()> random);
  CommunicationManager(const CommunicationManager&) = delete;
  CommunicationManager& operator=(const CommunicationManager&) = delete;

  // A datagram that arrived for the queue pair with number 1. The port of `source` is ignored.
  void OnMad(const sockaddr_storage& source, ByteSpan mad, uint64_t now_us);
  void OnTime(uint64_t now_us);
  uint64_t deadline_us() const { return table_.deadline_us(); }

  std::optional<CmOutgoing> TakeOutgoing() { return keeper_.TakeOutgoing(); }
  std::optional<CmEvent> TakeEvent() { return keeper_.TakeEvent(); }

  // The active side.
  CmId Connect(const CmConnect& parameters, uint64_t now_us) {
    return active_.Connect(parameters, now_us);
  }
  void ReadyToUse(CmId id) { active_.ReadyToUse(id); }

  // The passive side.
  void Accept(CmId id, const CmAccept& parameters, uint64_t now_us) {
    passive_.Accept(id, parameters, now_us);
  }
  // `private_data`: at most kRejPrivateSize bytes.
  void Reject(CmId id, rdmacm::RejectReason reason, ByteSpan private_data, uint64_t now_us) {
    passive_.Reject(id, reason, private_data, now_us);
  }
  // Nobody listens for the service here any more. What a requester repeats may come to another
  // member of this address, which knows nothing of the refusal: so the refusals are repeated
  // unasked.
  void RepeatRefusals(uint64_t service_id, uint64_t now_us) {
    passive_.RepeatRefusals(service_id, now_us);
  }
  // Tells the peer that the answer takes longer. Optional: a request that comes again has the same
  // effect.
  void Delay(CmId id) { passive_.Delay(id); }
  // A packet came on the queue pair that was accepted: the peer is established.
  void EstablishedByData(CmId id) { passive_.EstablishedByData(id); }

  // Requests that another manager of this address answers.
  CmHandoff& handoff() { return handoff_; }

  // Both. CmDisconnected follows, at once where there is no connection yet.
  void Disconnect(CmId id, uint64_t now_us);
  // The local object is gone. The peer is told; CmOver is the only event that may follow.
  void Abandon(CmId id, uint64_t now_us);

  // kNone when nothing is left of it.
  CmState state(CmId id) const;
  size_t size() const { return table_.size(); }

 private:
  void OnDue(Exchange* e, uint64_t now_us);

  void On(const CmArrival& a, const rdmacm::CmReq& req) { passive_.OnReq(a, req); }
  void On(const CmArrival& a, const rdmacm::CmRep& rep) { active_.OnRep(a, rep); }
  void On(const CmArrival& a, const rdmacm::CmRtu& rtu) { passive_.OnRtu(a, rtu); }
  void On(const CmArrival& a, const rdmacm::CmMra& mra);
  void On(const CmArrival& a, const rdmacm::CmRej& rej);
  void On(const CmArrival& a, const rdmacm::CmDreq& dreq);
  void On(const CmArrival& a, const rdmacm::CmDrep& drep);
  // Datagrams are no connections: they meet by service resolution (service_resolution.h).
  void On(const CmArrival&, const rdmacm::SidrReq&) {}
  void On(const CmArrival&, const rdmacm::SidrRep&) {}

  Exchange* FindRejected(const CmArrival& a, const rdmacm::CmRej& rej) const;
  bool OvertookReply(const CmArrival& a, const rdmacm::CmDreq& dreq) const;

  ExchangeKeeper keeper_;
  ExchangeTable& table_ = keeper_.table();
  ExchangeEndings endings_;
  CmActive active_;
  CmPassive passive_;
  CmHandoff handoff_;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_COMMUNICATION_MANAGER_H_
