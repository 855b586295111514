// SPDX-License-Identifier: BSD-3-Clause
// A request that came to one manager and is answered by another, both of one address. The requester
// does not notice: to it, the new owner is the one that answers. What it repeats, because it has
// not heard the answer, still comes to the first manager.
#include <optional>
#include <utility>

#include "provider_softnet/cm/communication_manager.h"
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

// ---- handing off ----

void CommunicationManager::TellNewOwner(const Exchange& e, CmForNewOwner::What what) {
  if (!e.told) events_.emplace_back(CmForNewOwner{e.id, what});
}

std::optional<MadOctets> CommunicationManager::RequestOf(CmId id) {
  const Exchange* const e = table_.Find(id);
  if (e == nullptr) return std::nullopt;
  if (e->state != CmState::kRequestReceived && e->state != CmState::kWithdrawn) return std::nullopt;
  return e->mad;
}

void CommunicationManager::HandOff(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  if (e->state != CmState::kRequestReceived && e->state != CmState::kWithdrawn) return;
  // The new owner was offered the request, and does not know what came meanwhile.
  if (e->state == CmState::kWithdrawn) TellNewOwner(*e, CmForNewOwner::What::kWithdrawn);
  Remember(e, CmState::kHandedOff, kCmNever);
}

void CommunicationManager::AnsweredElsewhere(CmId id, ByteSpan refusal, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->state != CmState::kHandedOff || e->told) return;
  e->told = true;
  const bool refused = refusal.size() == e->mad.size() && IsRefusalOf(refusal, e->peer_comm_id);
  if (refused) std::copy(refusal.begin(), refusal.end(), e->mad.begin());
  e->limit_us = CmLater(now_us, options_.remember_us);
  Remember(e, refused ? CmState::kRejected : CmState::kHandedOff, e->limit_us);
}

void CommunicationManager::LostElsewhere(CmId id, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr || e->state != CmState::kHandedOff || e->told) return;
  SayNo(e, rdmacm::RejectReason::kNoResources, {}, now_us);
}

// ---- taking over ----

bool CommunicationManager::CanTakeOver(const sockaddr_storage& source, ByteSpan octets) {
  rdmacm::Mad mad;
  const CmReq* const req = RequestIn(octets, &mad);
  const auto gid = GidOfAddress(source);
  if (req == nullptr || !gid.has_value() || WhyNot(*req)) return false;
  if (table_.half_open() >= options_.most_half_open) return false;
  const Exchange* const known = table_.FindByPeerId(*gid, req->local_ca_guid, req->local_comm_id);
  if (known == nullptr) return true;
  const Arrival arrival{source, *gid, mad.transaction_id, 0};
  return known->state == CmState::kHandedOff && IsSame(*known, arrival, *req);
}

CmTakenOver CommunicationManager::TakeOver(const sockaddr_storage& source, ByteSpan octets,
                                           uint64_t now_us) {
  CmTakenOver out;
  rdmacm::Mad mad;
  const CmReq* const req = RequestIn(octets, &mad);
  const auto gid = GidOfAddress(source);
  if (req == nullptr || !gid.has_value()) return out;
  const Arrival arrival{source, *gid, mad.transaction_id, now_us};
  Exchange* const known = table_.FindByPeerId(*gid, req->local_ca_guid, req->local_comm_id);
  if (known != nullptr) {
    out.replaced = known->id;
    known->told = true;
    Forget(known);
  }
  Exchange* const same_pair = table_.FindByPeerQpn(*gid, req->local_ca_guid, req->local_qpn);
  if (same_pair != nullptr && HoldsPair(*same_pair, now_us)) {
    EndAsStale(same_pair, now_us);
    RefuseAsStale(arrival, *req);
  } else {
    out.request = OnNewRequest(arrival, *req);
  }
  return out;
}

void CommunicationManager::RequestedAgain(CmId id) {
  Exchange* const e = table_.Find(id);
  if (e != nullptr && !e->active) OnRequestAgain(e);
}

void CommunicationManager::GivenUp(CmId id, uint64_t now_us) {
  Exchange* const e = table_.Find(id);
  if (e == nullptr) return;
  if (e->state == CmState::kRequestReceived) {
    Withdraw(e);
  } else if (e->state == CmState::kReplySent) {
    Fail(e, RejectReason::kAborted, "the peer gave up when it was accepted");
    EnterTimeWait(e, now_us);
  }
}

std::optional<MadOctets> CommunicationManager::Refusal(CmId id) {
  const Exchange* const e = table_.Find(id);
  if (e == nullptr || e->active || e->state != CmState::kRejected) return std::nullopt;
  return e->mad;
}

}  // namespace softdat::softnet
