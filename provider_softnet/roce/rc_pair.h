// SPDX-License-Identifier: BSD-3-Clause
// For tests: two reliable connections joined by a network that loses, doubles, delays and reorders
// packets, in virtual time. What happens is drawn from a seeded generator, so a failing seed
// replays. The disconnect messages of connection management arrive for certain, since it repeats
// them.
#ifndef SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_PAIR_H_
#define SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_PAIR_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "provider_softnet/queue/engine_side.h"
#include "provider_softnet/roce/reliable_connection.h"

namespace softdat::softnet::testing {

// "One in": of so many packets, on average, it happens to one; 0: to none.
struct RcPairOptions {
  uint64_t seed = 1;
  uint32_t mtu = 1024;
  uint32_t depth = 4;  // reads and atomics outstanding, both ways
  uint32_t queue = 64;
  uint32_t max_segments = 4;
  bool share_receives = false;  // side 1 receives from an SRQ
  uint32_t first_psn = 0;       // of side 0; side 1 begins elsewhere
  uint8_t ack_timeout = 14;
  uint8_t retry_count = 7;
  uint8_t rnr_retry_count = kRnrRetryForever;
  uint8_t rnr_timer = 12;
  uint32_t first_window = 32;
  uint32_t most_window = 128;
  bool go_back_n[2] = {};          // a side that knows nothing else
  uint64_t early_bytes = 1 << 20;  // for requests behind a missing one, of a side
  uint64_t packet_us = 0;          // for which each packet has the link; 0: any number at once
  uint64_t turn_us = 1;            // in which the sides look at packets and timers once
  uint64_t max_delay_us = 0;
  uint64_t lose_one_in = 0;
  uint64_t burst_one_in = 0;  // it and the next few are lost
  uint64_t reorder_one_in = 0;
  uint64_t duplicate_one_in = 0;
  uint64_t corrupt_one_in = 0;    // a bit of it is wrong; the ICRC is to show it
  uint64_t partition_one_in = 0;  // nothing that way arrives for a while, from it on
  uint64_t untaken_one_in = 0;    // batches that the socket takes in part
};

class RcSide final : public EngineSide {
 public:
  RcSide(MemoryTable* table, int side, const RcPairOptions& options);

  Code PostSend(const transport::SendRequest& request) override {
    return connection->PostSend(request);
  }
  void Disconnect(transport::DisconnectMode mode) { connection->Disconnect(mode); }
  bool ended() const { return connection->ended(); }
  const RcEnd& end() const { return connection->end(); }
  bool wants_transmit() const { return connection->wants_transmit(); }
  bool stalled() const { return false; }
  bool timer_runs() const { return connection->deadline_us() != 0; }
  uint32_t held_receives() const { return connection->held_receives(); }
  uint64_t packets_sent() const { return connection->counters().packets_sent; }

  EarlyPool early;
  std::unique_ptr<ReliableConnection> connection;
  bool established = false;
  bool told = false;  // the peer that it is over here

 private:
  Code PostReceive(const transport::ReceiveRequest& request) override {
    return connection->PostReceive(request);
  }
  void OnSharedReceive() override {}
};

class RcPair {
 public:
  explicit RcPair(const RcPairOptions& options);

  // Until nothing moves any more. False after an absurd number of steps.
  bool Run();
  bool Transmit(int i);  // one batch of side `i`; whether anything moved
  bool Receive(int i);   // one packet for side `i` that has arrived
  bool StepAll();
  bool AdvanceClock();
  uint64_t now_us() const { return now_us_; }
  uint64_t Draw(uint64_t bound) { return random_() % bound; }
  // Whether a packet of side `i` has not arrived.
  bool UnderWay(int i) const {
    return std::ranges::any_of(flights_[static_cast<size_t>(i)],
                               [](const auto& f) { return !f.second.disconnect; });
  }
  // Nothing that is sent from now on arrives.
  void Cut() { cut_ = true; }
  // Delivers a packet to side `i` as if its peer had sent it.
  void Inject(int i, const roce::Packet& packet);

  MemoryTable memory[2];
  std::array<std::unique_ptr<RcSide>, 2> sides;
  RcSide& a() { return *sides[0]; }
  RcSide& b() { return *sides[1]; }
  // What of the packets that side `i` sends is lost, in order; empty: as drawn.
  std::array<std::vector<bool>, 2> losses;
  // What side `i` has sent, lost or not, if it is to be kept.
  bool keep_log = false;
  std::array<std::vector<std::vector<uint8_t>>, 2> log;

 private:
  // From a side: a packet, or that it has disconnected.
  struct Flight {
    std::vector<uint8_t> bytes;
    bool disconnect = false;
  };

  bool OneIn(uint64_t many) { return many != 0 && Draw(many) == 0; }
  bool IsLost(int i);
  void Dispatch(int i, const std::vector<uint8_t>& bytes);
  void Tell(int i);
  void Act(int i);

  const RcPairOptions options_;
  std::mt19937_64 random_;
  uint64_t now_us_ = 1;
  // By time of arrival; of the same time in the order in which they were sent.
  std::array<std::multimap<uint64_t, Flight>, 2> flights_;  // [i]: from side i
  std::array<uint64_t, 2> last_at_us_{};
  std::array<uint64_t, 2> link_free_us_{};
  std::array<uint64_t, 2> burst_left_{};
  std::array<uint64_t, 2> partition_until_us_{};
  std::array<size_t, 2> sent_{};
  bool cut_ = false;
};

}  // namespace softdat::softnet::testing

#endif  // SOFTDAT_PROVIDER_SOFTNET_ROCE_RC_PAIR_H_
