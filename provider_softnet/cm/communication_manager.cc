// SPDX-License-Identifier: BSD-3-Clause
// CommunicationManager: what goes in and out, repeating, and what is remembered for how long.
#include "provider_softnet/cm/communication_manager.h"

#include <algorithm>
#include <utility>

#include "provider_softnet/cm/gid_of_address.h"
#include "wire/rdmacm/mad.h"

namespace softdat::softnet {

using rdmacm::Mad;

CommunicationManager::CommunicationManager(const CmOptions& options,
                                           std::function<uint64_t()> random)
    : options_(options), random_(random), table_(options, std::move(random)) {
  StoreBe64(guid_octets_.data(), options_.ca_guid);
}

void CommunicationManager::OnMad(const sockaddr_storage& source, ByteSpan mad, uint64_t now_us) {
  Mad parsed;
  if (rdmacm::ParseMad(mad, &parsed) != rdmacm::MadParse::kOk) return;
  const auto gid = GidOfAddress(source);
  if (!gid.has_value()) return;
  const Arrival arrival{source, *gid, parsed.transaction_id, now_us};
  std::visit([&](const auto& message) { On(arrival, message); }, parsed.message);
}

void CommunicationManager::OnTime(uint64_t now_us) {
  while (Exchange* const e = table_.Due(now_us)) OnDue(e, now_us);
}

std::optional<CmOutgoing> CommunicationManager::TakeOutgoing() {
  if (outgoing_.empty()) return std::nullopt;
  const CmOutgoing first = outgoing_.front();
  outgoing_.pop_front();
  return first;
}

std::optional<CmEvent> CommunicationManager::TakeEvent() {
  if (events_.empty()) return std::nullopt;
  CmEvent first = std::move(events_.front());
  events_.pop_front();
  return first;
}

// As Linux does it, so that a capture shows what belongs together.
uint64_t CommunicationManager::NewTransaction(const Exchange& e) {
  return random_() << 32 | e.comm_id;
}

void CommunicationManager::SendOnce(const sockaddr_storage& to, uint64_t transaction_id,
                                    const rdmacm::CmMessage& message) {
  CmOutgoing out{.to = to};
  if (rdmacm::EncodeMad({transaction_id, message}, out.mad)) outgoing_.push_back(out);
}

bool CommunicationManager::Prepare(Exchange* e, uint64_t transaction_id,
                                   const rdmacm::CmMessage& message) {
  return rdmacm::EncodeMad({transaction_id, message}, e->mad);
}

void CommunicationManager::Begin(Exchange* e, uint32_t tries, uint64_t now_us) {
  e->tries = 0;
  e->tries_left = std::max<uint32_t>(tries, 1);
  e->interval_us = std::max<uint64_t>(options_.first_interval_us, 1);
  Repeat(e, now_us);
}

void CommunicationManager::Repeat(Exchange* e, uint64_t now_us) {
  Transmit(*e);
  ++e->tries;
  --e->tries_left;
  e->next_us = CmLater(now_us, e->interval_us);
  e->interval_us =
      std::max(e->interval_us, std::min(2 * e->interval_us, options_.longest_interval_us));
  Arm(e);
}

void CommunicationManager::Arm(Exchange* e) {
  table_.SetDeadline(e, std::min(e->next_us, e->limit_us));
}

void CommunicationManager::OnDue(Exchange* e, uint64_t now_us) {
  switch (e->state) {
    case CmState::kRequestSent:
      return OnRequestDue(e, now_us);
    case CmState::kPausing:
      return now_us < e->limit_us ? RequestAnew(e, now_us) : OnRequestDue(e, now_us);
    case CmState::kReplySent:
      if (now_us < e->limit_us) return Repeat(e, now_us);
      Fail(e, transport::RejectReason::kAborted, "the peer did not confirm that it is connected");
      return GiveUpReply(e, now_us);
    case CmState::kDisconnecting:
      return e->tries_left > 0 ? Repeat(e, now_us) : FinishDisconnect(e, now_us);
    case CmState::kRejected:
      return now_us < e->limit_us ? Repeat(e, now_us) : Forget(e);
    case CmState::kTimeWait:
    case CmState::kHandedOff:
      return Forget(e);
    case CmState::kNone:
    case CmState::kReplyReceived:
    case CmState::kRequestReceived:
    case CmState::kWithdrawn:
    case CmState::kEstablished:
      return table_.SetDeadline(e, kCmNever);
  }
}

void CommunicationManager::Remember(Exchange* e, CmState state, uint64_t until_us) {
  table_.SetState(e, state);
  table_.SetDeadline(e, until_us);
  while (Exchange* const surplus = table_.Surplus()) Forget(surplus);
}

void CommunicationManager::Forget(Exchange* e) {
  if (e->qpn != 0) events_.emplace_back(CmOver{e->id, e->qpn});
  if (e->state == CmState::kHandedOff) TellNewOwner(*e, CmForNewOwner::What::kForgotten);
  table_.Remove(e);
}

void CommunicationManager::Tell(Exchange* e, CmEvent event) {
  if (!e->told) events_.push_back(std::move(event));
  e->told = true;
}

void CommunicationManager::Fail(Exchange* e, transport::RejectReason reason, std::string why) {
  Tell(e, CmFailed{.id = e->id, .reason = reason, .why = std::move(why)});
}

// The exchange whose messages carry both ids.
Exchange* CommunicationManager::FindBoth(const Arrival& a, uint32_t own, uint32_t peers) const {
  Exchange* const e = table_.FindByOwnId(own);
  const bool fits = e != nullptr && e->gid == a.gid && peers != 0 && e->peer_comm_id == peers;
  return fits ? e : nullptr;
}

}  // namespace softdat::softnet
