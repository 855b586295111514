// SPDX-License-Identifier: BSD-3-Clause
// CommunicationManager: which part a message, a deadline or a call is for, and what may come to
// either side: REJ, MRA, DREQ, DREP.
#include "provider_softnet/cm/communication_manager.h"

#include <algorithm>
#include <utility>

#include "provider_softnet/cm/gid_of_address.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

using rdmacm::Answered;
using rdmacm::CmDrep;
using rdmacm::CmDreq;
using rdmacm::CmMra;
using rdmacm::CmRej;
using rdmacm::Mad;
using transport::RejectReason;
using By = CmDisconnected::By;

namespace {

// What was sent before a REJ arrives at most so much later.
constexpr uint64_t kOvertakenUs = 2'000'000;

}  // namespace

CommunicationManager::CommunicationManager(const CmOptions& options,
                                           std::function<uint64_t()> random)
    : keeper_(options, std::move(random)),
      endings_(&keeper_),
      active_(&keeper_, &endings_),
      passive_(&keeper_, &endings_),
      handoff_(&keeper_, &endings_, &passive_) {}

void CommunicationManager::OnMad(const sockaddr_storage& source, ByteSpan mad, uint64_t now_us) {
  Mad parsed;
  if (rdmacm::ParseMad(mad, &parsed) != rdmacm::MadParse::kOk) return;
  const auto gid = GidOfAddress(source);
  if (!gid.has_value()) return;
  const CmArrival arrival{source, *gid, parsed.transaction_id, now_us};
  std::visit([&](const auto& message) { On(arrival, message); }, parsed.message);
}

void CommunicationManager::OnTime(uint64_t now_us) {
  while (Exchange* const e = table_.Due(now_us)) OnDue(e, now_us);
}

void CommunicationManager::OnDue(Exchange* e, uint64_t now_us) {
  switch (e->state) {
    case CmState::kRequestSent:
    case CmState::kPausing:
      return active_.OnDue(e, now_us);
    case CmState::kReplySent:
      return passive_.OnReplyDue(e, now_us);
    case CmState::kDisconnecting:
      return e->tries_left > 0 ? keeper_.Repeat(e, now_us) : endings_.FinishDisconnect(e, now_us);
    case CmState::kRejected:
      return now_us < e->limit_us ? keeper_.Repeat(e, now_us) : keeper_.Forget(e);
    case CmState::kTimeWait:
    case CmState::kHandedOff:
      return keeper_.Forget(e);
    case CmState::kNone:
    case CmState::kReplyReceived:
    case CmState::kRequestReceived:
    case CmState::kWithdrawn:
    case CmState::kEstablished:
      return table_.SetDeadline(e, kCmNever);
  }
}

CmState CommunicationManager::state(CmId id) const {
  const Exchange* const e = table_.Find(id);
  return e != nullptr ? e->state : CmState::kNone;
}

// ---- REJ and MRA ----

// A peer that heard nothing from us does not know our id. Its REJ carries its own GUID instead.
Exchange* CommunicationManager::FindRejected(const CmArrival& a, const CmRej& rej) const {
  Exchange* e = table_.FindByOwnId(rej.remote_comm_id);
  if (e == nullptr && rej.reason == rdmacm::RejectReason::kTimeout && rej.info.size() >= 8)
    e = table_.FindByPeerId(a.gid, LoadBe64(rej.info.data()), rej.local_comm_id);
  if (e == nullptr || e->gid != a.gid) return nullptr;
  return e->peer_comm_id == 0 || e->peer_comm_id == rej.local_comm_id ? e : nullptr;
}

void CommunicationManager::On(const CmArrival& a, const CmRej& rej) {
  Exchange* const e = FindRejected(a, rej);
  if (e == nullptr) return;
  switch (e->state) {
    case CmState::kRequestSent:
      return active_.OnRefused(e, rej, a.now_us);
    case CmState::kReplyReceived:
      keeper_.Fail(e, RejectReason::kNonPeer, "the peer gave up after it had accepted");
      return endings_.EnterTimeWait(e, a.now_us);
    case CmState::kReplySent:
      // The peer, or who has its address now, knows nothing of it any more. Its RTU and its DREQ
      // may be on a slower way, by another member of this address.
      if (rej.reason == rdmacm::RejectReason::kInvalidCommId) {
        e->limit_us = std::min(e->limit_us, CmLater(a.now_us, kOvertakenUs));
        return keeper_.Arm(e);
      }
      [[fallthrough]];
    case CmState::kRequestReceived:
      return endings_.GivenUp(e, a.now_us);
    case CmState::kHandedOff:
      return keeper_.TellNewOwner(*e, CmForNewOwner::What::kWithdrawn);
    case CmState::kEstablished:
      keeper_.Tell(e, CmDisconnected{e->id, By::kPeer});
      return endings_.EnterTimeWait(e, a.now_us);
    case CmState::kDisconnecting:
      return endings_.FinishDisconnect(e, a.now_us);
    default:
      return;
  }
}

void CommunicationManager::On(const CmArrival& a, const CmMra& mra) {
  Exchange* const e = table_.FindByOwnId(mra.remote_comm_id);
  if (e == nullptr || e->gid != a.gid) return;
  const CmOptions& options = keeper_.options();
  const uint64_t service_us =
      std::min(rdmacm::TimeoutNs(mra.service_timeout) / 1000, options.longest_service_us);
  const uint64_t next_us = CmLater(a.now_us, service_us + options.first_interval_us);
  if (e->state == CmState::kRequestSent && mra.answered == Answered::kReq) {
    e->tries_left = std::max<uint32_t>(e->tries_left, 1);
  } else if (e->state == CmState::kReplySent && mra.answered == Answered::kRep &&
             e->peer_comm_id == mra.local_comm_id) {
    e->limit_us = std::clamp(next_us, e->limit_us, e->latest_limit_us);
  } else {
    return;
  }
  e->next_us = std::max(e->next_us, next_us);
  keeper_.Arm(e);
}

// ---- DREQ and DREP ----

void CommunicationManager::Disconnect(CmId id, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->told || e->state == CmState::kDisconnecting) return;
  if (e->state == CmState::kEstablished) return endings_.BeginDisconnect(e, now_us);
  if (e->qpn != 0) keeper_.Tell(e, CmDisconnected{id, By::kSelf});
  Abandon(id, now_us);
}

void CommunicationManager::Abandon(CmId id, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  e->told = true;
  switch (e->state) {
    case CmState::kRequestSent:
    case CmState::kReplyReceived:
      return endings_.SayNo(e, rdmacm::RejectReason::kTimeout, {}, now_us);
    case CmState::kPausing:
    case CmState::kWithdrawn:
      return keeper_.Forget(e);
    case CmState::kRequestReceived:
      return endings_.SayNo(e, rdmacm::RejectReason::kNoResources, {}, now_us);
    case CmState::kReplySent:
      return endings_.GiveUpReply(e, now_us);
    case CmState::kEstablished:
      return endings_.BeginDisconnect(e, now_us);
    case CmState::kNone:
    case CmState::kDisconnecting:
    case CmState::kTimeWait:
    case CmState::kRejected:
      return;
    case CmState::kHandedOff:
      return keeper_.Remember(e, CmState::kHandedOff,
                              CmLater(now_us, keeper_.options().remember_us));
  }
}

// The peer accepted and left at once, and its DREQ has overtaken its REP. A DREP would end its
// repeats, and the REP would then make a connection with nobody. So the peer has to say it again.
bool CommunicationManager::OvertookReply(const CmArrival& a, const CmDreq& dreq) const {
  const Exchange* const e = table_.FindByOwnId(dreq.remote_comm_id);
  return e != nullptr && e->state == CmState::kRequestSent && e->gid == a.gid;
}

void CommunicationManager::On(const CmArrival& a, const CmDreq& dreq) {
  if (OvertookReply(a, dreq)) return;
  Exchange* const e = table_.FindByBothIds(a.gid, dreq.remote_comm_id, dreq.local_comm_id);
  if (e != nullptr && e->qpn != dreq.remote_qpn) return;
  // Also for what is not known any more: the peer has not heard the answer.
  keeper_.SendOnce(a.source, a.transaction_id, CmDrep{dreq.remote_comm_id, dreq.local_comm_id, {}});
  if (e == nullptr) return;
  switch (e->state) {
    case CmState::kReplySent:
      // Who disconnects was connected: only the RTU is lost.
      passive_.Establish(e);
      [[fallthrough]];
    case CmState::kEstablished:
      keeper_.Tell(e, CmDisconnected{e->id, By::kPeer});
      return endings_.EnterTimeWait(e, a.now_us);
    case CmState::kReplyReceived:
      keeper_.Fail(e, RejectReason::kNonPeer, "the peer gave up after it had accepted");
      return endings_.EnterTimeWait(e, a.now_us);
    case CmState::kDisconnecting:
      return endings_.FinishDisconnect(e, a.now_us);
    default:
      return;
  }
}

void CommunicationManager::On(const CmArrival& a, const CmDrep& drep) {
  Exchange* const e = table_.FindByBothIds(a.gid, drep.remote_comm_id, drep.local_comm_id);
  if (e != nullptr && e->state == CmState::kDisconnecting) endings_.FinishDisconnect(e, a.now_us);
}

}  // namespace softdat::softnet
