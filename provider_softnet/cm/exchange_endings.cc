// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/cm/exchange_endings.h"

#include <algorithm>

namespace softdat::softnet {

using rdmacm::Answered;
using rdmacm::CmDreq;
using rdmacm::CmRej;
using transport::RejectReason;
using By = CmDisconnected::By;

namespace {

constexpr uint64_t kScoldingUs = 1'000'000;
constexpr uint32_t kMostScoldings = 100;

Answered WhatIsAnswered(CmState state) {
  if (state == CmState::kRequestReceived || state == CmState::kHandedOff) return Answered::kReq;
  return state == CmState::kReplyReceived ? Answered::kRep : Answered::kOther;
}

}  // namespace

ExchangeEndings::ExchangeEndings(ExchangeKeeper* keeper)
    : keeper_(*keeper), table_(keeper->table()), options_(keeper->options()) {
  StoreBe64(guid_octets_.data(), options_.ca_guid);
}

CmRej ExchangeEndings::RejectOf(const Exchange& e, rdmacm::RejectReason reason) const {
  CmRej rej{.local_comm_id = e.comm_id, .remote_comm_id = e.peer_comm_id};
  rej.answered = WhatIsAnswered(e.state);
  rej.reason = reason;
  if (reason == rdmacm::RejectReason::kTimeout) rej.info = guid_octets_;
  return rej;
}

// The peer hears it again whenever it shows that it has not. One that was asked for time asks no
// more for as long, so it hears it again by itself: otherwise it would not learn of a refusal that
// is lost, but wait for its time limit.
void ExchangeEndings::SayNo(Exchange* e, rdmacm::RejectReason reason, ByteSpan private_data,
                            uint64_t now_us) {
  CmRej rej = RejectOf(*e, reason);
  rej.private_data = private_data.first(std::min(private_data.size(), rdmacm::kRejPrivateSize));
  const bool prepared = keeper_.Prepare(e, e->transaction_id, rej);
  e->told = true;
  e->limit_us = CmLater(now_us, options_.remember_us);
  keeper_.Remember(e, CmState::kRejected, e->limit_us);
  if (!prepared) return;
  if (e->asked_for_time) return keeper_.Begin(e, UINT32_MAX, now_us);
  keeper_.Transmit(*e);
}

// So that its sender need not wait for its time limit.
void ExchangeEndings::Scold(const CmArrival& a, const rdmacm::CmRep& rep) {
  if (a.now_us - scolding_since_us_ >= kScoldingUs) {
    scolding_since_us_ = a.now_us;
    scolded_ = 0;
  }
  if (scolded_++ >= kMostScoldings) return;
  keeper_.SendOnce(a.source, a.transaction_id,
                   CmRej{.local_comm_id = rep.remote_comm_id,
                         .remote_comm_id = rep.local_comm_id,
                         .answered = Answered::kRep,
                         .reason = rdmacm::RejectReason::kInvalidCommId});
}

// The peer may think that it is connected. It may miss a REJ, so a DREQ, which is repeated,
// follows.
void ExchangeEndings::GiveUpReply(Exchange* e, uint64_t now_us) {
  keeper_.SendOnce(e->address, e->transaction_id, RejectOf(*e, rdmacm::RejectReason::kTimeout));
  BeginDisconnect(e, now_us);
}

void ExchangeEndings::BeginDisconnect(Exchange* e, uint64_t now_us) {
  table_.SetState(e, CmState::kDisconnecting);
  e->limit_us = kCmNever;
  // The active side's looks as it does from Linux: the REQ's once more.
  const uint64_t transaction_id = e->active ? e->transaction_id : keeper_.NewTransaction(*e);
  keeper_.Prepare(e, transaction_id, CmDreq{e->comm_id, e->peer_comm_id, e->peer.qpn, {}});
  keeper_.Begin(e, options_.disconnect_tries, now_us);
}

void ExchangeEndings::FinishDisconnect(Exchange* e, uint64_t now_us) {
  keeper_.Tell(e, CmDisconnected{e->id, By::kSelf});
  EnterTimeWait(e, now_us);
}

void ExchangeEndings::EnterTimeWait(Exchange* e, uint64_t now_us) {
  keeper_.Remember(e, CmState::kTimeWait, CmLater(now_us, options_.time_wait_us));
}

void ExchangeEndings::GivenUp(Exchange* e, uint64_t now_us) {
  if (e->state == CmState::kRequestReceived) {
    Withdraw(e);
  } else if (e->state == CmState::kReplySent) {
    keeper_.Fail(e, RejectReason::kAborted, "the peer gave up when it was accepted");
    EnterTimeWait(e, now_us);
  }
}

// The two ends enter time-wait at different times. Therefore the peer's QPN is refused only for the
// first half of our time-wait: a peer that has waited for the whole of its own may use its QPN
// again.
bool ExchangeEndings::HoldsPair(const Exchange& e, uint64_t now_us) const {
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

void ExchangeEndings::EndAsStale(Exchange* e, uint64_t now_us) {
  switch (e->state) {
    case CmState::kRequestReceived:
      return Withdraw(e);
    case CmState::kReplySent:
      keeper_.Fail(e, RejectReason::kAborted, "the peer has given up and asks anew");
      return EnterTimeWait(e, now_us);
    case CmState::kReplyReceived:
      keeper_.Fail(e, RejectReason::kNonPeer, "the peer has lost the connection that it accepted");
      return EnterTimeWait(e, now_us);
    case CmState::kEstablished:
      keeper_.Tell(e, CmDisconnected{e->id, CmDisconnected::By::kStale});
      return BeginDisconnect(e, now_us);
    case CmState::kDisconnecting:
      return FinishDisconnect(e, now_us);
    case CmState::kHandedOff:
      keeper_.TellNewOwner(*e, CmForNewOwner::What::kWithdrawn);
      e->told = true;
      return keeper_.Remember(e, CmState::kHandedOff, CmLater(now_us, options_.remember_us));
    default:
      return;
  }
}

void ExchangeEndings::Withdraw(Exchange* e) {
  table_.SetState(e, CmState::kWithdrawn);
  keeper_.Report(CmWithdrawn{e->id});
}

}  // namespace softdat::softnet
