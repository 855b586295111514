// SPDX-License-Identifier: BSD-3-Clause
// RdsNetwork: connections. What goes over them is in rds_network_data.cc.
#include "tests/sim/rds_network.h"

#include <linux/rds.h>

#include <algorithm>
#include <cerrno>

#include "rds/protocol/connect_data.h"

namespace softdat::sim {

using rds::Address;
using rds::ChannelId;
using rds::LinkEvents;

namespace {

// Few of them, so that a process soon has the service that another one had.
constexpr uint16_t kFirstService = 40000, kServices = 12;

std::vector<uint8_t> Copy(ByteSpan data) { return {data.begin(), data.end()}; }

}  // namespace

// ---- a process ----

void RdsLink::Tell(News news) {
  if (dead_) return;
  news_.push_back(std::move(news));
  on_news_();
}

void RdsLink::Drain(LinkEvents& events) {
  while (!news_.empty()) {
    const News first = std::move(news_.front());
    news_.pop_front();
    if (first.always || channels_.contains(first.channel)) first.tell(events);
  }
}

std::pair<RdsWirePtr, int> RdsLink::Find(ChannelId channel) const {
  const auto found = channels_.find(channel);
  return found == channels_.end() ? std::pair<RdsWirePtr, int>() : found->second;
}

uint16_t RdsLink::service(const Address& own) const { return services_.at(own); }

std::optional<ChannelId> RdsLink::Connect(const Address& own, const Address& peer, uint16_t service,
                                          ByteSpan data) {
  if (network_.OneIn(network_.weather_.connect_fails_one_in)) return std::nullopt;
  auto wire = std::make_shared<RdsWire>();
  wire->number = ++network_.last_wire_;
  wire->ends[0].address = own;
  wire->ends[1].address = peer;
  network_.wires_.emplace(wire->number, wire);
  network_.Attach(wire, 0, this);
  network_.Request(wire, service, Copy(data));
  return wire->ends[0].id;
}

void RdsLink::Accept(ChannelId request, ByteSpan data) {
  const auto [wire, end] = Find(request);
  if (wire) network_.Accept(wire, Copy(data));
}

void RdsLink::Reject(ChannelId request, ByteSpan data) {
  const auto [wire, end] = Find(request);
  if (wire) network_.Reject(wire, Copy(data));
}

void RdsLink::Close(ChannelId channel) {
  const auto [wire, end] = Find(channel);
  if (!wire) return;
  network_.Detach(wire, end);
  network_.Break(wire);
}

// As when a region is freed under an operation.
void RdsLink::Revoke(ChannelId channel, uint64_t id) {
  const auto [wire, end] = Find(channel);
  if (!wire || wire->ends[end].operations.erase(id) == 0) return;
  network_.Break(wire);
}

int RdsLink::Register(const Address&, const rds::Area& area, rds::OpenRegion* out) {
  if (network_.OneIn(network_.weather_.register_fails_one_in)) return EAGAIN;
  out->rkey = ++network_.last_key_;
  out->handle = out->rkey;
  regions_.emplace(out->rkey, area);
  return 0;
}

void RdsLink::Deregister(uint64_t handle) { regions_.erase(static_cast<uint32_t>(handle)); }

// ---- who listens ----

void RdsNetwork::Listen(RdsLink* link, const Address& address) {
  uint16_t service = 0;
  do {
    service = static_cast<uint16_t>(kFirstService + Draw(kServices));
  } while (listeners_.contains({address, service}));
  listeners_[{address, service}] = link;
  link->services_[address] = service;
}

bool RdsNetwork::Hold(RdsLink* link, const Address& address) {
  return holders_.try_emplace(address, link).first->second == link;
}

void RdsNetwork::Kill(RdsLink* link) {
  link->dead_ = true;
  link->news_.clear();
  std::erase_if(listeners_, [&](const auto& l) { return l.second == link; });
  std::erase_if(holders_, [&](const auto& h) { return h.second == link; });
  while (!link->channels_.empty()) {
    const auto [wire, end] = link->channels_.begin()->second;
    Detach(wire, end);
    Break(wire);
  }
}

bool RdsNetwork::Parted(const Address& one, const Address& other) const {
  return parted_.contains({std::min(one, other), std::max(one, other)});
}

void RdsNetwork::Part(const Address& one, const Address& other) {
  parted_.insert({std::min(one, other), std::max(one, other)});
  std::vector<RdsWirePtr> between;
  for (const auto& [number, wire] : wires_) {
    if (Parted(wire->ends[0].address, wire->ends[1].address)) between.push_back(wire);
  }
  for (const RdsWirePtr& wire : between) Break(wire);
}

bool RdsNetwork::BreakOne() {
  if (wires_.empty()) return false;
  auto chosen = wires_.begin();
  std::advance(chosen, static_cast<ptrdiff_t>(Draw(wires_.size())));
  Break(RdsWirePtr(chosen->second));
  return true;
}

// ---- connecting ----

void RdsNetwork::Pass(const RdsWirePtr& wire, int to, std::function<void()> arrive,
                      uint64_t extra_us) {
  RdsEnd& end = wire->ends[to];
  end.last_arrival = std::max(time_.now_us() + Latency() + extra_us, end.last_arrival);
  time_.At(end.last_arrival, [this, wire, to, arrive = std::move(arrive)] {
    if (time_.now_us() <= wire->ends[to].cut_at) arrive();
  });
}

void RdsNetwork::Attach(const RdsWirePtr& wire, int end, RdsLink* link) {
  RdsEnd& e = wire->ends[end];
  e.link = link;
  e.id = ++last_channel_;
  e.receives = link->credit_;
  link->channels_[e.id] = {wire, end};
}

// The process has closed this end, or is gone.
void RdsNetwork::Detach(const RdsWirePtr& wire, int end) {
  RdsEnd& e = wire->ends[end];
  e.link->channels_.erase(e.id);
  e.closed = true;
}

void RdsNetwork::Request(const RdsWirePtr& wire, uint16_t service,
                         const std::vector<uint8_t>& data) {
  const uint64_t late = OneIn(weather_.late_one_in) ? Draw(weather_.late_us) : 0;
  Pass(
      wire, 1,
      [this, wire, service, data] {
        if (Parted(wire->ends[0].address, wire->ends[1].address)) {
          return Refuse(wire, /*refused=*/false);
        }
        RdsLink* link = nullptr;
        if (service == rds::kPort) {
          const auto holder = holders_.find(wire->ends[1].address);
          if (holder != holders_.end()) link = holder->second;
        } else {
          const auto listener = listeners_.find({wire->ends[1].address, service});
          if (listener != listeners_.end()) link = listener->second;
        }
        if (link == nullptr) return Refuse(wire, /*refused=*/true);
        Attach(wire, 1, link);
        const RdsEnd& end = wire->ends[1];
        link->Tell({end.id, false, [end, peer = wire->ends[0].address, data](LinkEvents& events) {
                      events.OnRequest(end.id, end.address, peer, data);
                    }});
        // Who asks may have given up meanwhile.
        if (wire->broken) TellBroken(wire, 1);
      },
      late);
}

void RdsNetwork::Refuse(const RdsWirePtr& wire, bool refused) {
  Pass(wire, 0, [this, wire, refused] {
    const RdsEnd& end = wire->ends[0];
    wire->broken = true;
    wires_.erase(wire->number);
    if (end.closed) return;
    end.link->Tell({end.id, false,
                    [id = end.id, refused](LinkEvents& events) { events.OnBroken(id, refused); }});
  });
}

// The acceptor hears that there is a connection when the initiator has heard it.
void RdsNetwork::Accept(const RdsWirePtr& wire, const std::vector<uint8_t>& data) {
  if (wire->broken) return;
  const uint64_t late = OneIn(weather_.late_one_in) ? Draw(weather_.late_us) : 0;
  const auto to_acceptor = [wire] {
    const RdsEnd& end = wire->ends[1];
    end.link->Tell(
        {end.id, false, [id = end.id](LinkEvents& events) { events.OnEstablished(id, {}); }});
  };
  Pass(
      wire, 0,
      [this, wire, data, to_acceptor] {
        const RdsEnd& end = wire->ends[0];
        end.link->Tell({end.id, false, [id = end.id, data](LinkEvents& events) {
                          events.OnEstablished(id, data);
                        }});
        Pass(wire, 1, to_acceptor);
      },
      late);
}

void RdsNetwork::Reject(const RdsWirePtr& wire, const std::vector<uint8_t>& data) {
  Detach(wire, 1);
  if (wire->broken) return;
  Pass(wire, 0, [this, wire, data] {
    const RdsEnd& end = wire->ends[0];
    wire->broken = true;
    wires_.erase(wire->number);
    if (end.closed) return;
    end.link->Tell(
        {end.id, false, [id = end.id, data](LinkEvents& events) { events.OnRejected(id, data); }});
  });
}

// ---- ends ----

// In each direction nothing more arrives, or some of what is under way does.
void RdsNetwork::Break(const RdsWirePtr& wire) {
  if (wire->broken) return;
  wire->broken = true;
  wires_.erase(wire->number);
  for (int end = 0; end < 2; ++end) {
    RdsEnd& e = wire->ends[end];
    e.cut_at = time_.now_us() + (Coin() ? 0 : Draw(2 * weather_.latency_us + 1));
    if (!weather_.loses) e.cut_at = std::max(e.cut_at, e.last_arrival);
    if (e.link == nullptr || e.closed) continue;
    const uint64_t until = e.cut_at + 1 + Draw(Coin() ? 10 : 4000);
    time_.At(until, [this, wire, end] { TellBroken(wire, end); });
  }
}

// Of the operations that are open, some are told before, some afterwards, and some never.
void RdsNetwork::TellBroken(const RdsWirePtr& wire, int end) {
  RdsEnd& e = wire->ends[end];
  if (e.closed) return;
  std::vector<uint64_t> before, after;
  for (const uint64_t id : e.operations) {
    switch (Draw(3)) {
      case 0:
        before.push_back(id);
        break;
      case 1:
        after.push_back(id);
        break;
      default:
        break;
    }
  }
  e.operations.clear();
  const auto tell = [&](const std::vector<uint64_t>& ids) {
    for (const uint64_t id : ids) {
      e.link->Tell({e.id, true, [channel = e.id, id](LinkEvents& events) {
                      events.OnOperation(channel, id, RDS_RDMA_DROPPED);
                    }});
    }
  };
  tell(before);
  e.link->Tell({e.id, false, [id = e.id](LinkEvents& events) { events.OnBroken(id, false); }});
  tell(after);
}

}  // namespace softdat::sim
