// SPDX-License-Identifier: BSD-3-Clause
// FrequentSenders and SteeredSockets.
#include "provider_softnet/udp/steering.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "dat/base/log.h"
#include "dat/base/socket_address.h"
#include "provider_softnet/udp/datagram_sockets.h"

namespace softdat::softnet {

uint32_t& FrequentSenders::CountOf(const sockaddr_storage& source) {
  const ForwardPrefix sender = EncodeForwardPrefix(source);
  if (counts_.size() >= kMostSenders && !counts_.contains(sender)) counts_.clear();
  return counts_[sender];
}

bool FrequentSenders::Note(const sockaddr_storage& source) {
  const std::lock_guard<Mutex> lock(mutex_);
  return ++CountOf(source) == enough_;
}

bool FrequentSenders::Expect(const sockaddr_storage& source) {
  const std::lock_guard<Mutex> lock(mutex_);
  uint32_t& count = CountOf(source);
  if (count >= enough_) return false;
  count = enough_;
  return true;
}

void FrequentSenders::Forget(const sockaddr_storage& source) {
  const std::lock_guard<Mutex> lock(mutex_);
  counts_.erase(EncodeForwardPrefix(source));
}

// Between its bind and its connect the socket is a member like the others. What it gets then is
// treated like any other packet.
std::optional<sockaddr_storage> SteeredSockets::Open(const sockaddr_storage& source) {
  if (core_->gate.closed() || most_ == 0) return std::nullopt;
  Result<UniqueFd> opened = OpenReceiverOf(core_->local, source);
  if (!opened.ok()) {
    SOFTDAT_LOG(Info, "{} gets no socket of its own: {}", AddressText(source),
                opened.status().reason());
    return std::nullopt;
  }
  auto socket = RefPtr<ReceiveSocket>::Adopt(
      new ReceiveSocket(core_, opened.Take(), ReceiveSocket::From::kNetwork));
  if (const Status s = socket->Watch(); !s.ok()) {
    SOFTDAT_LOG(Info, "{} gets no socket of its own: {}", AddressText(source), s.reason());
    return std::nullopt;
  }
  std::optional<sockaddr_storage> gone = MakeRoom();
  core_->counters.steered.Add();
  sockets_.push_back({source, std::move(socket)});
  return gone;
}

std::optional<sockaddr_storage> SteeredSockets::MakeRoom() {
  if (sockets_.size() < most_) return std::nullopt;
  const auto silent =
      std::min_element(sockets_.begin(), sockets_.end(), [](const Steered& a, const Steered& b) {
        return a.socket->last_read() < b.socket->last_read();
      });
  const Steered gone = std::move(*silent);
  sockets_.erase(silent);
  gone.socket->Close();
  core_->counters.unsteered.Add();
  return gone.source;
}

void SteeredSockets::CloseAll() {
  for (const Steered& steered : sockets_) steered.socket->Close();
  sockets_.clear();
}

}  // namespace softdat::softnet
