// SPDX-License-Identifier: BSD-3-Clause
// PeerWatch.
#include "provider_softnet/udp_wire/peer_watch.h"

#include <chrono>
#include <utility>
#include <vector>

#include "dat/backend_kit/own_address.h"
#include "dat/base/socket_address.h"

namespace softdat::softnet {

namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};
// Queue pair numbers of one member, which live and die together (udp/member_names.h).
constexpr uint32_t kQpnsOfMember = 1 << 12;

}  // namespace

PeerWatch::PeerWatch(HasMember has_member, EventLoop* loop, std::function<void(CmId)> gone)
    : has_member_(std::move(has_member)),
      gone_(std::move(gone)),
      timer_(loop, [this] { Look(); }) {}

void PeerWatch::Add(CmId id, const sockaddr_storage& host, uint32_t qpn) {
  const std::string text = HostText(host);
  if (!has_member_(text, qpn) && !IsOwnAddress(host)) return;
  Remove(id);
  const auto member = members_.try_emplace({text, qpn / kQpnsOfMember}).first;
  member->second.qpn = qpn;
  ++member->second.peers;
  peers_.emplace(id, member);
  if (!timer_.running()) timer_.Start(kBetweenLooks);
}

void PeerWatch::Remove(CmId id) {
  const auto peer = peers_.find(id);
  if (peer == peers_.end()) return;
  if (--peer->second->second.peers == 0) members_.erase(peer->second);
  peers_.erase(peer);
}

void PeerWatch::Look() {
  bool all_live = true;
  for (auto& [key, member] : members_) {
    member.lives = has_member_(key.first, member.qpn);
    all_live &= member.lives;
  }
  if (!all_live) {
    std::vector<CmId> gone;
    for (const auto& [id, member] : peers_) {
      if (!member->second.lives) gone.push_back(id);
    }
    for (const CmId id : gone) {
      if (!peers_.contains(id)) continue;  // removed because of another one
      Remove(id);
      gone_(id);
    }
  }
  if (!peers_.empty()) timer_.Start(kBetweenLooks);
}

}  // namespace softdat::softnet
