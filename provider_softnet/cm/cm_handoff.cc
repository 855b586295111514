// SPDX-License-Identifier: BSD-3-Clause
#include "provider_softnet/cm/cm_handoff.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "provider_softnet/cm/gid_of_address.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

using rdmacm::CmRej;
using rdmacm::CmReq;
using transport::RejectReason;

namespace {

// The REQ in a MAD; null when there is none. It points into the octets.
const CmReq* RequestIn(ByteSpan octets, rdmacm::Mad* mad) {
  if (rdmacm::ParseMad(octets, mad) != rdmacm::MadParse::kOk) return nullptr;
  const CmReq* const req = std::get_if<CmReq>(&mad->message);
  return req != nullptr && req->local_comm_id != 0 ? req : nullptr;
}

// Whether it is a REJ of a request with this id.
bool IsRefusalOf(ByteSpan octets, uint32_t comm_id) {
  rdmacm::Mad mad;
  if (rdmacm::ParseMad(octets, &mad) != rdmacm::MadParse::kOk) return false;
  const CmRej* const rej = std::get_if<CmRej>(&mad.message);
  return rej != nullptr && rej->remote_comm_id == comm_id;
}

}  // namespace

CmHandoff::CmHandoff(ExchangeKeeper* keeper, ExchangeEndings* endings, CmPassive* passive)
    : keeper_(*keeper),
      endings_(*endings),
      passive_(*passive),
      table_(keeper->table()),
      options_(keeper->options()) {}

// ---- handing off ----

std::optional<MadOctets> CmHandoff::RequestOf(CmId id) const {
  const Exchange* const e = table_.Find(id);
  if (e == nullptr) return std::nullopt;
  if (e->state != CmState::kRequestReceived && e->state != CmState::kWithdrawn) return std::nullopt;
  return e->mad;
}

void CmHandoff::HandOff(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  if (e->state != CmState::kRequestReceived && e->state != CmState::kWithdrawn) return;
  // The new owner was offered the request, and does not know what came meanwhile.
  if (e->state == CmState::kWithdrawn) keeper_.TellNewOwner(*e, CmForNewOwner::What::kWithdrawn);
  keeper_.Remember(e, CmState::kHandedOff, kCmNever);
}

void CmHandoff::AnsweredElsewhere(CmId id, ByteSpan refusal, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->state != CmState::kHandedOff || e->told) return;
  e->told = true;
  const bool refused = refusal.size() == e->mad.size() && IsRefusalOf(refusal, e->peer_comm_id);
  if (refused) std::copy(refusal.begin(), refusal.end(), e->mad.begin());
  e->limit_us = CmLater(now_us, options_.remember_us);
  keeper_.Remember(e, refused ? CmState::kRejected : CmState::kHandedOff, e->limit_us);
}

void CmHandoff::LostElsewhere(CmId id, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->state != CmState::kHandedOff || e->told) return;
  endings_.SayNo(e, rdmacm::RejectReason::kNoResources, {}, now_us);
}

// ---- taking over ----

CmId CmHandoff::KnownAs(const sockaddr_storage& source, ByteSpan octets) const {
  rdmacm::Mad mad;
  const CmReq* const req = RequestIn(octets, &mad);
  const auto gid = GidOfAddress(source);
  if (req == nullptr || !gid.has_value()) return 0;
  const Exchange* const known = table_.FindByPeerId(*gid, req->local_ca_guid, req->local_comm_id);
  return known != nullptr ? known->id : 0;
}

bool CmHandoff::CanTakeOver(const sockaddr_storage& source, ByteSpan octets) const {
  rdmacm::Mad mad;
  const CmReq* const req = RequestIn(octets, &mad);
  const auto gid = GidOfAddress(source);
  if (req == nullptr || !gid.has_value() || CmPassive::WhyNot(*req)) return false;
  if (table_.half_open() >= options_.most_half_open) return false;
  const Exchange* const known = table_.FindByPeerId(*gid, req->local_ca_guid, req->local_comm_id);
  if (known == nullptr) return true;
  const CmArrival arrival{source, *gid, mad.transaction_id, 0};
  return known->state == CmState::kHandedOff && CmPassive::IsSame(*known, arrival, *req);
}

CmTakenOver CmHandoff::TakeOver(const sockaddr_storage& source, ByteSpan octets, uint64_t now_us) {
  CmTakenOver out;
  rdmacm::Mad mad;
  const CmReq* const req = RequestIn(octets, &mad);
  const auto gid = GidOfAddress(source);
  if (req == nullptr || !gid.has_value()) return out;
  const CmArrival arrival{source, *gid, mad.transaction_id, now_us};
  Exchange* const known = table_.FindByPeerId(*gid, req->local_ca_guid, req->local_comm_id);
  if (known != nullptr) {
    out.replaced = known->id;
    known->told = true;
    keeper_.Forget(known);
  }
  if (!passive_.RefusedAsStale(arrival, *req)) out.request = passive_.OnNewRequest(arrival, *req);
  return out;
}

void CmHandoff::RequestedAgain(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e != nullptr && !e->active) passive_.OnRequestAgain(e);
}

void CmHandoff::GivenUp(CmId id, uint64_t now_us) {
  if (Exchange* const e = table_.Find(id)) endings_.GivenUp(e, now_us);
}

std::optional<MadOctets> CmHandoff::Refusal(CmId id) const {
  const Exchange* const e = table_.Find(id);
  if (e == nullptr || e->active || e->state != CmState::kRejected) return std::nullopt;
  return e->mad;
}

}  // namespace softdat::softnet
