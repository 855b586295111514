// SPDX-License-Identifier: BSD-3-Clause
// "No" and "not yet": REJ and MRA, in both directions.
#include <algorithm>

#include "provider_softnet/cm/communication_manager.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

using rdmacm::Answered;
using rdmacm::CmMra;
using rdmacm::CmRej;
using transport::RejectReason;

namespace {

constexpr uint64_t kScoldingUs = 1'000'000;
// What was sent before a REJ arrives at most so much later.
constexpr uint64_t kOvertakenUs = 2'000'000;
constexpr uint32_t kMostScoldings = 100;

Answered WhatIsAnswered(CmState state) {
  if (state == CmState::kRequestReceived || state == CmState::kHandedOff) return Answered::kReq;
  return state == CmState::kReplyReceived ? Answered::kRep : Answered::kOther;
}

}  // namespace

// ---- the peer's ----

// A peer that heard nothing from us does not know our id. Its REJ carries its own GUID instead.
Exchange* CommunicationManager::FindRejected(const Arrival& a, const CmRej& rej) const {
  Exchange* e = table_.FindByOwnId(rej.remote_comm_id);
  if (e == nullptr && rej.reason == rdmacm::RejectReason::kTimeout && rej.info.size() >= 8)
    e = table_.FindByPeerId(a.gid, LoadBe64(rej.info.data()), rej.local_comm_id);
  if (e == nullptr || e->gid != a.gid) return nullptr;
  return e->peer_comm_id == 0 || e->peer_comm_id == rej.local_comm_id ? e : nullptr;
}

void CommunicationManager::On(const Arrival& a, const CmRej& rej) {
  Exchange* const e = FindRejected(a, rej);
  if (e == nullptr) return;
  switch (e->state) {
    case CmState::kRequestSent:
      return OnRefused(e, rej, a.now_us);
    case CmState::kReplyReceived:
      Fail(e, RejectReason::kNonPeer, "the peer gave up after it had accepted");
      return EnterTimeWait(e, a.now_us);
    case CmState::kReplySent:
      // The peer, or who has its address now, knows nothing of it any more. Its RTU and its DREQ
      // may be on a slower way, by another member of this address.
      if (rej.reason == rdmacm::RejectReason::kInvalidCommId) {
        e->limit_us = std::min(e->limit_us, CmLater(a.now_us, kOvertakenUs));
        return Arm(e);
      }
      [[fallthrough]];
    case CmState::kRequestReceived:
      return GivenUp(e->id, a.now_us);
    case CmState::kHandedOff:
      return TellNewOwner(*e, CmForNewOwner::What::kWithdrawn);
    case CmState::kEstablished:
      Tell(e, CmDisconnected{e->id, CmDisconnected::By::kPeer});
      return EnterTimeWait(e, a.now_us);
    case CmState::kDisconnecting:
      return FinishDisconnect(e, a.now_us);
    default:
      return;
  }
}

void CommunicationManager::On(const Arrival& a, const CmMra& mra) {
  Exchange* const e = table_.FindByOwnId(mra.remote_comm_id);
  if (e == nullptr || e->gid != a.gid) return;
  const uint64_t service_us =
      std::min(rdmacm::TimeoutNs(mra.service_timeout) / 1000, options_.longest_service_us);
  const uint64_t next_us = CmLater(a.now_us, service_us + options_.first_interval_us);
  if (e->state == CmState::kRequestSent && mra.answered == Answered::kReq) {
    e->tries_left = std::max<uint32_t>(e->tries_left, 1);
  } else if (e->state == CmState::kReplySent && mra.answered == Answered::kRep &&
             e->peer_comm_id == mra.local_comm_id) {
    e->limit_us = std::clamp(next_us, e->limit_us, e->latest_limit_us);
  } else {
    return;
  }
  e->next_us = std::max(e->next_us, next_us);
  Arm(e);
}

// ---- this end's ----

void CommunicationManager::Delay(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->state != CmState::kRequestReceived) return;
  e->asked_for_time = true;
  SendOnce(e->address, e->transaction_id,
           CmMra{e->comm_id, e->peer_comm_id, Answered::kReq, options_.service_timeout, {}});
}

void CommunicationManager::Reject(CmId id, rdmacm::RejectReason reason, ByteSpan private_data,
                                  uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  if (e->state == CmState::kWithdrawn) return Forget(e);
  if (e->state == CmState::kRequestReceived) SayNo(e, reason, private_data, now_us);
}

CmRej CommunicationManager::RejectOf(const Exchange& e, rdmacm::RejectReason reason) const {
  CmRej rej{.local_comm_id = e.comm_id, .remote_comm_id = e.peer_comm_id};
  rej.answered = WhatIsAnswered(e.state);
  rej.reason = reason;
  if (reason == rdmacm::RejectReason::kTimeout) rej.info = guid_octets_;
  return rej;
}

// The peer hears it again whenever it shows that it has not. One that was asked for time asks no
// more for as long, so it hears it again by itself: otherwise it would not learn of a refusal that
// is lost, but wait for its time limit.
void CommunicationManager::SayNo(Exchange* e, rdmacm::RejectReason reason, ByteSpan private_data,
                                 uint64_t now_us) {
  CmRej rej = RejectOf(*e, reason);
  rej.private_data = private_data.first(std::min(private_data.size(), rdmacm::kRejPrivateSize));
  const bool prepared = Prepare(e, e->transaction_id, rej);
  e->told = true;
  e->limit_us = CmLater(now_us, options_.remember_us);
  Remember(e, CmState::kRejected, e->limit_us);
  if (!prepared) return;
  if (e->asked_for_time) return Begin(e, UINT32_MAX, now_us);
  Transmit(*e);
}

// Each interval is half of a requester's, so that the first that it does not lose comes before it
// asks again.
void CommunicationManager::RepeatRefusals(uint64_t service_id, uint64_t now_us) {
  for (Exchange* const e : table_.rejected()) {
    if (e->service_id != service_id || e->tries > 0) continue;
    e->tries_left = UINT32_MAX;
    e->interval_us = std::max<uint64_t>(options_.first_interval_us / 2, 1);
    Repeat(e, now_us);
  }
}

// An answer to a REP that belongs to nothing, so that its sender need not wait for its time limit.
void CommunicationManager::Scold(const Arrival& a, const rdmacm::CmRep& rep) {
  if (a.now_us - scolding_since_us_ >= kScoldingUs) {
    scolding_since_us_ = a.now_us;
    scolded_ = 0;
  }
  if (scolded_++ >= kMostScoldings) return;
  SendOnce(a.source, a.transaction_id,
           CmRej{.local_comm_id = rep.remote_comm_id,
                 .remote_comm_id = rep.local_comm_id,
                 .answered = Answered::kRep,
                 .reason = rdmacm::RejectReason::kInvalidCommId});
}

}  // namespace softdat::softnet
