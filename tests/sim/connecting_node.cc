// SPDX-License-Identifier: BSD-3-Clause
// ConnectingNode.
#include "tests/sim/connecting_node.h"

#include <algorithm>
#include <utility>

namespace softdat::sim {

ConnectingNode::ConnectingNode(int number, VirtualTime* time, ByteStreams* streams,
                               const NodeOptions& options, PartySink* sink)
    : number_(number),
      time_(time),
      streams_(streams),
      options_(options),
      sink_(sink),
      half_open_(options.half_open) {
  streams->SetHandler(number, [this](const StreamEvent& event) { OnEvent(event); });
}

ConnectingNode::~ConnectingNode() { Kill(); }

void ConnectingNode::Listen(uint64_t qualifier) {
  qualifiers_.insert(qualifier);
  streams_->Listen({number_, PortOf(qualifier)});  // others may listen on this port already
}

void ConnectingNode::StopListening(uint64_t qualifier) {
  qualifiers_.erase(qualifier);
  const bool shared = std::ranges::any_of(
      qualifiers_, [qualifier](uint64_t other) { return PortOf(other) == PortOf(qualifier); });
  if (!shared) streams_->Unlisten({number_, PortOf(qualifier)});
}

Party* ConnectingNode::Connect(const ConnectParameters& parameters) {
  auto party = std::make_unique<Party>(this);
  Party* const raw = party.get();
  parties_.emplace(raw, std::move(party));
  raw->Connect(parameters);
  return raw;
}

void ConnectingNode::OnEvent(const StreamEvent& event) {
  if (event.kind == StreamEvent::Kind::kAccepted) {
    if (Party* const surplus = half_open_.Surplus()) surplus->Evict();
    Party* const party = half_open_.Add(std::make_unique<Party>(this));
    most_half_open_ = std::max(most_half_open_, half_open_.size());
    return party->Receive(event.stream, event.port);
  }
  const auto route = routes_.find(event.stream);
  if (route == routes_.end()) return sink_->OnStranger(event);
  route->second->OnEvent(event);
}

std::vector<Party*> ConnectingNode::parties() const {
  std::vector<Party*> all;
  for (const auto& [stream, party] : routes_) all.push_back(party);
  for (const auto& [party, own] : parties_) {
    if (std::ranges::find(all, own.get()) == all.end()) all.push_back(own.get());
  }
  // In an order that does not depend on addresses.
  std::ranges::sort(all, {}, [](const Party* p) { return p->serial(); });
  std::erase_if(all, [](const Party* p) { return p->phase() == Party::Phase::kOver; });
  return all;
}

void ConnectingNode::Keep(Party* party) {
  if (auto own = half_open_.Take(party)) parties_.emplace(party, std::move(own));
}

// The party itself may be the caller.
void ConnectingNode::Retire(Party* party) {
  Keep(party);
  time_->After(0, [this, party] { parties_.erase(party); });
}

void ConnectingNode::Kill() {
  for (Party* const party : parties()) party->Forget();
}

}  // namespace softdat::sim
