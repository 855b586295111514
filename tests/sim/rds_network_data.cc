// SPDX-License-Identifier: BSD-3-Clause
// RdsNetwork: frames and operations on a connection.
#include <linux/rds.h>

#include <algorithm>
#include <cstring>

#include "tests/sim/rds_network.h"

namespace softdat::sim {

using rds::ChannelId;
using rds::LinkEvents;

// ---- posting ----

size_t RdsLink::room(ChannelId channel) const {
  const auto [wire, end] = Find(channel);
  if (!wire) return 0;
  const size_t used = wire->ends[end].ring;
  return used < ring_ ? ring_ - used : 0;
}

void RdsLink::Send(ChannelId channel, const rds::Frame& frame, bool fence) {
  const auto [wire, end] = Find(channel);
  if (!wire) return;
  RdsWork work;
  work.frame.assign(frame.header.begin(), frame.header.end());
  work.frame.insert(work.frame.end(), frame.payload.begin(), frame.payload.end());
  work.fence = fence;
  network_.Push(wire, end, std::move(work));
}

void RdsLink::PostReceives(ChannelId channel) {
  const auto [wire, end] = Find(channel);
  if (wire) wire->ends[end].receives += std::exchange(wire->ends[end].used_receives, 0);
}

void RdsLink::Post(ChannelId channel, uint64_t id, const rds::RdmaOperation& operation) {
  const auto [wire, end] = Find(channel);
  if (!wire) return;
  RdsWork work;
  work.id = id;
  work.rdma = operation;
  network_.Push(wire, end, std::move(work));
}

void RdsLink::Post(ChannelId channel, uint64_t id, const rds::AtomicOperation& operation) {
  const auto [wire, end] = Find(channel);
  if (!wire) return;
  RdsWork work;
  work.id = id;
  work.atomic = operation;
  network_.Push(wire, end, std::move(work));
}

// What is posted on a broken connection stays in the ring.
void RdsNetwork::Push(const RdsWirePtr& wire, int end, RdsWork work) {
  RdsEnd& e = wire->ends[end];
  if (e.ring >= e.link->ring_ && wrong_.empty()) wrong_ = "more is posted than there is room for";
  ++e.ring;
  if (work.is_operation()) e.operations.insert(work.id);
  e.held.push_back(std::move(work));
  StartHeld(wire, end);
}

void RdsNetwork::StartHeld(const RdsWirePtr& wire, int end) {
  RdsEnd& e = wire->ends[end];
  while (!wire->broken && !e.held.empty() && !(e.held.front().fence && e.reads > 0)) {
    RdsWork work = std::move(e.held.front());
    e.held.pop_front();
    Start(wire, end, std::move(work));
  }
}

void RdsNetwork::Start(const RdsWirePtr& wire, int end, RdsWork work) {
  if (work.is_read()) ++wire->ends[end].reads;
  if (work.rdma && work.rdma->write) {
    for (const rds::Area& local : work.rdma->local) {
      const auto* const from = reinterpret_cast<const uint8_t*>(local.address);
      work.data.insert(work.data.end(), from, from + local.bytes);
    }
  }
  Pass(wire, 1 - end, [this, wire, end, work = std::move(work)] {
    if (work.is_operation()) {
      Execute(wire, end, work);
    } else {
      Arrive(wire, 1 - end, work.frame);
      Completed(wire, end);
    }
  });
}

void RdsNetwork::Completed(const RdsWirePtr& wire, int end) {
  Pass(wire, end, [wire, end] {
    RdsEnd& e = wire->ends[end];
    --e.ring;
    if (e.closed) return;
    e.link->Tell({e.id, false, [id = e.id](LinkEvents& events) { events.OnRoom(id); }});
  });
}

// ---- arriving ----

void RdsNetwork::Arrive(const RdsWirePtr& wire, int to, const std::vector<uint8_t>& frame) {
  RdsEnd& e = wire->ends[to];
  if (e.closed) return;
  const bool counted = wire->ends[0].link->credit_ != 0 && wire->ends[1].link->credit_ != 0;
  if (counted && e.receives == 0) {
    if (wrong_.empty()) wrong_ = "a frame finds no receive";
    return;
  }
  if (counted) --e.receives;
  e.link->Tell({e.id, false, [wire, to, frame](LinkEvents& events) {
                  ++wire->ends[to].used_receives;
                  events.OnFrame(wire->ends[to].id, frame);
                }});
}

// ---- operations ----

void RdsNetwork::Execute(const RdsWirePtr& wire, int from, const RdsWork& work) {
  std::function<void()> when_back;
  const RdsEnd& target = wire->ends[1 - from];
  if (target.closed) return;
  if (!Carry(*target.link, work, &when_back)) {
    // Who has posted it hears why before or after the end of the connection.
    const auto tell = [this, wire, from, id = work.id] {
      EndOperation(wire, from, id, RDS_RDMA_REMOTE_ERROR);
    };
    if (Coin()) {
      time_.After(Draw(weather_.latency_us), tell);
    } else {
      tell();
    }
    Break(wire);
    // What was posted behind it is not carried out.
    wire->ends[1 - from].cut_at = time_.now_us() - 1;
    return;
  }
  Pass(wire, from, [this, wire, from, id = work.id, read = work.is_read(), when_back] {
    const RdsEnd& e = wire->ends[from];
    if (when_back && !e.closed && e.operations.contains(id)) when_back();
    if (read) --wire->ends[from].reads;
    --wire->ends[from].ring;
    EndOperation(wire, from, id, RDS_RDMA_SUCCESS);
    StartHeld(wire, from);
  });
}

void RdsNetwork::EndOperation(const RdsWirePtr& wire, int end, uint64_t id, int status) {
  RdsEnd& e = wire->ends[end];
  if (e.operations.erase(id) == 0) return;
  // Sometimes that is told although the process has closed the channel before its turn.
  e.link->Tell({e.id, Coin(), [channel = e.id, id, status](LinkEvents& events) {
                  events.OnOperation(channel, id, status);
                  events.OnRoom(channel);
                }});
}

bool RdsNetwork::Carry(const RdsLink& at, const RdsWork& work, std::function<void()>* when_back) {
  const uint64_t cookie = work.rdma ? work.rdma->cookie : work.atomic->cookie;
  const uint64_t offset = (cookie >> 32) + (work.rdma ? work.rdma->offset : work.atomic->offset);
  const uint64_t bytes = work.rdma ? work.rdma->bytes : sizeof(uint64_t);
  const auto region = at.regions_.find(static_cast<uint32_t>(cookie));
  if (region == at.regions_.end()) return false;
  const rds::Area& area = region->second;
  if (offset > area.bytes || bytes > area.bytes - offset) return false;
  auto* remote = reinterpret_cast<uint8_t*>(area.address + offset);
  if (work.atomic) {
    uint64_t old = 0;
    std::memcpy(&old, remote, sizeof old);
    const uint64_t sum = old + work.atomic->swap_or_add;
    std::memcpy(remote, &sum, sizeof sum);
    ++atomics_[area.address + offset];
    *when_back = [to = work.atomic->local, old] {
      std::memcpy(reinterpret_cast<void*>(to), &old, sizeof old);
    };
    return true;
  }
  if (work.rdma->write) {
    std::ranges::copy(work.data, remote);
    return true;
  }
  *when_back = [local = work.rdma->local, data = std::vector<uint8_t>(remote, remote + bytes)] {
    size_t at_octet = 0;
    for (const rds::Area& part : local) {
      std::memcpy(reinterpret_cast<void*>(part.address), data.data() + at_octet, part.bytes);
      at_octet += part.bytes;
    }
  };
  return true;
}

uint64_t RdsNetwork::atomics_on(uint64_t address) const {
  const auto found = atomics_.find(address);
  return found == atomics_.end() ? 0 : found->second;
}

}  // namespace softdat::sim
