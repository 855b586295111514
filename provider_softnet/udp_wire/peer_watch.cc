// SPDX-License-Identifier: BSD-3-Clause
// PeerWatch.
#include "provider_softnet/udp_wire/peer_watch.h"

#include <chrono>
#include <string>
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
  if (!has_member_(host, qpn) && !IsOwnAddress(host)) return;
  peers_[id] = {host, qpn};
  if (!timer_.running()) timer_.Start(kBetweenLooks);
}

void PeerWatch::Look() {
  std::map<std::pair<std::string, uint32_t>, bool> lives;  // by member
  std::vector<CmId> gone;
  for (const auto& [id, peer] : peers_) {
    const std::pair member(HostText(peer.host), peer.qpn / kQpnsOfMember);
    const auto [known, is_new] = lives.try_emplace(member, true);
    if (is_new) known->second = has_member_(peer.host, peer.qpn);
    if (!known->second) gone.push_back(id);
  }
  for (const CmId id : gone) {
    if (peers_.erase(id) != 0) gone_(id);
  }
  if (!peers_.empty()) timer_.Start(kBetweenLooks);
}

}  // namespace softdat::softnet
