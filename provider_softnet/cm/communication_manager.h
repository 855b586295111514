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
//   HandOff   CmForNewOwner, until AnsweredElsewhere(), LostElsewhere() or kForgotten.
//
// This holds whatever peers send and whatever the network loses, doubles or delays: each event
// comes at most once, in this order.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_COMMUNICATION_MANAGER_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_COMMUNICATION_MANAGER_H_

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "provider_softnet/cm/cm_events.h"
#include "provider_softnet/cm/cm_options.h"
#include "provider_softnet/cm/exchange_table.h"
#include "wire/bytes.h"
#include "wire/rdmacm/cm_messages.h"

namespace softdat::softnet {

class CommunicationManager {
 public:
  // `random` gives 64 bits that peers cannot foresee.
  CommunicationManager(const CmOptions& options, std::function<uint64_t()> random);

  // A datagram that arrived for the queue pair with number 1. The port of `source` is ignored.
  void OnMad(const sockaddr_storage& source, ByteSpan mad, uint64_t now_us);
  void OnTime(uint64_t now_us);
  uint64_t deadline_us() const { return table_.deadline_us(); }

  std::optional<CmOutgoing> TakeOutgoing();
  std::optional<CmEvent> TakeEvent();

  // The active side.
  CmId Connect(const CmConnect& parameters, uint64_t now_us);
  void ReadyToUse(CmId id);

  // The passive side.
  void Accept(CmId id, const CmAccept& parameters, uint64_t now_us);
  // `private_data`: at most kRejPrivateSize bytes.
  void Reject(CmId id, rdmacm::RejectReason reason, ByteSpan private_data, uint64_t now_us);
  // Nobody listens for the service here any more. What a requester repeats may come to another
  // member of this address, which knows nothing of the refusal: so the refusals are repeated
  // unasked.
  void RepeatRefusals(uint64_t service_id, uint64_t now_us);
  // Tells the peer that the answer takes longer. Optional: a request that comes again has the same
  // effect.
  void Delay(CmId id);
  // A packet came on the queue pair that was accepted: the peer is established.
  void EstablishedByData(CmId id);

  // Handing off: the manager of another member of this address answers a request that came here.
  // It speaks to the requester for itself, with a communication ID of its own. Only what the
  // requester addresses to the service still comes here, and is told to the new owner.

  // The request as it came, while it waits for its consumer's answer or was withdrawn.
  std::optional<MadOctets> RequestOf(CmId id);
  void HandOff(CmId id);
  // The new owner has answered, so that nothing more is told to it. `refusal`: what Refusal() says
  // there. It is repeated from here.
  void AnsweredElsewhere(CmId id, ByteSpan refusal, uint64_t now_us);
  // The new owner is gone and has not answered: the requester is refused.
  void LostElsewhere(CmId id, uint64_t now_us);

  // Taking over: the other side of it. False when the request is none, is known here, or finds no
  // room.
  bool CanTakeOver(const sockaddr_storage& source, ByteSpan mad);
  // The same that CanTakeOver() allows. The request is returned, and told by no event.
  CmTakenOver TakeOver(const sockaddr_storage& source, ByteSpan mad, uint64_t now_us);
  // What CmForNewOwner says at the other end.
  void RequestedAgain(CmId id);
  void GivenUp(CmId id, uint64_t now_us);
  // The REJ that this end repeats. Empty when it has not refused.
  std::optional<MadOctets> Refusal(CmId id);

  // Both. CmDisconnected follows, at once where there is no connection yet.
  void Disconnect(CmId id, uint64_t now_us);
  // The local object is gone. The peer is told; CmOver is the only event that may follow.
  void Abandon(CmId id, uint64_t now_us);

  // kNone when nothing is left of it.
  CmState state(CmId id) { return table_.Find(id) ? table_.Find(id)->state : CmState::kNone; }
  size_t size() const { return table_.size(); }

 private:
  // What all messages have.
  struct Arrival {
    const sockaddr_storage& source;
    rdmacm::Gid gid;
    uint64_t transaction_id;
    uint64_t now_us;
  };

  // communication_manager.cc: sending, time, remembering
  uint64_t NewTransaction(const Exchange& e);
  void SendOnce(const sockaddr_storage& to, uint64_t transaction_id,
                const rdmacm::CmMessage& message);
  // Makes it the message that the exchange repeats. False when it cannot be stated.
  bool Prepare(Exchange* e, uint64_t transaction_id, const rdmacm::CmMessage& message);
  void Transmit(const Exchange& e) { outgoing_.push_back({e.address, e.mad}); }
  // Sends what is prepared, up to so many times.
  void Begin(Exchange* e, uint32_t tries, uint64_t now_us);
  void Repeat(Exchange* e, uint64_t now_us);
  void Arm(Exchange* e);
  void OnDue(Exchange* e, uint64_t now_us);
  void Remember(Exchange* e, CmState state, uint64_t until_us);
  void Forget(Exchange* e);
  // The last word about a connection or an attempt, unless it was said.
  void Tell(Exchange* e, CmEvent event);
  void Fail(Exchange* e, transport::RejectReason reason, std::string why);
  Exchange* FindBoth(const Arrival& a, uint32_t own, uint32_t peers) const;

  // cm_active.cc
  rdmacm::CmReq RequestOf(const Exchange& e, const CmConnect& p) const;
  void TryAgain(Exchange* e, uint64_t pause_us, uint64_t now_us);
  void RequestAnew(Exchange* e, uint64_t now_us);
  void OnRequestDue(Exchange* e, uint64_t now_us);
  void On(const Arrival& a, const rdmacm::CmRep& rep);
  void OnReply(Exchange* e, const rdmacm::CmRep& rep, uint64_t now_us);
  void OnReplyAgain(Exchange* e, const Arrival& a, const rdmacm::CmRep& rep);
  void SendReadyToUse(const Exchange& e);
  void OnRefused(Exchange* e, const rdmacm::CmRej& rej, uint64_t now_us);

  // cm_passive.cc
  void On(const Arrival& a, const rdmacm::CmReq& req);
  Exchange& AddPassive(const Arrival& a, const rdmacm::CmReq& req);
  CmRequestArrived OnNewRequest(const Arrival& a, const rdmacm::CmReq& req);
  static std::optional<rdmacm::RejectReason> WhyNot(const rdmacm::CmReq& req);
  void OnKnownRequest(Exchange* e, const Arrival& a, const rdmacm::CmReq& req);
  static bool IsSame(const Exchange& e, const Arrival& a, const rdmacm::CmReq& req);
  void OnRequestAgain(Exchange* e);
  void Refuse(const Arrival& a, const rdmacm::CmReq& req, rdmacm::RejectReason reason);
  void RefuseAsStale(const Arrival& a, const rdmacm::CmReq& req);
  bool HoldsPair(const Exchange& e, uint64_t now_us) const;
  void EndAsStale(Exchange* e, uint64_t now_us);
  void Withdraw(Exchange* e);
  void On(const Arrival& a, const rdmacm::CmRtu& rtu);
  void Establish(Exchange* e);
  void GiveUpReply(Exchange* e, uint64_t now_us);

  // cm_rejecting.cc: MRA and REJ, in both directions
  void On(const Arrival& a, const rdmacm::CmMra& mra);
  void On(const Arrival& a, const rdmacm::CmRej& rej);
  Exchange* FindRejected(const Arrival& a, const rdmacm::CmRej& rej) const;
  rdmacm::CmRej RejectOf(const Exchange& e, rdmacm::RejectReason reason) const;
  void SayNo(Exchange* e, rdmacm::RejectReason reason, ByteSpan private_data, uint64_t now_us);
  void Scold(const Arrival& a, const rdmacm::CmRep& rep);

  // cm_handoff.cc
  void TellNewOwner(const Exchange& e, CmForNewOwner::What what);

  // cm_disconnecting.cc
  void BeginDisconnect(Exchange* e, uint64_t now_us);
  void FinishDisconnect(Exchange* e, uint64_t now_us);
  void EnterTimeWait(Exchange* e, uint64_t now_us);
  bool OvertookReply(const Arrival& a, const rdmacm::CmDreq& dreq) const;
  void On(const Arrival& a, const rdmacm::CmDreq& dreq);
  void On(const Arrival& a, const rdmacm::CmDrep& drep);

  // Datagrams are no connections: they meet by service resolution (service_resolution.h).
  void On(const Arrival&, const rdmacm::SidrReq&) {}
  void On(const Arrival&, const rdmacm::SidrRep&) {}

  const CmOptions options_;
  std::array<uint8_t, 8> guid_octets_;
  const std::function<uint64_t()> random_;
  ExchangeTable table_;
  std::deque<CmOutgoing> outgoing_;
  std::deque<CmEvent> events_;
  // REPs that fit nothing are answered so often within a second at most.
  uint64_t scolding_since_us_ = 0;
  uint32_t scolded_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_COMMUNICATION_MANAGER_H_
