// SPDX-License-Identifier: BSD-3-Clause
#include "rds/link/dat_link.h"

#include <cerrno>
#include <utility>

#include "rds/link/ia_names.h"

namespace softdat::rds {

Adapter* DatLink::Attach(const Address& own, std::string* why) {
  if (Adapter* const open = AdapterOf(own)) return open;
  const std::string ia = IaNameFor(own);
  if (ia.empty()) {
    *why = "no interface of this host has the address " + ToText(own);
    return nullptr;
  }
  auto adapter = std::make_unique<Adapter>(own, events_, &last_channel_);
  *why = adapter->Open(ia);
  if (!why->empty()) return nullptr;
  return adapters_.emplace(own, std::move(adapter)).first->second.get();
}

Adapter* DatLink::AdapterOf(const Address& own) const {
  const auto found = adapters_.find(own);
  return found == adapters_.end() ? nullptr : found->second.get();
}

ChannelLimits DatLink::limits(const Address&) const { return Channel::Limits(); }

uint16_t DatLink::service(const Address& own) const { return AdapterOf(own)->service(); }

uint32_t DatLink::credit(const Address& own) const {
  return AdapterOf(own)->counts_credit() ? Channel::kReceives : 0;
}

// ---- channels ----

Channel* DatLink::Find(ChannelId id, Adapter** adapter) const {
  for (const auto& [address, candidate] : adapters_) {
    Channel* const channel = candidate->Find(id);
    if (channel == nullptr) continue;
    if (adapter != nullptr) *adapter = candidate.get();
    return channel;
  }
  return nullptr;
}

std::optional<ChannelId> DatLink::Connect(const Address& own, const Address& peer, uint16_t service,
                                          ByteSpan data) {
  const Channel* const channel = AdapterOf(own)->Connect(peer, service, data);
  if (channel == nullptr) return std::nullopt;
  return channel->id();
}

void DatLink::Accept(ChannelId request, ByteSpan data) {
  Adapter* adapter = nullptr;
  if (Channel* const channel = Find(request, &adapter)) adapter->Accept(*channel, data);
}

void DatLink::Reject(ChannelId request, ByteSpan data) {
  Adapter* adapter = nullptr;
  if (Channel* const channel = Find(request, &adapter)) adapter->Reject(*channel, data);
}

void DatLink::Close(ChannelId id) {
  Adapter* adapter = nullptr;
  if (Find(id, &adapter) != nullptr) adapter->Close(id);
}

size_t DatLink::room(ChannelId id) const {
  const Channel* const channel = Find(id);
  return channel == nullptr ? 0 : channel->room();
}

void DatLink::Send(ChannelId id, const Frame& frame, bool fence) {
  if (Channel* const channel = Find(id)) channel->Send(frame, fence);
}

void DatLink::PostReceives(ChannelId id) {
  if (Channel* const channel = Find(id)) channel->PostReceives();
}

template <typename Operation>
void DatLink::PostOn(ChannelId id, uint64_t operation_id, const Operation& operation) {
  Channel* const channel = Find(id);
  if (channel == nullptr) return;
  channel->Post(operation_id, operation);
  if (const auto refused = channel->TakeRefused()) {
    events_->OnOperation(id, refused->id, refused->status);
  }
}

void DatLink::Post(ChannelId id, uint64_t operation_id, const RdmaOperation& operation) {
  PostOn(id, operation_id, operation);
}

void DatLink::Post(ChannelId id, uint64_t operation_id, const AtomicOperation& operation) {
  PostOn(id, operation_id, operation);
}

void DatLink::Revoke(ChannelId channel, uint64_t id) {
  if (Channel* const found = Find(channel)) found->Revoke(id);
}

// ---- memory ----

int DatLink::Register(const Address& own, const Area& area, OpenRegion* out) {
  client::Lmr lmr;
  if (const int error = AdapterOf(own)->Register(area, &lmr, &out->offset); error != 0)
    return error;
  out->rkey = lmr.rmr_context();
  out->handle = ++last_region_;
  regions_.emplace(out->handle, std::move(lmr));
  return 0;
}

void DatLink::Deregister(uint64_t handle) { regions_.erase(handle); }

}  // namespace softdat::rds
