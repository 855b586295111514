// SPDX-License-Identifier: BSD-3-Clause
// Network.
#include "tests/sim/network.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace softdat::sim {

Network::Network(VirtualTime* time, int nodes, uint64_t seed)
    : time_(time),
      nodes_(nodes),
      random_(seed),
      links_(static_cast<size_t>(nodes) * static_cast<size_t>(nodes)),
      receivers_(static_cast<size_t>(nodes)) {}

void Network::SetLinks(const LinkOptions& options) {
  for (Link& link : links_) link.options = options;
}

void Network::Isolate(int node, bool cut) {
  for (int other = 0; other < nodes_; ++other) {
    SetCut(node, other, cut);
    SetCut(other, node, cut);
  }
}

void Network::SetReceiver(int node, Receiver receiver) {
  receivers_[static_cast<size_t>(node)] = std::move(receiver);
}

void Network::Send(int from, int to, Bytes bytes) {
  const auto packet = std::make_shared<const Bytes>(std::move(bytes));
  Carry(from, to, packet->size(), [this, from, to, packet](bool intact) {
    const Receiver& receiver = receivers_[static_cast<size_t>(to)];
    if (!receiver) return;
    Bytes copy = *packet;
    if (!intact && !copy.empty()) {
      const uint64_t bit = Draw(8 * copy.size());
      copy[bit / 8] = static_cast<uint8_t>(copy[bit / 8] ^ (1u << bit % 8));
    }
    receiver(from, std::move(copy));
  });
}

void Network::Carry(int from, int to, size_t bytes, Arrival arrive) {
  Link& link = At(from, to);
  ++link.totals.sent;
  if (link.cut) {
    ++link.totals.cut;
  } else if (link.options.capacity != 0 && link.bytes_under_way + bytes > link.options.capacity) {
    ++link.totals.dropped;
  } else if (IsLost(&link)) {
    ++link.totals.lost;
  } else {
    const bool twice = OneIn(link.options.duplicate_one_in);
    link.totals.duplicated += twice;
    Launch(&link, bytes, arrive);
    if (twice) Launch(&link, bytes, arrive);
  }
}

bool Network::IsLost(Link* link) {
  if (link->burst_left > 0) {
    --link->burst_left;
    return true;
  }
  if (OneIn(link->options.burst_one_in)) {
    link->burst_left = Draw(link->options.longest_burst);
    return true;
  }
  return OneIn(link->options.lose_one_in);
}

uint64_t Network::ArrivalOf(Link* link, size_t bytes) {
  const LinkOptions& o = link->options;
  uint64_t leaves_us = time_->now_us();
  if (o.bytes_per_ms != 0) {
    leaves_us = std::max(leaves_us, link->free_at_us) + bytes * 1000 / o.bytes_per_ms;
    link->free_at_us = leaves_us;
  }
  const uint64_t delay_us = o.min_delay_us + Draw(o.max_delay_us - o.min_delay_us + 1);
  const uint64_t at_us = std::max(leaves_us + delay_us, link->last_us);
  if (OneIn(o.reorder_one_in)) return at_us + 1 + Draw(o.reorder_us);
  return link->last_us = at_us;
}

void Network::Launch(Link* link, size_t bytes, const Arrival& arrive) {
  const bool intact = !OneIn(link->options.corrupt_one_in);
  ++link->totals.under_way;
  link->bytes_under_way += bytes;
  time_->At(ArrivalOf(link, bytes), [link, bytes, arrive, intact] {
    --link->totals.under_way;
    link->bytes_under_way -= bytes;
    ++link->totals.delivered;
    link->totals.corrupted += !intact;
    arrive(intact);
  });
}

}  // namespace softdat::sim
