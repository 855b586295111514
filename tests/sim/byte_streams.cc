// SPDX-License-Identifier: BSD-3-Clause
// ByteStreams: the calls of its users.
#include "tests/sim/byte_streams.h"

#include <errno.h>

#include <algorithm>
#include <utility>

namespace softdat::sim {

using Kind = StreamEvent::Kind;

ByteStreams::ByteStreams(VirtualTime* time, Network* network, const ByteStreamOptions& options)
    : time_(time),
      network_(network),
      options_(options),
      handlers_(static_cast<size_t>(network->nodes())) {}

void ByteStreams::SetHandler(int node, Handler handler) {
  handlers_[static_cast<size_t>(node)] = std::move(handler);
}

StreamId ByteStreams::Add(End end) {
  const StreamId id = ++last_id_;
  ends_.emplace(id, std::move(end));
  return id;
}

void ByteStreams::Remove(StreamId id) {
  time_->Cancel(ends_.at(id).timer);
  time_->Cancel(ends_.at(id).probe);
  ends_.erase(id);
}

void ByteStreams::Tell(StreamId id, Kind kind, int error) {
  time_->After(0, [this, id, kind, error] {
    const End* end = Find(id);
    if (end == nullptr || !end->owned) return;
    const Handler& handler = handlers_[static_cast<size_t>(end->local.node)];
    if (handler) handler({kind, id, error, end->local.port});
  });
}

int ByteStreams::Listen(Address address) {
  return listeners_.insert(address).second ? 0 : -EADDRINUSE;
}

uint16_t ByteStreams::FreePort(int node) {
  for (;;) {
    const Address some{node, static_cast<uint16_t>(32768 + network_->Draw(28232))};
    const bool taken = listeners_.contains(some) || std::ranges::any_of(ends_, [&](const auto& e) {
                         return e.second.local == some;
                       });
    if (!taken) return some.port;
  }
}

StreamId ByteStreams::Connect(int node, Address to, uint16_t local_port) {
  End end;
  end.local = {node, local_port != 0 ? local_port : FreePort(node)};
  end.remote = to;
  end.wait_us = options_.connect_again_us;
  end.unanswered_since_us = time_->now_us();
  const StreamId id = Add(std::move(end));
  Ask(id);
  return id;
}

ssize_t ByteStreams::Send(StreamId stream, std::span<const uint8_t> bytes) {
  End& end = ends_.at(stream);
  if (end.state == State::kBroken || end.wants_fin) return -EPIPE;
  const size_t room = options_.send_buffer - std::min(options_.send_buffer, end.out.size());
  const size_t size = std::min(room, bytes.size());
  end.wants_room = size < bytes.size();
  if (size == 0) return bytes.empty() ? 0 : -EAGAIN;
  end.out.insert(end.out.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
  Pump(stream);
  return static_cast<ssize_t>(size);
}

ssize_t ByteStreams::Receive(StreamId stream, std::span<uint8_t> into) {
  End& end = ends_.at(stream);
  const size_t size = std::min(end.in.size(), into.size());
  if (size == 0) return into.empty() ? 0 : Peek(stream);
  const auto last = end.in.begin() + static_cast<ptrdiff_t>(size);
  std::copy(end.in.begin(), last, into.begin());
  end.in.erase(end.in.begin(), last);
  // The sender learns of the room.
  const uint64_t delay_us = network_->link(end.local.node, end.remote.node).min_delay_us;
  time_->After(delay_us, [this, peer = end.peer] {
    if (Find(peer) != nullptr) Pump(peer);
  });
  return static_cast<ssize_t>(size);
}

ssize_t ByteStreams::Peek(StreamId stream) {
  const End& end = ends_.at(stream);
  if (!end.in.empty()) return 1;
  if (end.error != 0) return -end.error;
  return end.fin_received ? 0 : -EAGAIN;
}

void ByteStreams::ShutdownWrite(StreamId stream) {
  End& end = ends_.at(stream);
  if (end.state == State::kBroken) return;
  end.wants_fin = true;
  Pump(stream);
}

void ByteStreams::Close(StreamId stream) {
  End& end = ends_.at(stream);
  if (end.state != State::kOpen || !end.in.empty()) return Reset(stream);
  end.owned = false;
  end.wants_fin = true;
  Pump(stream);
  RemoveIfOver(stream);
  time_->After(options_.linger_us, [this, stream] {
    if (Find(stream) != nullptr) Reset(stream);
  });
}

void ByteStreams::Reset(StreamId stream) {
  const End& end = ends_.at(stream);
  if (end.state == State::kOpen) SendReset(end, end.peer);
  Remove(stream);
}

void ByteStreams::Crash(int node) {
  SetHandler(node, nullptr);
  std::erase_if(listeners_, [node](const Address& a) { return a.node == node; });
  std::vector<StreamId> all;
  for (const auto& [id, end] : ends_) {
    if (end.local.node == node && end.owned) all.push_back(id);
  }
  for (const StreamId id : all) {
    if (Find(id) != nullptr) Close(id);
  }
}

void ByteStreams::Vanish(int node) {
  network_->Isolate(node, true);
  SetHandler(node, nullptr);
  std::erase_if(listeners_, [node](const Address& a) { return a.node == node; });
  std::vector<StreamId> all;
  for (const auto& [id, end] : ends_) {
    if (end.local.node == node) all.push_back(id);
  }
  for (const StreamId id : all) Remove(id);
}

size_t ByteStreams::open(int node) const {
  return static_cast<size_t>(std::ranges::count_if(ends_, [node](const auto& e) {
    const End& end = e.second;
    return end.local.node == node && end.owned && end.state != State::kAsked;
  }));
}

size_t ByteStreams::remaining(int node) const {
  return static_cast<size_t>(
      std::ranges::count_if(ends_, [node](const auto& e) { return e.second.local.node == node; }));
}

}  // namespace softdat::sim
