// SPDX-License-Identifier: BSD-3-Clause
// The passive side: a REQ that arrives, its answer, RTU.
#include <algorithm>
#include <optional>

#include "provider_softnet/cm/communication_manager.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

using rdmacm::Answered;
using rdmacm::CmRej;
using rdmacm::CmReq;
using transport::RejectReason;

namespace {

constexpr uint8_t kLargestMtu = 5;

}  // namespace

// Why a request cannot be answered, whoever listens.
std::optional<rdmacm::RejectReason> CommunicationManager::WhyNot(const CmReq& req) {
  if (req.transport != rdmacm::TransportType::kRc)
    return rdmacm::RejectReason::kInvalidTransportType;
  if (req.local_qpn <= rdmacm::kGsiQpn) return rdmacm::RejectReason::kNoQp;
  if (req.path_mtu == 0 || req.path_mtu > kLargestMtu) return rdmacm::RejectReason::kInvalidMtu;
  return std::nullopt;
}

void CommunicationManager::On(const Arrival& a, const CmReq& req) {
  if (req.local_comm_id == 0) return;
  if (const auto reason = WhyNot(req)) return Refuse(a, req, *reason);
  Exchange* const same_id = table_.FindByPeerId(a.gid, req.local_ca_guid, req.local_comm_id);
  if (same_id != nullptr) return OnKnownRequest(same_id, a, req);
  Exchange* const same_pair = table_.FindByPeerQpn(a.gid, req.local_ca_guid, req.local_qpn);
  if (same_pair != nullptr && HoldsPair(*same_pair, a.now_us)) {
    EndAsStale(same_pair, a.now_us);
    return RefuseAsStale(a, req);
  }
  if (table_.half_open() >= options_.most_half_open)
    return Refuse(a, req, rdmacm::RejectReason::kNoResources);
  events_.emplace_back(OnNewRequest(a, req));
}

Exchange& CommunicationManager::AddPassive(const Arrival& a, const CmReq& req) {
  Exchange& e = table_.Add(CmState::kRequestReceived, a.source, a.gid);
  table_.SetPeer(&e, req.local_comm_id, {req.local_ca_guid, req.local_qpn, req.starting_psn});
  e.transaction_id = a.transaction_id;
  e.service_id = req.service_id;
  e.depths = {.in = req.initiator_depth, .out = req.responder_resources};
  return e;
}

CmRequestArrived CommunicationManager::OnNewRequest(const Arrival& a, const CmReq& req) {
  Exchange& e = AddPassive(a, req);
  table_.HoldPair(&e);
  Prepare(&e, a.transaction_id, req);
  CmRequestArrived event{.id = e.id, .source = a.source, .service_id = req.service_id};
  event.peer = e.peer;
  event.offered = e.depths;
  event.path_mtu = req.path_mtu;
  event.retry_count = req.retry_count;
  event.rnr_retry_count = req.rnr_retry_count;
  event.local_ack_timeout = req.primary.local_ack_timeout;
  event.srq = req.srq;
  std::copy(req.private_data.begin(), req.private_data.end(), event.private_data.begin());
  return event;
}

// After a crash a peer may use a comm ID anew; then the rest is different.
bool CommunicationManager::IsSame(const Exchange& e, const Arrival& a, const CmReq& req) {
  return !e.active && e.transaction_id == a.transaction_id && e.service_id == req.service_id &&
         e.peer.qpn == req.local_qpn && e.peer.starting_psn == req.starting_psn;
}

void CommunicationManager::OnKnownRequest(Exchange* e, const Arrival& a, const CmReq& req) {
  if (IsSame(*e, a, req)) return OnRequestAgain(e);
  EndAsStale(e, a.now_us);
  RefuseAsStale(a, req);
}

void CommunicationManager::OnRequestAgain(Exchange* e) {
  switch (e->state) {
    case CmState::kRequestReceived:
      // The first one may have crossed the answer; who sends more should learn that it can stop.
      if (e->duplicate_requests++ > 0 || e->asked_for_time) Delay(e->id);
      return;
    case CmState::kReplySent:
    case CmState::kRejected:
      return Transmit(*e);
    case CmState::kDisconnecting:
    case CmState::kTimeWait:
      return SendOnce(e->address, e->transaction_id,
                      CmRej{.remote_comm_id = e->peer_comm_id,
                            .answered = Answered::kReq,
                            .reason = rdmacm::RejectReason::kStaleConnection});
    case CmState::kHandedOff:
      return TellNewOwner(*e, CmForNewOwner::What::kAgain);
    default:
      return;
  }
}

// Without remembering it: the same again is judged anew.
void CommunicationManager::Refuse(const Arrival& a, const CmReq& req, rdmacm::RejectReason reason) {
  SendOnce(
      a.source, a.transaction_id,
      CmRej{.remote_comm_id = req.local_comm_id, .answered = Answered::kReq, .reason = reason});
}

// The refusal is remembered. Its cause is gone now, so a late copy of the same request would be
// accepted, while its sender already makes another one.
void CommunicationManager::RefuseAsStale(const Arrival& a, const CmReq& req) {
  SayNo(&AddPassive(a, req), rdmacm::RejectReason::kStaleConnection, {}, a.now_us);
}

// Whether the peer's queue pair is still taken by this exchange. The two ends enter time-wait at
// different times. Therefore the peer's QPN is refused only for the first half of our time-wait: a
// peer that has waited for the whole of its own may use its QPN again.
bool CommunicationManager::HoldsPair(const Exchange& e, uint64_t now_us) const {
  switch (e.state) {
    case CmState::kNone:
    case CmState::kWithdrawn:
    case CmState::kRejected:
      return false;
    case CmState::kTimeWait:
      return e.deadline_us > CmLater(now_us, options_.time_wait_us / 2);
    case CmState::kHandedOff:
      return !e.told;
    default:
      return true;
  }
}

// The peer has a new use for its queue pair, so that what it was used for is over.
void CommunicationManager::EndAsStale(Exchange* e, uint64_t now_us) {
  switch (e->state) {
    case CmState::kRequestReceived:
      return Withdraw(e);
    case CmState::kReplySent:
      Fail(e, RejectReason::kAborted, "the peer has given up and asks anew");
      return EnterTimeWait(e, now_us);
    case CmState::kReplyReceived:
      Fail(e, RejectReason::kNonPeer, "the peer has lost the connection that it accepted");
      return EnterTimeWait(e, now_us);
    case CmState::kEstablished:
      Tell(e, CmDisconnected{e->id, CmDisconnected::By::kStale});
      return BeginDisconnect(e, now_us);
    case CmState::kDisconnecting:
      return FinishDisconnect(e, now_us);
    case CmState::kHandedOff:
      TellNewOwner(*e, CmForNewOwner::What::kWithdrawn);
      e->told = true;
      return Remember(e, CmState::kHandedOff, CmLater(now_us, options_.remember_us));
    default:
      return;
  }
}

void CommunicationManager::Withdraw(Exchange* e) {
  table_.SetState(e, CmState::kWithdrawn);
  events_.emplace_back(CmWithdrawn{e->id});
}

void CommunicationManager::Accept(CmId id, const CmAccept& p, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  if (e->state != CmState::kRequestReceived && e->state != CmState::kWithdrawn) return;
  e->qpn = p.qpn;
  if (e->state == CmState::kWithdrawn) {
    Fail(e, RejectReason::kAborted, "the peer gave up before it was answered");
    return Forget(e);
  }
  rdmacm::CmRep rep{.local_comm_id = e->comm_id, .remote_comm_id = e->peer_comm_id};
  rep.local_qpn = p.qpn;
  rep.starting_psn = p.starting_psn;
  rep.responder_resources = std::min(p.depths.in, e->depths.in);
  rep.initiator_depth = std::min(p.depths.out, e->depths.out);
  rep.target_ack_delay = p.target_ack_delay;
  rep.rnr_retry_count = p.rnr_retry_count;
  rep.srq = p.srq;
  rep.local_ca_guid = options_.ca_guid;
  rep.private_data = p.private_data;
  if (!Prepare(e, e->transaction_id, rep)) {
    Fail(e, RejectReason::kAborted, "a value of the reply is too large for its field");
    return SayNo(e, rdmacm::RejectReason::kNoResources, {}, now_us);
  }
  table_.SetState(e, CmState::kReplySent);
  e->started_us = now_us;
  e->limit_us = CmLater(now_us, options_.handshake_limit_us);
  e->latest_limit_us = CmLater(e->limit_us, options_.longest_service_us);
  Begin(e, UINT32_MAX, now_us);
}

void CommunicationManager::On(const Arrival& a, const rdmacm::CmRtu& rtu) {
  Exchange* const e = FindBoth(a, rtu.remote_comm_id, rtu.local_comm_id);
  if (e != nullptr && e->state == CmState::kReplySent) Establish(e);
}

void CommunicationManager::EstablishedByData(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e != nullptr && e->state == CmState::kReplySent) Establish(e);
}

void CommunicationManager::Establish(Exchange* e) {
  table_.SetState(e, CmState::kEstablished);
  table_.SetDeadline(e, kCmNever);
  events_.emplace_back(CmEstablished{e->id});
}

// The peer may think that it is connected. It may miss a REJ, so a DREQ, which is repeated,
// follows.
void CommunicationManager::GiveUpReply(Exchange* e, uint64_t now_us) {
  SendOnce(e->address, e->transaction_id, RejectOf(*e, rdmacm::RejectReason::kTimeout));
  BeginDisconnect(e, now_us);
}

}  // namespace softdat::softnet
