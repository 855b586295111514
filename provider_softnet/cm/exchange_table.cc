// SPDX-License-Identifier: BSD-3-Clause
// ExchangeTable.
#include "provider_softnet/cm/exchange_table.h"

#include <algorithm>
#include <utility>

namespace softdat::softnet {
namespace {

template <typename Map, typename Key>
Exchange* FoundIn(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : found->second;
}

// A later exchange may have taken the place.
template <typename Map, typename Key>
void EraseIfOf(Map* map, const Key& key, const Exchange* e) {
  const auto found = map->find(key);
  if (found != map->end() && found->second == e) map->erase(found);
}

}  // namespace

ExchangeTable::ExchangeTable(const CmOptions& options, std::function<uint64_t()> random)
    : most_remembered_(std::max<size_t>(options.most_remembered, 1)),
      comm_id_block_(options.comm_id_block),
      random_(std::move(random)) {}

Exchange& ExchangeTable::Add(CmState state, const sockaddr_storage& address,
                             const rdmacm::Gid& gid) {
  Exchange& e = exchanges_[++last_id_];
  e.id = last_id_;
  e.address = address;
  e.gid = gid;
  e.comm_id = FreshCommId();
  by_own_id_[e.comm_id] = &e;
  SetState(&e, state);
  return e;
}

void ExchangeTable::Remove(Exchange* e) {
  SetState(e, CmState::kNone);
  SetDeadline(e, kCmNever);
  by_own_id_.erase(e->comm_id);
  EraseIfOf(&by_peer_id_, PeerKey(e->gid, e->peer.ca_guid, e->peer_comm_id), e);
  EraseIfOf(&by_peer_qpn_, PeerKey(e->gid, e->peer.ca_guid, e->peer.qpn), e);
  exchanges_.erase(e->id);
}

void ExchangeTable::Renumber(Exchange* e) {
  by_own_id_.erase(e->comm_id);
  e->comm_id = FreshCommId();
  by_own_id_[e->comm_id] = e;
}

void ExchangeTable::SetPeer(Exchange* e, uint32_t comm_id, const CmPeer& peer) {
  e->peer_comm_id = comm_id;
  e->peer = peer;
  by_peer_id_[PeerKey(e->gid, peer.ca_guid, comm_id)] = e;
}

void ExchangeTable::HoldPair(Exchange* e) {
  by_peer_qpn_[PeerKey(e->gid, e->peer.ca_guid, e->peer.qpn)] = e;
}

void ExchangeTable::SetState(Exchange* e, CmState state) {
  half_open_ -= IsHalfOpen(e->state);
  half_open_ += IsHalfOpen(state);
  if (auto* const list = RememberedIn(e->state); list != nullptr) list->erase(e->remembered_at);
  if (auto* const list = RememberedIn(state); list != nullptr)
    e->remembered_at = list->insert(list->end(), e);
  e->state = state;
}

void ExchangeTable::SetDeadline(Exchange* e, uint64_t deadline_us) {
  if (e->deadline_us != kCmNever) deadlines_.erase({e->deadline_us, e->id});
  e->deadline_us = deadline_us;
  if (deadline_us != kCmNever) deadlines_.emplace(deadline_us, e->id);
}

Exchange* ExchangeTable::Find(CmId id) {
  const auto found = exchanges_.find(id);
  return found == exchanges_.end() ? nullptr : &found->second;
}

Exchange* ExchangeTable::FindByOwnId(uint32_t comm_id) const {
  return FoundIn(by_own_id_, comm_id);
}

Exchange* ExchangeTable::FindByBothIds(const rdmacm::Gid& gid, uint32_t own, uint32_t peers) const {
  Exchange* const e = FindByOwnId(own);
  const bool fits = e != nullptr && e->gid == gid && peers != 0 && e->peer_comm_id == peers;
  return fits ? e : nullptr;
}

Exchange* ExchangeTable::FindByPeerId(const rdmacm::Gid& gid, uint64_t ca_guid,
                                      uint32_t comm_id) const {
  return FoundIn(by_peer_id_, PeerKey(gid, ca_guid, comm_id));
}

Exchange* ExchangeTable::FindByPeerQpn(const rdmacm::Gid& gid, uint64_t ca_guid,
                                       uint32_t qpn) const {
  return FoundIn(by_peer_qpn_, PeerKey(gid, ca_guid, qpn));
}

Exchange* ExchangeTable::Due(uint64_t now_us) {
  if (deadline_us() > now_us) return nullptr;
  return &exchanges_.at(deadlines_.begin()->second);
}

Exchange* ExchangeTable::Surplus() const {
  if (time_wait_.size() > most_remembered_) return time_wait_.front();
  if (rejected_.size() > most_remembered_) return rejected_.front();
  if (handed_off_.size() > most_remembered_) return handed_off_.front();
  return nullptr;
}

uint32_t ExchangeTable::FreshCommId() {
  uint32_t id = 0;
  constexpr uint32_t kInBlock = (1u << 20) - 1;
  while (id == 0 || by_own_id_.contains(id)) {
    id = static_cast<uint32_t>(random_());
    if (comm_id_block_) id = *comm_id_block_ << 20 | (id & kInBlock);
  }
  return id;
}

std::list<Exchange*>* ExchangeTable::RememberedIn(CmState state) {
  switch (state) {
    case CmState::kTimeWait:
      return &time_wait_;
    case CmState::kRejected:
      return &rejected_;
    case CmState::kHandedOff:
      return &handed_off_;
    default:
      return nullptr;
  }
}

bool ExchangeTable::IsHalfOpen(CmState state) {
  return state == CmState::kRequestReceived || state == CmState::kWithdrawn ||
         state == CmState::kReplySent;
}

}  // namespace softdat::softnet
