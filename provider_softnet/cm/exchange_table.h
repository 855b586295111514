// SPDX-License-Identifier: BSD-3-Clause
// All exchanges of a communication manager, found by what messages name: ids, and the queue pair of
// the peer. It also knows whose deadline is next, and what is to be forgotten first.
#ifndef SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_TABLE_H_
#define SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "provider_softnet/cm/exchange.h"

namespace softdat::softnet {

class ExchangeTable {
 public:
  ExchangeTable(const CmOptions& options, std::function<uint64_t()> random);
  ExchangeTable(const ExchangeTable&) = delete;
  ExchangeTable& operator=(const ExchangeTable&) = delete;

  // With ids of its own. References stay valid until Remove().
  Exchange& Add(CmState state, const sockaddr_storage& address, const rdmacm::Gid& gid);
  void Remove(Exchange* e);
  // Gives it another communication ID: messages of the earlier one find nothing.
  void Renumber(Exchange* e);
  // What the peer has told of itself.
  void SetPeer(Exchange* e, uint32_t comm_id, const CmPeer& peer);
  // The peer's queue pair is taken by this exchange.
  void HoldPair(Exchange* e);
  void SetState(Exchange* e, CmState state);
  void SetDeadline(Exchange* e, uint64_t deadline_us);

  // Null: there is none.
  Exchange* Find(CmId id);
  Exchange* FindByOwnId(uint32_t comm_id) const;
  // Whose messages carry both ids.
  Exchange* FindByBothIds(const rdmacm::Gid& gid, uint32_t own, uint32_t peers) const;
  Exchange* FindByPeerId(const rdmacm::Gid& gid, uint64_t ca_guid, uint32_t comm_id) const;
  Exchange* FindByPeerQpn(const rdmacm::Gid& gid, uint64_t ca_guid, uint32_t qpn) const;
  // One whose deadline has come.
  Exchange* Due(uint64_t now_us);
  // One that must be removed, because too many are remembered.
  Exchange* Surplus() const;

  uint64_t deadline_us() const { return deadlines_.empty() ? kCmNever : deadlines_.begin()->first; }
  // Those that this end has refused, oldest first.
  const std::list<Exchange*>& rejected() const { return rejected_; }
  size_t size() const { return exchanges_.size(); }
  size_t half_open() const { return half_open_; }

 private:
  // Of the peer: its address, its CA's GUID, and an id or a QPN.
  using PeerKey = std::tuple<rdmacm::Gid, uint64_t, uint32_t>;

  uint32_t FreshCommId();
  // The exchanges that are only remembered in this state; null for other states.
  std::list<Exchange*>* RememberedIn(CmState state);
  static bool IsHalfOpen(CmState state);

  const size_t most_remembered_;
  const std::optional<uint32_t> comm_id_block_;
  const std::function<uint64_t()> random_;
  CmId last_id_ = 0;
  std::unordered_map<CmId, Exchange> exchanges_;
  std::unordered_map<uint32_t, Exchange*> by_own_id_;
  // The latest exchange of each.
  std::map<PeerKey, Exchange*> by_peer_id_;
  std::map<PeerKey, Exchange*> by_peer_qpn_;
  std::set<std::pair<uint64_t, CmId>> deadlines_;
  std::list<Exchange*> time_wait_;  // oldest first, as the next
  std::list<Exchange*> rejected_;
  std::list<Exchange*> handed_off_;
  size_t half_open_ = 0;
};

}  // namespace softdat::softnet

#endif  // SOFTDAT_PROVIDER_SOFTNET_CM_EXCHANGE_TABLE_H_
