// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/cm/cm_passive.h"

#include <algorithm>
#include <optional>

#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

using rdmacm::Answered;
using rdmacm::CmRej;
using rdmacm::CmReq;
using transport::RejectReason;

namespace {

constexpr uint8_t kLargestMtu = 5;

}  // namespace

CmPassive::CmPassive(ExchangeKeeper* keeper, ExchangeEndings* endings)
    : keeper_(*keeper), endings_(*endings), table_(keeper->table()), options_(keeper->options()) {}

std::optional<rdmacm::RejectReason> CmPassive::WhyNot(const CmReq& req) {
  if (req.transport != rdmacm::TransportType::kRc)
    return rdmacm::RejectReason::kInvalidTransportType;
  if (req.local_qpn <= rdmacm::kGsiQpn) return rdmacm::RejectReason::kNoQp;
  if (req.path_mtu == 0 || req.path_mtu > kLargestMtu) return rdmacm::RejectReason::kInvalidMtu;
  return std::nullopt;
}

void CmPassive::OnReq(const CmArrival& a, const CmReq& req) {
  if (req.local_comm_id == 0) return;
  if (const auto reason = WhyNot(req)) return Refuse(a, req, *reason);
  Exchange* const same_id = table_.FindByPeerId(a.gid, req.local_ca_guid, req.local_comm_id);
  if (same_id != nullptr) return OnKnownRequest(same_id, a, req);
  if (RefusedAsStale(a, req)) return;
  if (table_.half_open() >= options_.most_half_open)
    return Refuse(a, req, rdmacm::RejectReason::kNoResources);
  keeper_.Report(OnNewRequest(a, req));
}

bool CmPassive::RefusedAsStale(const CmArrival& a, const CmReq& req) {
  Exchange* const same_pair = table_.FindByPeerQpn(a.gid, req.local_ca_guid, req.local_qpn);
  if (same_pair == nullptr || !endings_.HoldsPair(*same_pair, a.now_us)) return false;
  endings_.EndAsStale(same_pair, a.now_us);
  RefuseAsStale(a, req);
  return true;
}

Exchange& CmPassive::AddPassive(const CmArrival& a, const CmReq& req) {
  Exchange& e = table_.Add(CmState::kRequestReceived, a.source, a.gid);
  table_.SetPeer(&e, req.local_comm_id, {req.local_ca_guid, req.local_qpn, req.starting_psn});
  e.transaction_id = a.transaction_id;
  e.service_id = req.service_id;
  e.depths = {.in = req.initiator_depth, .out = req.responder_resources};
  return e;
}

CmRequestArrived CmPassive::OnNewRequest(const CmArrival& a, const CmReq& req) {
  Exchange& e = AddPassive(a, req);
  table_.HoldPair(&e);
  keeper_.Prepare(&e, a.transaction_id, req);
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
bool CmPassive::IsSame(const Exchange& e, const CmArrival& a, const CmReq& req) {
  return !e.active && e.transaction_id == a.transaction_id && e.service_id == req.service_id &&
         e.peer.qpn == req.local_qpn && e.peer.starting_psn == req.starting_psn;
}

void CmPassive::OnKnownRequest(Exchange* e, const CmArrival& a, const CmReq& req) {
  if (IsSame(*e, a, req)) return OnRequestAgain(e);
  endings_.EndAsStale(e, a.now_us);
  RefuseAsStale(a, req);
}

void CmPassive::OnRequestAgain(Exchange* e) {
  switch (e->state) {
    case CmState::kRequestReceived:
      // The first one may have crossed the answer; who sends more should learn that it can stop.
      if (e->duplicate_requests++ > 0 || e->asked_for_time) Delay(e->id);
      return;
    case CmState::kReplySent:
    case CmState::kRejected:
      return keeper_.Transmit(*e);
    case CmState::kDisconnecting:
    case CmState::kTimeWait:
      return keeper_.SendOnce(e->address, e->transaction_id,
                              CmRej{.remote_comm_id = e->peer_comm_id,
                                    .answered = Answered::kReq,
                                    .reason = rdmacm::RejectReason::kStaleConnection});
    case CmState::kHandedOff:
      return keeper_.TellNewOwner(*e, CmForNewOwner::What::kAgain);
    default:
      return;
  }
}

// Without remembering it: the same again is judged anew.
void CmPassive::Refuse(const CmArrival& a, const CmReq& req, rdmacm::RejectReason reason) {
  keeper_.SendOnce(
      a.source, a.transaction_id,
      CmRej{.remote_comm_id = req.local_comm_id, .answered = Answered::kReq, .reason = reason});
}

// The refusal is remembered. Its cause is gone now, so a late copy of the same request would be
// accepted, while its sender already makes another one.
void CmPassive::RefuseAsStale(const CmArrival& a, const CmReq& req) {
  endings_.SayNo(&AddPassive(a, req), rdmacm::RejectReason::kStaleConnection, {}, a.now_us);
}

void CmPassive::Accept(CmId id, const CmAccept& p, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  if (e->state != CmState::kRequestReceived && e->state != CmState::kWithdrawn) return;
  e->qpn = p.qpn;
  if (e->state == CmState::kWithdrawn) {
    keeper_.Fail(e, RejectReason::kAborted, "the peer gave up before it was answered");
    return keeper_.Forget(e);
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
  if (!keeper_.Prepare(e, e->transaction_id, rep)) {
    keeper_.Fail(e, RejectReason::kAborted, "a value of the reply is too large for its field");
    return endings_.SayNo(e, rdmacm::RejectReason::kNoResources, {}, now_us);
  }
  table_.SetState(e, CmState::kReplySent);
  e->started_us = now_us;
  e->limit_us = CmLater(now_us, options_.handshake_limit_us);
  e->latest_limit_us = CmLater(e->limit_us, options_.longest_service_us);
  keeper_.Begin(e, UINT32_MAX, now_us);
}

void CmPassive::Delay(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->state != CmState::kRequestReceived) return;
  e->asked_for_time = true;
  keeper_.SendOnce(
      e->address, e->transaction_id,
      rdmacm::CmMra{e->comm_id, e->peer_comm_id, Answered::kReq, options_.service_timeout, {}});
}

void CmPassive::Reject(CmId id, rdmacm::RejectReason reason, ByteSpan private_data,
                       uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  if (e->state == CmState::kWithdrawn) return keeper_.Forget(e);
  if (e->state == CmState::kRequestReceived) endings_.SayNo(e, reason, private_data, now_us);
}

// Each interval is half of a requester's, so that the first that it does not lose comes before it
// asks again.
void CmPassive::RepeatRefusals(uint64_t service_id, uint64_t now_us) {
  for (Exchange* const e : table_.rejected()) {
    if (e->service_id != service_id || e->tries > 0) continue;
    e->tries_left = UINT32_MAX;
    e->interval_us = std::max<uint64_t>(options_.first_interval_us / 2, 1);
    keeper_.Repeat(e, now_us);
  }
}

void CmPassive::OnRtu(const CmArrival& a, const rdmacm::CmRtu& rtu) {
  Exchange* const e = table_.FindByBothIds(a.gid, rtu.remote_comm_id, rtu.local_comm_id);
  if (e != nullptr && e->state == CmState::kReplySent) Establish(e);
}

void CmPassive::EstablishedByData(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e != nullptr && e->state == CmState::kReplySent) Establish(e);
}

void CmPassive::Establish(Exchange* e) {
  table_.SetState(e, CmState::kEstablished);
  table_.SetDeadline(e, kCmNever);
  keeper_.Report(CmEstablished{e->id});
}

void CmPassive::OnReplyDue(Exchange* e, uint64_t now_us) {
  if (now_us < e->limit_us) return keeper_.Repeat(e, now_us);
  keeper_.Fail(e, RejectReason::kAborted, "the peer did not confirm that it is connected");
  endings_.GiveUpReply(e, now_us);
}

}  // namespace softdat::softnet
