// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/cm/cm_active.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dat/base/socket_address.h"
#include "provider_softnet/cm/gid_of_address.h"
#include "provider_softnet/cm/refusal.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

using rdmacm::CmRej;
using rdmacm::CmRep;
using rdmacm::CmReq;
using transport::RejectReason;

namespace {

// What rdma_cm writes: the peer answers within 4.3 s, and hears from us within the same.
constexpr uint8_t kResponseTimeout = 20;
constexpr uint8_t kMaxCmRetries = 15;
constexpr uint8_t kHopLimit = 64;

// Between requests to a host where nobody listens yet.
constexpr uint64_t kFirstPauseUs = 1'000;
constexpr uint64_t kLongestPauseUs = 20'000;

}  // namespace

CmActive::CmActive(ExchangeKeeper* keeper, ExchangeEndings* endings)
    : keeper_(*keeper), endings_(*endings), table_(keeper->table()), options_(keeper->options()) {}

CmReq CmActive::RequestOf(const Exchange& e, const CmConnect& p) const {
  CmReq req;
  req.local_comm_id = e.comm_id;
  req.service_id = p.service_id;
  req.local_ca_guid = options_.ca_guid;
  req.local_qpn = p.qpn;
  req.responder_resources = p.depths.in;
  req.initiator_depth = p.depths.out;
  req.remote_cm_response_timeout = kResponseTimeout;
  req.local_cm_response_timeout = kResponseTimeout;
  req.max_cm_retries = kMaxCmRetries;
  req.starting_psn = p.starting_psn;
  req.retry_count = p.retry_count;
  req.rnr_retry_count = p.rnr_retry_count;
  req.path_mtu = p.path_mtu;
  req.srq = p.srq;
  req.primary.local_lid = rdmacm::kNoLid;
  req.primary.remote_lid = rdmacm::kNoLid;
  req.primary.local_gid = GidOfAddress(p.local).value_or(rdmacm::Gid{});
  req.primary.remote_gid = e.gid;
  req.primary.hop_limit = kHopLimit;
  req.primary.local_ack_timeout = p.local_ack_timeout;
  req.private_data = p.private_data;
  return req;
}

CmId CmActive::Connect(const CmConnect& p, uint64_t now_us) {
  const auto gid = GidOfAddress(p.remote);
  Exchange* const e = &table_.Add(CmState::kRequestSent, p.remote, gid.value_or(rdmacm::Gid{}));
  const CmId id = e->id;
  e->active = true;
  e->service_id = p.service_id;
  e->qpn = p.qpn;
  e->depths = p.depths;
  e->started_us = now_us;
  e->limit_us = CmLater(now_us, p.timeout_us);
  e->grace_until_us = CmLater(now_us, p.grace_us);
  e->pause_us = kFirstPauseUs;
  e->transaction_id = keeper_.NewTransaction(*e);
  if (!gid.has_value()) {
    keeper_.Fail(e, RejectReason::kUnreachable, HostText(p.remote) + " is no address of a host");
    keeper_.Forget(e);
  } else if (!keeper_.Prepare(e, e->transaction_id, RequestOf(*e, p))) {
    keeper_.Fail(e, RejectReason::kNonPeer, "a value of the request is too large for its field");
    keeper_.Forget(e);
  } else {
    keeper_.Begin(e, options_.request_tries, now_us);
  }
  return id;
}

void CmActive::OnDue(Exchange* e, uint64_t now_us) {
  if (now_us >= e->limit_us) return GiveUpRequest(e, now_us);
  if (e->state == CmState::kPausing) return RequestAnew(e, now_us);
  return e->tries_left > 0 ? keeper_.Repeat(e, now_us) : GiveUpRequest(e, now_us);
}

void CmActive::GiveUpRequest(Exchange* e, uint64_t now_us) {
  const std::string asked = std::to_string(e->tries) + (e->tries == 1 ? " request" : " requests");
  if (now_us >= e->limit_us) {
    keeper_.Fail(e, RejectReason::kTimedOut,
                 HostText(e->address) + " did not answer within " +
                     std::to_string((e->limit_us - e->started_us) / 1000) + " ms (" + asked + ")");
  } else {
    keeper_.Fail(e, RejectReason::kUnreachable, HostText(e->address) + " did not answer " + asked);
  }
  endings_.SayNo(e, rdmacm::RejectReason::kTimeout, {}, now_us);
}

// A new request, because the peer remembers that it has refused this one.
void CmActive::TryAgain(Exchange* e, uint64_t pause_us, uint64_t now_us) {
  table_.SetState(e, CmState::kPausing);
  e->next_us = CmLater(now_us, pause_us);
  keeper_.Arm(e);
}

void CmActive::RequestAnew(Exchange* e, uint64_t now_us) {
  const std::array<uint8_t, rdmacm::kMadSize> refused = e->mad;
  rdmacm::Mad mad;
  if (rdmacm::ParseMad(refused, &mad) != rdmacm::MadParse::kOk) return;  // it was made here
  table_.Renumber(e);
  e->transaction_id = keeper_.NewTransaction(*e);
  std::get<CmReq>(mad.message).local_comm_id = e->comm_id;
  keeper_.Prepare(e, e->transaction_id, mad.message);
  table_.SetState(e, CmState::kRequestSent);
  keeper_.Begin(e, options_.request_tries, now_us);
}

void CmActive::OnRep(const CmArrival& a, const CmRep& rep) {
  Exchange* const e = table_.FindByOwnId(rep.remote_comm_id);
  if (e == nullptr) return endings_.Scold(a, rep);
  if (!e->active || e->gid != a.gid || rep.local_comm_id == 0 || rep.local_qpn <= rdmacm::kGsiQpn)
    return;
  if (e->state == CmState::kRequestSent) return OnReply(e, rep, a.now_us);
  if (e->peer_comm_id == 0 || e->peer_comm_id == rep.local_comm_id) OnReplyAgain(e, a, rep);
}

void CmActive::OnReply(Exchange* e, const CmRep& rep, uint64_t now_us) {
  const CmPeer peer{rep.local_ca_guid, rep.local_qpn, rep.starting_psn};
  Exchange* const earlier = table_.FindByPeerQpn(e->gid, peer.ca_guid, peer.qpn);
  if (earlier != nullptr) endings_.EndAsStale(earlier, now_us);
  table_.SetPeer(e, rep.local_comm_id, peer);
  table_.HoldPair(e);
  table_.SetState(e, CmState::kReplyReceived);
  table_.SetDeadline(e, kCmNever);
  e->depths = {.in = std::min(e->depths.in, rep.initiator_depth),
               .out = std::min(e->depths.out, rep.responder_resources)};
  CmReplyArrived event{.id = e->id, .peer = peer, .agreed = e->depths};
  event.rnr_retry_count = rep.rnr_retry_count;
  event.target_ack_delay = rep.target_ack_delay;
  event.srq = rep.srq;
  std::copy(rep.private_data.begin(), rep.private_data.end(), event.private_data.begin());
  keeper_.Report(event);
}

// The peer has not heard what became of its reply.
void CmActive::OnReplyAgain(Exchange* e, const CmArrival& a, const CmRep& rep) {
  switch (e->state) {
    case CmState::kEstablished:
      return SendReadyToUse(*e);
    case CmState::kDisconnecting:  // DREQ
      return keeper_.Transmit(*e);
    case CmState::kRejected: {
      // The REJ that was sent could not name the peer's id, and may have reached nobody.
      CmRej rej = endings_.RejectOf(*e, rdmacm::RejectReason::kTimeout);
      rej.remote_comm_id = rep.local_comm_id;
      rej.answered = rdmacm::Answered::kRep;
      return keeper_.SendOnce(e->address, a.transaction_id, rej);
    }
    case CmState::kTimeWait:
      return endings_.Scold(a, rep);
    default:
      return;
  }
}

void CmActive::ReadyToUse(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->state != CmState::kReplyReceived) return;
  table_.SetState(e, CmState::kEstablished);
  SendReadyToUse(*e);
}

void CmActive::SendReadyToUse(const Exchange& e) {
  keeper_.SendOnce(e.address, e.transaction_id, rdmacm::CmRtu{e.comm_id, e.peer_comm_id, {}});
}

void CmActive::OnRefused(Exchange* e, const CmRej& rej, uint64_t now_us) {
  if (rej.reason == rdmacm::RejectReason::kStaleConnection && !e->stale_retried) {
    // By then the peer has forgotten the connection that this one was taken for.
    e->stale_retried = true;
    return TryAgain(e, options_.time_wait_us, now_us);
  }
  if (rej.reason == rdmacm::RejectReason::kInvalidServiceId && now_us < e->grace_until_us) {
    const uint64_t pause_us = e->pause_us;
    e->pause_us = std::min(2 * pause_us, kLongestPauseUs);
    return TryAgain(e, pause_us, now_us);
  }
  CmFailed failed = MeaningOf(rej, e->address);
  failed.id = e->id;
  keeper_.Tell(e, std::move(failed));
  keeper_.Forget(e);
}

}  // namespace softdat::softnet
