// SPDX-License-Identifier: BSD-3-Clause
// The end of a connection: DREQ, DREP, and what is left behind it.
#include "provider_softnet/cm/communication_manager.h"

namespace softdat::softnet {

using rdmacm::CmDrep;
using rdmacm::CmDreq;
using transport::RejectReason;
using By = CmDisconnected::By;

void CommunicationManager::Disconnect(CmId id, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->told || e->state == CmState::kDisconnecting) return;
  if (e->state == CmState::kEstablished) return BeginDisconnect(e, now_us);
  if (e->qpn != 0) Tell(e, CmDisconnected{id, By::kSelf});
  Abandon(id, now_us);
}

void CommunicationManager::Abandon(CmId id, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  e->told = true;
  switch (e->state) {
    case CmState::kRequestSent:
    case CmState::kReplyReceived:
      return SayNo(e, rdmacm::RejectReason::kTimeout, {}, now_us);
    case CmState::kPausing:
    case CmState::kWithdrawn:
      return Forget(e);
    case CmState::kRequestReceived:
      return SayNo(e, rdmacm::RejectReason::kNoResources, {}, now_us);
    case CmState::kReplySent:
      return GiveUpReply(e, now_us);
    case CmState::kEstablished:
      return BeginDisconnect(e, now_us);
    case CmState::kNone:
    case CmState::kDisconnecting:
    case CmState::kTimeWait:
    case CmState::kRejected:
      return;
    case CmState::kHandedOff:
      return Remember(e, CmState::kHandedOff, CmLater(now_us, options_.remember_us));
  }
}

void CommunicationManager::BeginDisconnect(Exchange* e, uint64_t now_us) {
  table_.SetState(e, CmState::kDisconnecting);
  e->limit_us = kCmNever;
  // The active side's looks as it does from Linux: the REQ's once more.
  const uint64_t transaction_id = e->active ? e->transaction_id : NewTransaction(*e);
  Prepare(e, transaction_id, CmDreq{e->comm_id, e->peer_comm_id, e->peer.qpn, {}});
  Begin(e, options_.disconnect_tries, now_us);
}

void CommunicationManager::FinishDisconnect(Exchange* e, uint64_t now_us) {
  Tell(e, CmDisconnected{e->id, By::kSelf});
  EnterTimeWait(e, now_us);
}

void CommunicationManager::EnterTimeWait(Exchange* e, uint64_t now_us) {
  Remember(e, CmState::kTimeWait, CmLater(now_us, options_.time_wait_us));
}

// The peer accepted and left at once, and its DREQ has overtaken its REP. A DREP would end its
// repeats, and the REP would then make a connection with nobody. So the peer has to say it again.
bool CommunicationManager::OvertookReply(const Arrival& a, const CmDreq& dreq) const {
  const Exchange* const e = table_.FindByOwnId(dreq.remote_comm_id);
  return e != nullptr && e->state == CmState::kRequestSent && e->gid == a.gid;
}

void CommunicationManager::On(const Arrival& a, const CmDreq& dreq) {
  if (OvertookReply(a, dreq)) return;
  Exchange* const e = FindBoth(a, dreq.remote_comm_id, dreq.local_comm_id);
  if (e != nullptr && e->qpn != dreq.remote_qpn) return;
  // Also for what is not known any more: the peer has not heard the answer.
  SendOnce(a.source, a.transaction_id, CmDrep{dreq.remote_comm_id, dreq.local_comm_id, {}});
  if (e == nullptr) return;
  switch (e->state) {
    case CmState::kReplySent:
      // Who disconnects was connected: only the RTU is lost.
      Establish(e);
      [[fallthrough]];
    case CmState::kEstablished:
      Tell(e, CmDisconnected{e->id, By::kPeer});
      return EnterTimeWait(e, a.now_us);
    case CmState::kReplyReceived:
      Fail(e, RejectReason::kNonPeer, "the peer gave up after it had accepted");
      return EnterTimeWait(e, a.now_us);
    case CmState::kDisconnecting:
      return FinishDisconnect(e, a.now_us);
    default:
      return;
  }
}

void CommunicationManager::On(const Arrival& a, const CmDrep& drep) {
  Exchange* const e = FindBoth(a, drep.remote_comm_id, drep.local_comm_id);
  if (e != nullptr && e->state == CmState::kDisconnecting) FinishDisconnect(e, a.now_us);
}

}  // namespace softdat::softnet
