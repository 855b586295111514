// SPDX-License-Identifier: BSD-3-Clause
// A packet network of N nodes in virtual time. Each ordered pair of nodes has a link of its own,
// and so has a node with itself. Each link has its own faults: delay, loss of single packets and of
// bursts, reordering, duplication, corruption, a limited rate and queue, a cut. Everything that
// happens is drawn from one seed.
#ifndef SOFTDAT_TESTS_SIM_NETWORK_H_
#define SOFTDAT_TESTS_SIM_NETWORK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "tests/sim/virtual_time.h"

namespace softdat::sim {

// "One in": it happens to one of so many packets on average. 0: to none.
struct LinkOptions {
  uint64_t min_delay_us = 0, max_delay_us = 0;
  uint64_t lose_one_in = 0;
  uint64_t burst_one_in = 0;    // it and the next few are lost,
  uint64_t longest_burst = 8;   // at most this many altogether
  uint64_t reorder_one_in = 0;  // it is held back, so that those behind it may overtake it,
  uint64_t reorder_us = 1000;   // for at most this time
  uint64_t duplicate_one_in = 0;
  uint64_t corrupt_one_in = 0;
  uint64_t bytes_per_ms = 0;  // 0: no limit
  size_t capacity = 0;        // bytes under way; a packet beyond them is dropped. 0: no limit
};

// What happened to packets. sent + duplicated == delivered + lost + cut + dropped + under_way.
struct LinkTotals {
  uint64_t sent = 0;
  uint64_t duplicated = 0;
  uint64_t delivered = 0;
  uint64_t corrupted = 0;  // of the delivered ones
  uint64_t lost = 0;
  uint64_t cut = 0;
  uint64_t dropped = 0;  // for want of capacity
  uint64_t under_way = 0;
};

class Network {
 public:
  using Bytes = std::vector<uint8_t>;
  using Receiver = std::function<void(int from, Bytes bytes)>;
  // `intact` is false for a packet that a checksum would refuse.
  using Arrival = std::function<void(bool intact)>;

  Network(VirtualTime* time, int nodes, uint64_t seed);

  int nodes() const { return nodes_; }
  VirtualTime& time() { return *time_; }
  uint64_t Draw(uint64_t bound) { return random_() % bound; }

  LinkOptions& link(int from, int to) { return At(from, to).options; }
  const LinkTotals& totals(int from, int to) const {
    return const_cast<Network*>(this)->At(from, to).totals;
  }
  // Of all links, including those of a node with itself.
  void SetLinks(const LinkOptions& options);
  // A packet that is sent while a link is cut never arrives. One that is under way arrives. One
  // way.
  void SetCut(int from, int to, bool cut) { At(from, to).cut = cut; }
  // Both ways, with all other nodes and with itself.
  void Isolate(int node, bool cut);

  void SetReceiver(int node, Receiver receiver);
  // Sends a datagram. A corrupted one arrives with one bit changed.
  void Send(int from, int to, Bytes bytes);
  // As Send, for packets that are not made of bytes. `arrive` is called for each copy that arrives.
  void Carry(int from, int to, size_t bytes, Arrival arrive);

 private:
  struct Link {
    LinkOptions options;
    LinkTotals totals;
    bool cut = false;
    uint64_t burst_left = 0;
    size_t bytes_under_way = 0;
    uint64_t free_at_us = 0;  // the last packet has left the sender
    uint64_t last_us = 0;     // the arrival of the last packet that was not held back
  };

  Link& At(int from, int to) {
    return links_[static_cast<size_t>(from) * static_cast<size_t>(nodes_) +
                  static_cast<size_t>(to)];
  }
  bool OneIn(uint64_t many) { return many != 0 && Draw(many) == 0; }
  bool IsLost(Link* link);
  uint64_t ArrivalOf(Link* link, size_t bytes);
  void Launch(Link* link, size_t bytes, const Arrival& arrive);

  VirtualTime* const time_;
  const int nodes_;
  std::mt19937_64 random_;
  std::vector<Link> links_;
  std::vector<Receiver> receivers_;
};

}  // namespace softdat::sim

#endif  // SOFTDAT_TESTS_SIM_NETWORK_H_
